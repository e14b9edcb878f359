"""The audit of minima and maxima: refuses where a possible answer would disclose a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.queries.exact.atoms import Atoms, Counts, Cutting, Mask

# Who must be the largest or the smallest, where sets of maxima and of minima have people in common.
#
# Every maximum needs somebody at their upper bound, every minimum somebody at their lower bound, and nobody with two
# different bounds is at both. With equal values allowed this is satisfiability, so only small cases are decided.


MOST_CONTESTED = 12
"""So many people may be at either bound, each alone in their atom, in a case that is decided."""
Verdict = Literal["cannot be", "told", "fits", "undecided"]
FAR = 2**62
"""Beyond every value."""
Clauses = list[frozenset[int]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Told:
    """Some maxima and minima that were answered, over atoms."""

    largest: Mask
    """Which of them are maxima."""
    values: NDArray[np.int64]
    """Their answers."""
    members: Mask
    """Which atoms each of them is about, one line for each."""
    sizes: Counts
    """How many people each atom has."""

    def bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The lower and the upper bound of everybody in an atom."""
        low, high = np.full(len(self.sizes), -FAR), np.full(len(self.sizes), FAR)
        for largest, value, members in zip(self.largest, self.values, self.members, strict=True):
            if largest:
                high[members] = np.minimum(high[members], value)
            else:
                low[members] = np.maximum(low[members], value)
        return low, high


def judged(answers: Told) -> tuple[Verdict, frozenset[int]]:
    """Whether some data agree with all answers, and the atoms of people whose value is the same in all that do."""
    low, high = answers.bounds()
    people = answers.sizes > 0
    if (low > high)[people].any():
        return "cannot be", frozenset()
    ends = [
        frozenset(np.flatnonzero(members & people & ((high if largest else low) == value)).tolist())
        for largest, value, members in zip(answers.largest, answers.values, answers.members, strict=True)
    ]
    tops = [clause for clause, largest in zip(ends, answers.largest, strict=True) if largest]
    bottoms = [clause for clause, largest in zip(ends, answers.largest, strict=True) if not largest]
    alone = {int(atom) for atom in np.flatnonzero(answers.sizes == 1)}
    equal = {int(atom) for atom in np.flatnonzero(people & (low == high))}
    both = (frozenset().union(*tops) & frozenset().union(*bottoms) & alone) - equal
    if len(both) > MOST_CONTESTED:
        return "undecided", frozenset()
    if not _possible(tops, bottoms, both):
        return "cannot be", frozenset()
    forced = frozenset(atom for atom in alone - equal if _forced(atom, tops, bottoms, both)) | equal
    return ("told" if forced else "fits"), forced


def _forced(person: int, tops: Clauses, bottoms: Clauses, both: frozenset[int] | set[int]) -> bool:
    """Whether somebody has the same value whatever else is so."""
    gone = frozenset([person])
    if not any(person in clause for clause in (*tops, *bottoms)):
        return False
    less_high, less_low, rest = (
        [clause - gone for clause in tops],
        [clause - gone for clause in bottoms],
        set(both) - gone,
    )
    if _possible(less_high, less_low, rest):
        return False
    return person not in both or not (_possible(tops, less_low, rest) and _possible(less_high, bottoms, rest))


def _possible(tops: Clauses, bottoms: Clauses, both: frozenset[int] | set[int]) -> bool:
    """Whether all sets can have somebody at the bound, where those in ``both`` can be at one bound only."""
    if not all(tops) or not all(bottoms):
        return False
    open_tops = [clause for clause in tops if clause <= both]
    open_bottoms = [clause for clause in bottoms if clause <= both]
    if not open_tops or not open_bottoms:
        return True
    person = min(sorted(open_tops, key=len)[0])
    gone = frozenset([person])
    rest = set(both) - gone
    at_top = _possible(
        [clause for clause in open_tops if person not in clause], [clause - gone for clause in open_bottoms], rest
    )
    return at_top or _possible(
        [clause - gone for clause in open_tops], [clause for clause in open_bottoms if person not in clause], rest
    )


