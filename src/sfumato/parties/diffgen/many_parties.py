"""Private releases of three or more parties: summed noise shares, and epsilon against coalitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.diffgen import noisy_specializer
from sfumato.algorithms.diffgen.noisy_specializer import DiffGen
from sfumato.algorithms.marginals import noisy_marginals
from sfumato.algorithms.marginals.noisy_marginals import Marginals
from sfumato.algorithms.private_table import Counts, Mechanisms, NoisyTable, PrivateTable, Scores
from sfumato.bundles.checks.mechanisms import NOISES
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.dp.accounting import Cost, epsilon_of, remaining_event
from sfumato.dp.events import Event, Pure
from sfumato.dp.noise import Noisy, laplace_share
from sfumato.parties.conversation import Conversation
from sfumato.parties.summed_counts import SummedNumbers, refuse_outside

# Which epsilon holds against whom: outsiders, one party, several that put together what they know.
#
# Of n parties up to t are expected to collude, so each draws its share as one of n - t: the others' shares are a whole
# noise. Then epsilon holds against outsiders and any t parties. Against s > t parties only (n - s) / (n - t) of a
# noise protects, which costs more: `noise.share_privacy`. A choice in a circuit uses no share, and costs what it
# costs. With n = 2, t = 1 this is the thesis's way, two whole noises; t = 0 is one noise of which each has a share.


def epsilon_against(event: Event, together: int, *, parties: int, colluding: int) -> Fraction:
    """The epsilon that holds against so many parties together, who know their own shares of noise."""
    return epsilon_of(remaining_event(event, Fraction(parties - together, parties - colluding), _counts))


def coalitions(event: Event, parties: int, colluding: int) -> Mapping[str, float | str]:
    """How noisy counts are, and which epsilon holds against how many parties; it follows from public numbers."""
    figures: dict[str, float | str] = {NOISES: parties / (parties - colluding)}
    for together in range(1, parties):
        bound = epsilon_against(event, together, parties=parties, colluding=colluding)
        figures[f"epsilon against {together} of {parties} parties"] = str(bound)
    return figures


def with_coalitions(release: NoisyTable, parties: int, colluding: int) -> NoisyTable:
    """The release with these figures beside those of its search."""
    return replace(release, effort={**release.effort, **coalitions(release.event, parties, colluding)})


def _counts(event: Pure) -> bool:
    """Whether an event is noisy counts; a choice is named by what is chosen."""
    return event.what != "which value" and not event.what.endswith(": where to split")


# Noisy counts of all parties' records: each adds its share of noise to its own counts, and only the sum is opened.
#
# Claim: whatever up to ``colluding`` of n parties see together, beside their own records and their own noise, is
# epsilon-differentially private for the records of the others; so is what outsiders see. Masks hide everything but the
# sum (`primitives.secure_sum`), and the sum holds at least one whole noise of the parties that do not collude.
# Source: Goryczka and Xiong 2015; Dwork et al. 2006 (Our data, ourselves).


Draw = Callable[[tuple[int, ...], Fraction, int], NDArray[np.int64]]
"""From a shape, an epsilon and a number of parties to one party's share of noise."""


class SummedNoise:
    """Noisy sums over all parties of a conversation."""

    def __init__(self, conversation: Conversation, *, colluding: int = 1, draw: Draw = laplace_share) -> None:
        """Agree on keys; ``colluding`` parties may put together what they know."""
        self._sums = SummedNumbers(conversation, signed=True)
        self._most = conversation.max_records
        self.parties, self.needed = conversation.seat.count, conversation.seat.count - colluding
        refuse_colluding(colluding, self.parties)
        self._draw = draw

    def count(self, counts: Counts, cost: Cost) -> Noisy:
        """The noisy counts of all parties' records, the same at every party; these are one's own."""
        if not isinstance(cost, Pure):
            raise ParameterError("shares of noise are for pure epsilon; several parties release nothing for rho")
        own = np.asarray(counts, np.int64) + self._draw(np.shape(counts), cost.epsilon, self.needed)
        total = self._sums(own)
        refuse_unlikely(total, self._most, self.parties, cost.epsilon)
        return Noisy(
            values=total,
            event=cost,
            scale=float(1 / cost.epsilon),
            law="laplace",
            draws=self.parties / self.needed,
        )

    @property
    def mechanisms(self) -> Mechanisms:
        """As an algorithm is handed them: it may count, and nothing else."""
        return Mechanisms(choose=_refuse_choice, count=self.count, waits=_refuse_waits)


def refuse_unlikely(total: Counts, records: int, parties: int, epsilon: Fraction) -> None:
    """Refuse noisy counts that honest parties of so many records each do not have, but once in e^64 times.

    The noise of one party, whole or a share, is beyond m with a probability of at most 2 e^(-epsilon m).
    """
    reach = parties * ceil((64 + log(2 * parties * max(total.size, 1))) / epsilon)
    refuse_outside(total, -reach, parties * records + reach)


def refuse_colluding(colluding: int, parties: int) -> None:
    """Refuse a number of parties that cannot work together against another one."""
    if isinstance(colluding, bool) or not isinstance(colluding, int) or not 0 <= colluding < parties:
        raise ParameterError(f"colluding must be a whole number from 0 to {parties - 1}, not {colluding!r}")


def _refuse_choice(scores: Scores, cost: Cost) -> int:
    raise ParameterError("several parties cannot choose by scores, which do not add up; choose by noisy counts")


def _refuse_waits(number: int, rate: Fraction) -> Counts:
    raise ParameterError("several parties cannot test parts of sets; leave columns with sets out")


# A private release of three or more parties with the same attributes about different people.
#
# Claim: all parties return the same release. It is epsilon-differentially private, neighbours being one record more or
#     less at any party: for outsiders, and for any ``colluding`` parties together, who see the noisy sums and know
#     their own noise. `coalitions` says what holds against more of them.
# How: the algorithm runs at every party on its own records. It looks at them through noisy counts only, which are
#     summed over all parties (`SummedNoise`); every choice follows from such counts, so all parties choose alike.
# Source: document 003, section 7.5, does this for two parties; for more, Goryczka and Xiong 2015 (noise in sums).


LEAST = 3
"""With fewer parties a sum tells each the other's noisy counts one by one; two choose in a circuit."""


def run_many(
    conversation: Conversation,
    settings: DiffGen | Marginals,
    own: PrivateTable,
    *,
    colluding: int = 1,
    draw: Draw = laplace_share,
) -> NoisyTable:
    """The release of all parties' records; each calls this with its own, over the same declared domains."""
    refuse_scores(settings)
    seat = conversation.seat
    noise = SummedNoise(conversation, colluding=colluding, draw=draw)
    work = Work(chance=Chance(seed=int.from_bytes(seat.session, "big")))
    if isinstance(settings, DiffGen):
        release = noisy_specializer.published(settings, own, work, noise.mechanisms)
    else:
        release = noisy_marginals.published(settings, own, work, noise.mechanisms)
    return with_coalitions(release, seat.count, colluding)


def refuse_scores(settings: DiffGen | Marginals) -> None:
    """Refuse what needs a choice by the scores of all parties' records, or noise that has no shares."""
    if settings.rho is not None:
        raise ParameterError("several parties spend an epsilon, not a rho: their noise is Laplace noise")
    wanted = "counts" if isinstance(settings, DiffGen) else "declared"
    if settings.choosing != wanted:
        raise ParameterError(
            f'choosing must be "{wanted}" where three or more parties work together, not "{settings.choosing}": '
            "scores of "
            "the parties' records do not add up to scores of all records"
        )
