"""Which epsilon holds against whom: outsiders, one party, several that put together what they know.

Of n parties up to t are expected to collude, so each draws its share as one of n - t: the others' shares are a whole
noise. Then epsilon holds against outsiders and any t parties. Against s > t parties only (n - s) / (n - t) of a noise
protects, which costs more: `noise.share_privacy`. A choice in a circuit uses no share, and costs what it costs.
With n = 2, t = 1 this is the thesis's way, two whole noises; t = 0 is one noise of which each has a share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from sfumato.budget.accountants import epsilon_of
from sfumato.budget.events import Event, Pure
from sfumato.noise.share_privacy import remaining_event
from sfumato.publish.noisy_table import NoisyTable
from sfumato.verification.noise_law import NOISES


def epsilon_against(event: Event, together: int, *, parties: int, colluding: int) -> Fraction:
    """The epsilon that holds against so many parties together, who know their own shares of noise."""
    return epsilon_of(remaining_event(event, Fraction(parties - together, parties - colluding), _counts))


def coalitions(event: Event, parties: int, colluding: int) -> Mapping[str, float | str]:
    """How noisy counts are, and which epsilon holds against how many parties; it follows from public numbers."""
    found: dict[str, float | str] = {NOISES: parties / (parties - colluding)}
    for together in range(1, parties):
        bound = epsilon_against(event, together, parties=parties, colluding=colluding)
        found[f"epsilon against {together} of {parties} parties"] = str(bound)
    return found


def with_coalitions(made: NoisyTable, parties: int, colluding: int) -> NoisyTable:
    """The release with these figures beside those of its search."""
    return replace(made, effort={**made.effort, **coalitions(made.event, parties, colluding)})


def _counts(event: Pure) -> bool:
    """Whether an event is noisy counts; a choice is named by what is chosen."""
    return event.what != "which value" and not event.what.endswith(": where to split")