# The audit of minima and maxima: refused where any answer that can still come would tell somebody's value.
#
# Source: Kenthapadi, Mishra and Nissim, Simulatable auditing, 2005; Nabar, Marthi, Kenthapadi, Mishra and Motwani,
# Towards robustness in query auditing, 2006. Values are real numbers without bounds, and equal ones are allowed.
#
# Claim: where nobody is in a maximum and in a minimum, a question is refused just when some table that agrees with all
#     answers so far would make its answer tell a value. Where some are, small cases are decided by trying; else
#     refused.
# How: with maxima alone, everybody has an upper bound, and a maximum is told of those at its value: at least two must
#     be left. A new answer above all bounds but one tells that one; one below a former maximum leaves who is outside.


MOST_TOGETHER = 24
"""So many questions may hang together where maxima and minima have people in common."""


class Extremes:
    """The maxima and minima that were answered; values are whole numbers, doubled so that there is room between."""

    def __init__(self, people: int) -> None:
        self.atoms = Atoms(people)
        self._members: Mask = np.zeros((0, 1), bool)
        self._largest: Mask = np.zeros(0, bool)
        self._values: NDArray[np.int64] = np.zeros(0, np.int64)

    @property
    def some(self) -> bool:
        """Whether anything was answered."""
        return len(self._values) > 0

    def people(self, *, mixed: bool = False, more: tuple[bool, Mask] | None = None) -> Mask:
        """Everybody in an answered question; if ``mixed``, in those that hang together and have both kinds.

        ``more`` is one more question: whether it is a maximum, and its people.
        """
        members, largest, codes = self._members, self._largest, self.atoms.codes
        if more is not None:
            cutting = self.atoms.cut(more[1])
            members = np.vstack([self._after(cutting).members, cutting.inside])
            largest, codes = np.append(largest, more[0]), self.atoms.coded(cutting)
        if not mixed:
            return np.asarray(members.any(axis=0)[codes], bool)
        mixed_atoms = np.zeros(members.shape[1], bool)
        if 0 < largest.sum() < len(largest):
            for group in _together(members):
                if self._overlap(members[group], largest[group]):
                    mixed_atoms |= members[group].any(axis=0)
        return np.asarray(mixed_atoms[codes], bool)

    def judge(self, mask: Mask, *, largest: bool) -> Verdict:
        """``told`` if some answer that can come would tell a value; ``undecided`` if that cannot be decided."""
        cutting = self.atoms.cut(mask)
        answers = self._after(cutting)
        low, high = answers.bounds()
        held, over = cutting.inside & (cutting.sizes > 0), low if largest else high
        members = answers.members & (cutting.sizes > 0)
        ours = self._hanging(members, held)
        if bool((np.abs(over[held]) < FAR).any()) or self._overlap(members[ours], self._largest[ours]):
            return self._tried(answers, ours, cutting.inside, largest=largest)
        sign = 1 if largest else -1
        alike = [question for question in ours if self._largest[question] == largest]
        return _one_kind(
            sign * (high if largest else low), sign * answers.values[alike], members[alike], held, cutting.sizes
        )

    def add(self, mask: Mask, value: int, *, largest: bool) -> None:
        """Note an answer, in doubled units."""
        cutting = self.atoms.cut(mask)
        self._members = np.vstack([self._after(cutting).members, cutting.inside])
        self.atoms.apply(cutting)
        self._largest = np.append(self._largest, largest)
        self._values = np.append(self._values, np.int64(value))

    def state(self) -> dict[str, NDArray[Any]]:
        """All that was noted, in few bytes."""
        return {
            "extreme codes": self.atoms.codes.astype(np.int32),
            "extreme sizes": self.atoms.sizes,
            "extreme members": np.packbits(self._members, axis=1),
            "largest": self._largest,
            "values": self._values,
        }

    def restore(self, held: Mapping[str, NDArray[Any]]) -> None:
        """Take up what was noted."""
        self.atoms.codes, self.atoms.sizes = held["extreme codes"].astype(np.int64), held["extreme sizes"]
        atoms = len(self.atoms.sizes)
        self._members = np.unpackbits(held["extreme members"], axis=1, count=atoms).astype(bool)
        self._largest, self._values = held["largest"], held["values"]

    def known(self) -> tuple[Verdict, Mask]:
        """Whose values all answers tell; ``undecided`` where too many people could be at either bound."""
        verdict, forced = judged(
            Told(largest=self._largest, values=self._values, members=self._members, sizes=self.atoms.sizes)
        )
        return verdict, np.isin(self.atoms.codes, list(forced))

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Everybody's lower and upper bound, in units; infinite where there is none."""
        low, high = Told(
            largest=self._largest, values=self._values, members=self._members, sizes=self.atoms.sizes
        ).bounds()
        return (
            np.where(low <= -FAR, -np.inf, low / 2)[self.atoms.codes],
            np.where(high >= FAR, np.inf, high / 2)[self.atoms.codes],
        )

    def _after(self, cutting: Cutting) -> Told:
        """What was answered, over the atoms after a cut."""
        members = np.concatenate([self._members, self._members[:, cutting.divided]], axis=1)
        return Told(largest=self._largest, values=self._values, members=members, sizes=cutting.sizes)

    @staticmethod
    def _overlap(members: Mask, largest: Mask) -> bool:
        """Whether somebody is in a maximum and in a minimum."""
        return bool((members[largest].any(axis=0) & members[~largest].any(axis=0)).any())

    @staticmethod
    def _hanging(members: Mask, held: Mask) -> list[int]:
        """The answered questions that hang together with a set."""
        reached, known = held, np.zeros(len(members), bool)
        while True:
            is_connected = (members & reached).any(axis=1)
            if (is_connected == known).all():
                return [int(question) for question in np.flatnonzero(known)]
            known = is_connected
            reached = reached | members[known].any(axis=0)

    def _tried(self, answers: Told, ours: list[int], inside: Mask, *, largest: bool) -> Verdict:
        """Try every answer that can come, up to its place among the answers so far."""
        if len(ours) > MOST_TOGETHER:
            return "undecided"
        known = np.unique(answers.values[ours])
        tries = np.unique(np.concatenate([known - 1, known, known + 1])) if len(known) else np.zeros(1, np.int64)
        verdict: Verdict = "fits"
        for value in tries.tolist():
            after = Told(
                largest=np.append(answers.largest[ours], largest),
                values=np.append(answers.values[ours], value),
                members=np.vstack([answers.members[ours], inside]),
                sizes=answers.sizes,
            )
            outcome, _ = judged(after)
            if outcome == "told":
                return "told"
            verdict = "undecided" if outcome == "undecided" else verdict
        return verdict


def _one_kind(
    high: NDArray[np.int64], values: NDArray[np.int64], members: Mask, held: Mask, sizes: NDArray[np.int64]
) -> Verdict:
    """Maxima alone (or minima with all signs turned): in one pass over what hangs together."""
    top = high[held].max()
    if sizes[held & (high == top)].sum() == 1:
        return "told"
    ends = members & (high == values[:, None])
    shared = (ends & held).any(axis=1)
    outside = (ends & ~held) @ sizes
    least = values[shared & (outside == 0)].max(initial=-FAR)
    return "told" if (shared & (outside == 1) & (values > least)).any() else "fits"


def _together(whole: Mask) -> list[list[int]]:
    """Questions in groups that have people in common, directly or through others."""
    groups: list[list[int]] = []
    left = list(range(len(whole)))
    while left:
        group = [left.pop(0)]
        reached = whole[group[0]]
        while near := [question for question in left if (whole[question] & reached).any()]:
            group += near
            left = [question for question in left if question not in near]
            reached = reached | whole[near].any(axis=0)
        groups.append(group)
    return groups
