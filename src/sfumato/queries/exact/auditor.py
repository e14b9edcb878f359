"""The auditor decides from questions and past answers alone; sums must leave wide intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import ParameterError
from sfumato.core.extras import extra
from sfumato.queries.exact.atoms import Counts, Mask
from sfumato.queries.exact.extremes import Extremes
from sfumato.queries.exact.sums import Foreseen, KernelSums, follows, signatures_for, undecided
from sfumato.queries.sql import ExactKind

# Whether sums leave everybody a wide interval, whatever their answers are: by linear programs over the questions.
#
# Values lie between ``low`` and ``high``, and the mean of any k people lies within ``means``; everybody knows that
# much. By definition a sum is refused if some table of such values would give answers that leave somebody an interval
# narrower than the width. How wide an interval is, is a concave function of the sums of atoms, so its least value lies
# at a corner of what these sums can be. With few atoms every corner is tried. With more the rule asks for a way to
# move the sums of atoms, the same whatever they are, that no answer shows and that leaves somebody's value the whole
# width.
#
# Claim: where the rule answers, the definition does. With few atoms both are the same. With more the rule may refuse
#     more (docs/theory/auditing.md says how often).


MOST_ATOMS, MOST_SMALL = 400, 40
"""With more atoms, or more that are small and different, the rule refuses without looking."""
FEW_ATOMS = 6
"""With so many atoms every corner of their sums is tried."""
MOST_SIDES = 600
"""Where more choices of k people bound the sums of atoms, each sum is bounded by itself."""
_SLACK = 1e-6
"""A part of the range by which an interval must be wider than the width, for rounding in programs."""
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Within what values lie, and how closely nobody's may be known.

    Where the mean of any k people lies within ``means``, nobody who knows ``low``, ``high`` and all answers can tell
    a value to less than ``width``.
    """

    low: float
    """No value is below."""
    high: float
    """No value is above."""
    width: float
    """No interval for one value is narrower."""
    means: tuple[float, float]
    """Within these lies the mean of any k people."""

    def __post_init__(self) -> None:
        if not self.low < self.means[0] <= self.means[1] < self.high:
            raise ParameterError("low, means and high must rise: low < means[0] <= means[1] < high")
        if not 0 < self.width < self.high - self.low:
            raise ParameterError(f"width must lie between 0 and high - low, not {self.width:g}")

    def least(self, k: int) -> int:
        """The fewest people of an atom whose known sum leaves everybody an interval of ``width``.

        >>> Span(low=0, high=100, width=30, means=(10, 90)).least(2)
        3
        """
        many = k
        while min(self._left(many, mean) for mean in self.means) < self.width:
            many += 1
        return many

    def _left(self, many: int, mean: float) -> float:
        """How wide the interval of one of so many people with this mean is."""
        most = min(self.high, many * mean - (many - 1) * self.low)
        return most - max(self.low, many * mean - (many - 1) * self.high)

    def extremes_fit(self, *, largest: bool) -> bool:
        """Whether a maximum that is no less than a mean of k, or such a minimum, leaves the width."""
        room = self.means[0] - self.low if largest else self.high - self.means[1]
        return room >= self.width

    def sums(self, sizes: Counts, k: int) -> tuple[Reals, Reals]:
        """Between what the sum of so many people lies: fewer than k are bounded with the help of others.

        >>> [side.tolist() for side in Span(low=0, high=100, width=30, means=(40, 60)).sums(np.array([1, 2, 5]), 2)]
        [[0.0, 80.0, 200.0], [100.0, 120.0, 300.0]]
        """
        others = np.maximum(k - sizes, 0)
        many = np.maximum(sizes, k)
        least = np.maximum(sizes * self.low, many * self.means[0] - others * self.high)
        most = np.minimum(sizes * self.high, many * self.means[1] - others * self.low)
        return least.astype(np.float64), most.astype(np.float64)


def wide(span: Span, k: int, lines: Mask, sizes: Counts) -> bool:
    """Whether sums over atoms, one line each, leave everybody an interval of the width, whatever the answers are."""
    some = np.flatnonzero((sizes > 0) & lines.any(axis=0))
    lines, sizes = lines[:, some], sizes[some]
    small = np.flatnonzero(sizes < span.least(k))
    if not len(small):
        return True
    _, first = np.unique(np.vstack([lines[:, small], sizes[small]]), axis=1, return_index=True)
    if len(sizes) > MOST_ATOMS or len(first) > MOST_SMALL:
        return False
    return all(_leaves(span, k, lines, sizes, int(atom)) for atom in small[first])


