"""Membership inference: was this person among those whom the release was made from?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.frame.assignment import Reals, texts_of
from sfumato.attacks.frame.subject import Codes, Coverage, Ints, Subject, alike
from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.attacks.membership.number_ladder import Ladder
from sfumato.ground.arguments import at_least
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ParameterError

_MANY = 4096
"""From so many released combinations on, the search leaves out what cannot be nearest any more."""
_BLOCK = 1024
"""Of so many the nearest is looked at first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """The attacker has a release and a person's record, and wants to know whether they were in the table behind it.

    That somebody is in a register of patients is the secret. The attacker looks for the released row that is nearest to
    them: a label that covers their value is near if it is narrow and far if it covers everything; a value or label
    beside theirs counts as far, numbers by how far. Drawn numbers are compared in at most 512 equally full steps.
    People who were in the table are nearer than others. Where "near" ends, the attacker learns from half of the people
    tried, who are known to be in or out, and is tested on the other half. It works on generalized, noisy and synthetic
    rows alike, and takes one comparison with every different row.

    Half of the people tried are members, so a guesser is right once in two.
    Source: Homer et al. 2008; Shokri, Stronati, Song and Shmatikov 2017; for synthetic rows Stadler et al. 2022.
    """

    name: ClassVar[str] = "membership"
    threat: ClassVar[str] = "membership"

    trials: int = 2000
    """At most so many people, half of them members; half of both are for learning."""
    whole_record: bool = False
    """Whether the attacker knows the sensitive columns too."""
    rows: int = 100_000
    """Different released rows that the attacker compares with; a random choice where there are more."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 4)
        at_least("rows", self.rows, 1)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        if subject.control is None or subject.control.height < 2:
            return "there is no control file: nobody is known not to be in the table"
        if self.whole_record and subject.groups is not None:
            return "whole records cannot be compared: the sensitive column is published apart"
        return "" if subject.quasi else "there is no quasi-identifier"

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Measure distances, learn a threshold on one half, test it on the other."""
        if reason := self.fits(subject):
            raise ParameterError(f"subject cannot be attacked: {reason}")
        assert subject.control is not None
        draw = chance.generator()
        each = min(self.trials // 2, subject.people.height, subject.control.height)
        inside = subject.people[draw.permutation(subject.people.height)[:each]]
        outside = subject.control[draw.permutation(subject.control.height)[:each]]
        columns = self._columns(subject)
        kept = np.stack([column.released for column in columns])
        kept = kept[:, alike(kept.astype(np.int64))[0]]
        rows: Ints = kept[:, draw.permutation(kept.shape[1])[: self.rows]].astype(np.int64)
        near, far = (_nearest(columns, rows, people) for people in (inside, outside))
        half = each // 2
        cut, below = threshold(near[:half], far[:half])
        said_in = [(part <= cut) == below for part in (near[half:], far[half:])]
        hits = int(said_in[0].sum() + (~said_in[1]).sum())
        tested = len(said_in[0]) + len(said_in[1])
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="somebody's whole record" if self.whole_record else "somebody's quasi-identifiers",
            does="tell whether they were in the table",
            rate=Rate(hits=hits, trials=tested),
            naive=Rate(hits=tested / 2, trials=tested, exact=True),
            limit=limit,
            figures={
                "auc": auc(-near[half:], -far[half:]),
                "members_found": float(said_in[0].mean()) if len(said_in[0]) else 0.0,
                "others_taken_for_members": float(said_in[1].mean()) if len(said_in[1]) else 0.0,
                "distance_of_members": float(near.mean()) if each else 0.0,
                "distance_of_others": float(far.mean()) if each else 0.0,
            },
            note="the control people are half of the trials",
        )

    def _columns(self, subject: Subject) -> list[_Column | Ladder]:
        labels, _, of_row = subject.classes
        found: list[_Column | Ladder] = [
            Ladder.of(subject, name)
            if name in subject.drawn
            else _Column.of(name, subject.coverage[name], labels[at][of_row], numeric=name in subject.numeric)
            for at, name in enumerate(subject.quasi)
        ]
        for name in subject.sensitive if self.whole_record else ():
            texts = texts_of(subject.release, name)
            values = sorted({*texts, *texts_of(subject.people, name)})
            codes = texts.cast(pl.Enum(values)).to_physical().to_numpy().astype(np.int32)
            found.append(_Column.of(name, Coverage.plain(values), codes, numeric=name in subject.numeric))
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Column:
    """One column of the release, and how far each label is from each value."""

    name: str
    values: tuple[str, ...]
    released: Codes
    distance: NDArray[np.float32]

    @classmethod
    def of(cls, name: str, coverage: Coverage, released: Codes, *, numeric: bool) -> _Column:
        many = max(len(coverage.values) - 1, 1)
        width = (coverage.covers.sum(axis=1, keepdims=True) - 1) / many
        beside = _beside(coverage) if numeric else np.ones(coverage.covers.shape)
        distance = np.where(coverage.covers, np.clip(width, 0, 1) / 2, (1 + beside) / 2)
        unknown = np.ones((len(coverage.labels), 1))
        table = np.concatenate([distance, unknown], axis=1).astype(np.float32)
        return cls(name=name, values=coverage.values, released=released, distance=table)

    def coded(self, people: pl.DataFrame) -> Ints:
        """People's values; the last code is for a value that nobody knows."""
        place = {value: at for at, value in enumerate(self.values)}
        texts = texts_of(people, self.name)
        return np.array([place.get(text, len(place)) for text in texts], np.int64)


