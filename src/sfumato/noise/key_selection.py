"""Which values a column has: those that more records hold than noise can make up."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, isfinite, log
from typing import Any

from sfumato.budget.events import Approximate, exactly
from sfumato.ground.errors import ParameterError
from sfumato.noise.mechanisms import LARGEST, opendp, within

_TRIES = 64


def chosen_keys(
    counts: Mapping[str, int], *, epsilon: Any, delta: Any, what: str = "values"
) -> tuple[tuple[str, ...], Approximate]:
    """The keys whose noisy count is above a threshold, in the order of their texts, and what finding them cost.

    Every record has one key, so one record more moves one count by one. Noise is added to the counts of the keys that
    occur; a key that one record alone has passes the threshold with probability ``delta`` at most.
    Event: (epsilon, delta), as OpenDP's Laplace threshold says (Rogers 2023). Expected: keys of more than about
    (1 + ln(1 / 2 delta)) / epsilon records are found.
    Edges: no key at all is allowed; counts below 1 are refused, for a key that nobody has must not be told.
    """
    budget, missed = exactly("epsilon", epsilon), exactly("delta", delta)
    event = Approximate(epsilon=budget, delta=missed, what=what)
    if any(isinstance(many, bool) or not isinstance(many, int) or not 0 < many <= LARGEST for many in counts.values()):
        raise ParameterError(f"counts must be whole numbers from 1 to {LARGEST}")
    # OpenDP takes a text as a C string, which ends at the first NUL: "a\0x" of one record would replace the count of
    # "a". So it gets the number of a key in place of its text. Which key has which number may depend on all records:
    # noise and threshold treat every number alike, so the texts that come back have the same law under any numbering,
    # the law of the mechanism on the texts themselves. The numbers are never published.
    names = sorted(counts)
    dp = opendp()
    space = (
        dp.map_domain(dp.atom_domain(T="i64"), dp.atom_domain(T="i64")),
        dp.l01inf_distance(dp.absolute_distance(T="i64")),
    )
    _, scale = within(lambda s: _Epsilon(space >> dp.m.then_laplace_threshold(scale=s, threshold=LARGEST)),
                      1 / budget, (1, 1, 1), budget, "epsilon")  # fmt: skip
    threshold = max(ceil(1 + scale * log(1 / (2 * float(missed)))), 1)
    for _ in range(_TRIES):
        made = space >> dp.m.then_laplace_threshold(scale=scale, threshold=threshold)
        spent, wrong = map(float, made.map((1, 1, 1)))
        if isfinite(spent) and Fraction(spent) <= budget and Fraction(wrong) <= missed:
            passed = made({number: counts[name] for number, name in enumerate(names)})
            return tuple(names[number] for number in sorted(passed)), event
        threshold += max(threshold // 1000, 1)
    raise ParameterError(f"delta must be one for which a threshold can be found, not {float(missed):g}")


class _Epsilon:
    """A mechanism with a delta beside its epsilon, of which the epsilon is asked for."""

    def __init__(self, made: Any) -> None:
        self._made = made

    def map(self, moved: Any) -> float:
        """As every mechanism."""
        return float(self._made.map(moved)[0])