def _leaves(span: Span, k: int, lines: Mask, sizes: Counts, atom: int) -> bool:
    """Whether somebody in an atom keeps the width: for all sums in one way, or for every corner of them in its own."""
    box = span.sums(sizes, k)
    needed = span.width + _SLACK * (span.high - span.low)
    totals = {float(box[0][atom]), float(box[1][atom])}
    room = sizes * span.low - box[0], sizes * span.high - box[1]  # how far every sum can move in any case
    if all(_width(span, lines, sizes, room, atom, total) >= needed for total in totals):
        return True
    if len(sizes) > FEW_ATOMS:
        return False
    for sums in _corners(span, sizes, k):
        moved = sizes * span.low - sums, sizes * span.high - sums
        if _width(span, lines, sizes, moved, atom, float(sums[atom])) < needed:
            return False
    return True


def _corners(span: Span, sizes: Counts, k: int) -> Reals:
    """The corners of all that the sums of atoms can be.

    Tables in which everybody of an atom has the same value have all sums that there are: exchanging people of an atom
    changes no mean of k. So with one value for each atom, every choice of k people gives two inequalities.
    """
    many = len(sizes)
    picked = [
        combination
        for combination in product(*(range(min(int(size), k) + 1) for size in sizes))
        if sum(combination) == k
    ]
    if many < 2 or span.means[0] == span.means[1] or 2 * len(picked) > MOST_SIDES:
        return np.array(list(product(*zip(*span.sums(sizes, k), strict=True))))
    lines = np.array(picked, np.float64)
    sides = np.vstack([
        np.column_stack([-lines, np.full(len(lines), k * span.means[0])]),
        np.column_stack([lines, np.full(len(lines), -k * span.means[1])]),
        np.column_stack([-np.eye(many), np.full(many, span.low)]),
        np.column_stack([np.eye(many), np.full(many, -span.high)]),
    ])  # fmt: skip
    cut: Any = extra("scipy.spatial", "answering sums under a declared width").HalfspaceIntersection
    corners = cut(sides, np.full(many, sum(span.means) / 2)).intersections
    return np.asarray(np.unique(np.round(corners, 9), axis=0) * sizes, np.float64)


def _width(span: Span, lines: Mask, sizes: Counts, room: tuple[Reals, Reals], atom: int, total: float) -> float:
    """How wide the interval of somebody in an atom with this sum is, where other sums can move so far."""
    solve: Any = extra("scipy.optimize", "answering sums under a declared width").linprog
    others = int(sizes[atom]) - 1
    bounds = list(zip(*room, strict=True))
    bounds[atom] = (span.low, span.high)  # somebody's value; the others of the atom come last
    bounds.append((others * span.low, others * span.high))
    kept = np.column_stack([lines, lines[:, atom]]).astype(np.float64)
    aim = np.zeros(len(bounds))
    aim[atom] = 1.0
    solutions = [
        solve(sign * aim, A_eq=kept, b_eq=total * lines[:, atom], bounds=bounds, method="highs") for sign in (1, -1)
    ]
    if not all(solution.success for solution in solutions):
        return 0.0
    return float(-solutions[1].fun - solutions[0].fun)


# The auditor: which questions about one column are answered, by the questions and the answers so far alone.
#
# Sums are audited by ``kernel_sums``, minima and maxima by ``extremes``. Both together are answered where the sums
# leave the values of everybody in a minimum or maximum free: no combination of sums is about these people alone. Then
# neither tells anything about the other, and each is decided as if the other were not there; else the question is
# refused.


Reason = Literal["", "few", "told", "undecided", "mixed", "width"]
REASONS: dict[Reason, str] = {
    "few": "it is about fewer than {k} people; ask about more of them",
    "told": "an answer could tell the value of one person, or the sum of fewer than {k}; ask about a set that differs "
    "from those asked before by more people",
    "undecided": "it cannot be decided whether an answer would tell about fewer than {k} people; ask about sets that "
    "divide people into larger parts",
    "mixed": "a minimum or maximum and sums have the same people, and what both tell together is not decided; ask "
    "about people of whom only the one or the other is known",
    "width": "an answer could tell somebody's value to less than {width:g}; ask about sets that divide people into "
    "larger parts",
}


