"""From the node that a search settled on to its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sfumato.publish.lattice.checker import Checker, Judged
from sfumato.publish.problem import Levels, Outcome

TIE = 1e-12
"""Losses this near to each other, relative to those above 1, are equal."""


def outcome_of(best: Judged, *, proven: bool, effort: Mapping[str, int | float | str]) -> Outcome:
    """A judged node as the algorithm's answer: what is suppressed is told of the cells."""
    return Outcome(
        levels=best.levels,
        suppressed=best.hidden,
        loss=best.loss.value,
        proven=proven,
        effort=effort,
    )


def below(value: float) -> float:
    """A loss under this is really smaller than ``value``."""
    return value - TIE * max(1.0, abs(value))


def finest(checker: Checker, best: Judged, floor: Callable[[Levels], float]) -> Judged:
    """Where a finer node loses no more, take it: nothing is hidden for nothing."""
    while True:
        most = best.loss.value + TIE * max(1.0, abs(best.loss.value))
        found = (checker.judge(node) for node in finer(best.levels) if floor(node) <= most)
        better = next((one for one in found if one.feasible and one.loss.value <= most), None)
        if better is None:
            return best
        best = better


def finer(node: Levels) -> list[Levels]:
    """The nodes one step below, by the column that is lowered.

    >>> finer((1, 0, 2))
    [(0, 0, 2), (1, 0, 1)]
    """
    return [tuple(n - (c == d) for d, n in enumerate(node)) for c in range(len(node)) if node[c]]