def _beside(coverage: Coverage) -> Reals:
    """For numbers: how far the nearest covered value is, as a share of the range; 1 where there is none."""
    numbers = pl.Series(coverage.values, dtype=pl.String).cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    span = float(np.nanmax(numbers) - np.nanmin(numbers)) if not np.isnan(numbers).all() else 0.0
    found = np.ones(coverage.covers.shape)
    for row, covers in enumerate(coverage.covers):
        inside = numbers[covers & ~np.isnan(numbers)]
        if len(inside) and span > 0:
            order = np.sort(inside)
            at = np.searchsorted(order, numbers)
            left, right = order[np.maximum(at - 1, 0)], order[np.minimum(at, len(order) - 1)]
            found[row] = np.nan_to_num(np.minimum(abs(numbers - left), abs(numbers - right)) / span, nan=1.0)
    return found


def _nearest(columns: list[_Column | Ladder], kept: Ints, people: pl.DataFrame) -> Reals:
    """For each person the smallest distance to a released row, averaged over columns."""
    codes = [column.coded(people) for column in columns]
    found = np.ones(people.height, np.float64)
    for person in range(people.height if kept.shape[1] else 0):
        apart = [column.distance[:, code[person]] for column, code in zip(columns, codes, strict=True)]
        found[person] = _least(apart, kept) / len(columns)
    return found


def _least(apart: list[NDArray[np.float32]], kept: Ints) -> np.float32:
    """The smallest sum over columns.

    A sum only grows. Halfway, some of the nearest are measured in full: rows that are farther by then can be left out.
    """
    first = (len(apart) + 1) // 2
    total = np.zeros(kept.shape[1], np.float32)
    for each, released in zip(apart[:first], kept[:first], strict=True):
        total += each[released]
    if kept.shape[1] > _MANY:
        blocks = kept.shape[1] // _BLOCK
        some = total[: blocks * _BLOCK].reshape(blocks, _BLOCK).argmin(axis=1) + _BLOCK * np.arange(blocks)
        rows = np.flatnonzero(total <= _added(total[some], apart[first:], kept[first:, some]).min())
        total, kept = total[rows], kept[:, rows]
    return np.float32(_added(total, apart[first:], kept[first:]).min())


def _added(total: NDArray[np.float32], apart: list[NDArray[np.float32]], kept: Ints) -> NDArray[np.float32]:
    for each, released in zip(apart, kept, strict=True):
        total = total + each[released]
    return total


def threshold(near: Reals, far: Reals) -> tuple[float, bool]:
    """The threshold that tells members from others best, and whether members lie below it."""
    cuts = np.unique(np.concatenate([near, far, [-1.0]]))
    inside = np.searchsorted(np.sort(near), cuts, side="right") / max(len(near), 1)
    outside = np.searchsorted(np.sort(far), cuts, side="right") / max(len(far), 1)
    best = int(np.argmax(abs(inside - outside)))
    return float(cuts[best]), bool(inside[best] >= outside[best])


def auc(members: Reals, others: Reals) -> float:
    """How often a member's score is above another person's; a tie counts half.

    >>> auc(np.array([3.0, 2.0]), np.array([2.0, 1.0]))
    0.875
    """
    if not len(members) or not len(others):
        return 0.5
    order = np.sort(others)
    below, upto = np.searchsorted(order, members), np.searchsorted(order, members, side="right")
    return float((below + (upto - below) / 2).sum() / (len(members) * len(others)))