class Auditor:
    """Answers about one column of one table to people who talk to each other.

    Claim: no value of one person, and no sum of fewer than k people, follows from all answers together, for values that
        can be any real numbers; and a refusal tells nothing, because whoever knows the questions and the answers so far
        can tell it beforehand.
    Does not protect against: what is known beforehand (whole numbers, bounds without a declared width, other columns),
        people who talk and are declared not to, and guesses that become likelier without becoming certain.
    """

    def __init__(self, people: int, key: str, *, k: int = 2, span: Span | None = None) -> None:
        if k < 2:
            raise ParameterError(f"k must be at least 2, not {k}")
        self.k, self.span, self._key = k, span, key
        self._least = k if span is None else span.least(k)
        self.sums = KernelSums(people, key, signatures=signatures_for(k, people))
        self.extremes = Extremes(people)

    def decide(self, kind: ExactKind, mask: Mask) -> Reason:
        """Why a question is refused; nothing where it is answered. Counts, and questions about nobody, tell nothing."""
        many = int(mask.sum())
        if kind == "count" or many == 0:
            return ""
        if many < self.k:
            return "few"
        return self._sum(mask) if kind in ("sum", "mean") else self._extreme(mask, largest=kind == "maximum")

    def told(self, kind: ExactKind, mask: Mask, units: int) -> None:
        """Note what was answered, in units of the column."""
        if kind == "count" or not mask.any():
            return
        if kind in ("sum", "mean"):
            self.sums.add(mask)
        else:
            self.extremes.add(mask, 2 * units, largest=kind == "maximum")
            self.sums.bar(self.extremes.people())

    def state(self) -> dict[str, NDArray[Any]]:
        """All that was worked out of what was told."""
        return {**self.sums.state(), **self.extremes.state()}

    def restore(self, held: Mapping[str, NDArray[Any]]) -> None:
        """Take up what was worked out."""
        self.sums.restore(held)
        self.extremes.restore(held)

    def _sum(self, mask: Mask) -> Reason:
        seen = self.sums.foresee(mask)
        if not seen.new:
            return ""
        if self.sums.full:
            return "undecided"
        sizes = seen.cutting.sizes
        if self.span is not None and (sizes[sizes > 0] < self._least).any():
            lines = np.vstack([self.sums.over(seen), seen.cutting.inside])
            if not wide(self.span, self.k, lines, sizes):
                return "width"
        reason = self._small(seen)
        if reason or not self.extremes.some:
            return reason
        whom = self.extremes.people(mixed=self.span is None)
        return "mixed" if (mask & whom).any() or not self.sums.leaves_free(mask) else ""

    def _small(self, seen: Foreseen) -> Reason:
        """Whether the sum of a few small atoms follows."""
        sizes = seen.cutting.sizes
        small = np.flatnonzero((sizes > 0) & (sizes < self.k))
        if not len(small):
            return ""
        if self.k > 2 and undecided(len(small), self.k):
            return "undecided"
        signatures = seen.signatures(small, self.sums.prime)
        return "told" if follows(signatures, sizes[small], self.k, self.sums.prime) is not None else ""

    def _extreme(self, mask: Mask, *, largest: bool) -> Reason:
        mixed = self.extremes.people(mixed=True, more=(largest, mask))
        if self.span is not None and (not self.span.extremes_fit(largest=largest) or mixed.any()):
            return "width"
        if self.k > 2 and (mixed & mask).any():
            return "undecided"
        verdict = self.extremes.judge(mask, largest=largest)
        if verdict in ("told", "undecided"):
            return "told" if verdict == "told" else "undecided"
        return self._apart(self.extremes.people(more=(largest, mask)), mixed)

    def _apart(self, bounded: Mask, mixed: Mask) -> Reason:
        """Whether sums leave everybody free who is in a minimum or maximum."""
        covered = self.sums.basis.counted()
        if not (covered & bounded).any():
            return ""
        if self.span is not None or (covered & mixed).any():
            return "mixed"
        return "" if self.sums.can_bar(bounded) else "mixed"
