"""Membership inference on synthetic rows: by density and by distance to the nearest row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.candidates import Reals, texts_of
from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.labels import Floats, numbers
from sfumato.attacks.subject import Codes, Coverage, Ints, Subject, alike
from sfumato.core.arguments import at_least
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from sfumato.tables.labels import read_interval

# Numbers that were drawn, compared with people's by how far they are, in a few hundred steps.


_STEPS = 512
"""At most so many numbers are told apart, equally full steps of all that occur."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ladder:
    """One column of drawn numbers: the steps, where each released row stands, and how far steps are apart."""

    name: str
    steps: Floats
    released: Codes
    distance: NDArray[np.float32]
    """Steps x steps, as a share of the range; the last column is for what is no number."""

    @classmethod
    def of(cls, subject: Subject, name: str) -> Ladder:
        """The column of a subject."""
        frames = (subject.release, subject.people, *([] if subject.control is None else [subject.control]))
        known = np.concatenate([numbers(frame[name]) for frame in frames])
        known = known[np.isfinite(known)]
        steps = np.unique(np.quantile(known, np.linspace(0, 1, _STEPS))) if len(known) else np.zeros(1)
        wide = float(steps[-1] - steps[0]) or 1.0
        apart = np.abs(steps[:, None] - steps[None, :]) / wide
        distance = np.concatenate([apart, np.ones((len(steps), 1))], axis=1).astype(np.float32)
        released = _placed(steps, numbers(subject.release[name])).clip(max=len(steps) - 1)
        return cls(name=name, steps=steps, released=released.astype(np.int32), distance=distance)

    def coded(self, people: pl.DataFrame) -> Ints:
        """The steps that people stand on; the last code is for who has no number."""
        return _placed(self.steps, numbers(people[self.name]))


def _placed(steps: Floats, values: Floats) -> Ints:
    """The nearest step of every number."""
    after = np.searchsorted(steps, np.nan_to_num(values)).clip(max=len(steps) - 1)
    before = np.maximum(after - 1, 0)
    nearer = np.abs(steps[before] - values) <= np.abs(steps[after] - values)
    return np.asarray(np.where(np.isnan(values), len(steps), np.where(nearer, before, after)), np.int64)


# Membership inference: was this person among those whom the release was made from?


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
        columns: list[_Column | Ladder] = [
            Ladder.of(subject, name)
            if name in subject.drawn
            else _Column.of(name, subject.coverage[name], labels[at][of_row], numeric=name in subject.numeric)
            for at, name in enumerate(subject.quasi)
        ]
        for name in subject.sensitive if self.whole_record else ():
            texts = texts_of(subject.release, name)
            values = sorted({*texts, *texts_of(subject.people, name)})
            codes = texts.cast(pl.Enum(values)).to_physical().to_numpy().astype(np.int32)
            columns.append(_Column.of(name, Coverage.plain(values), codes, numeric=name in subject.numeric))
        return columns


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
        gaps = _beside(coverage) if numeric else np.ones(coverage.covers.shape)
        distance = np.where(coverage.covers, np.clip(width, 0, 1) / 2, (1 + gaps) / 2)
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
    gaps = np.ones(coverage.covers.shape)
    for row, covers in enumerate(coverage.covers):
        inside = numbers[covers & ~np.isnan(numbers)]
        if len(inside) and span > 0:
            order = np.sort(inside)
            at = np.searchsorted(order, numbers)
            left, right = order[np.maximum(at - 1, 0)], order[np.minimum(at, len(order) - 1)]
            gaps[row] = np.nan_to_num(np.minimum(abs(numbers - left), abs(numbers - right)) / span, nan=1.0)
    return gaps


def _nearest(columns: list[_Column | Ladder], kept: Ints, people: pl.DataFrame) -> Reals:
    """For each person the smallest distance to a released row, averaged over columns."""
    codes = [column.coded(people) for column in columns]
    distances = np.ones(people.height, np.float64)
    for person in range(people.height if kept.shape[1] else 0):
        apart = [column.distance[:, code[person]] for column, code in zip(columns, codes, strict=True)]
        distances[person] = _least(apart, kept) / len(columns)
    return distances


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


# Membership of synthetic rows by the distance to the nearest one: the simplest test, and often the strongest.


_CELLS = 2**22
"""So many distances are computed at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestNeighbour:
    """The attacker has synthetic rows and a person's record, and wants to know whether they were in the table.

    Rows that were drawn from small groups lie close to the records of these groups. The attacker divides every column
    of numbers by the standard deviation that it has in the release, counts two different words as one such deviation,
    and measures the Euclidean distance from the person to the nearest released row: who is near was a member. Where
    "near" ends is learnt from half of the people tried, as in ``membership``, and tested on the other half.

    Half of the people tried are members, so a guesser is right once in two.
    Figures: auc, how often a member is nearer than another person; members_found; others_taken_for_members.
    Needs: people who are not in the table (a control file); numbers or words that the release shows as such.
    Cost: the distance of every person tried to every released row.
    Source: the distance to the closest record, as in Chen, Yu, Zhang and Fritz 2020 (GAN-Leaks, full black box).
    """

    name: ClassVar[str] = "nearest-neighbour"
    threat: ClassVar[str] = "membership"

    trials: int = 2000
    """At most so many people, half of them members; half of both are for learning."""
    rows: int = 100_000
    """Released rows that the attacker compares with; a random choice where there are more."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 4)
        at_least("rows", self.rows, 1)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        if not subject.synthetic:
            return "the released rows are no synthetic ones; membership reads their labels"
        if subject.control is None or subject.control.height < 2:
            return "there is no control file: nobody is known not to be in the table"
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
        release = subject.release[draw.permutation(subject.release.height)[: self.rows]]
        near, far = (_nearest_distances(subject, release, people) for people in (inside, outside))
        half = each // 2
        cut, below = threshold(near[:half], far[:half])
        said_in = [(part <= cut) == below for part in (near[half:], far[half:])]
        tested = len(said_in[0]) + len(said_in[1])
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="somebody's whole record",
            does="tell whether they were in the table by the nearest released row",
            rate=Rate(hits=int(said_in[0].sum() + (~said_in[1]).sum()), trials=tested),
            naive=Rate(hits=tested / 2, trials=tested, exact=True),
            limit=limit,
            figures={
                "auc": auc(-near, -far),
                "members_found": float(said_in[0].mean()) if len(said_in[0]) else 0.0,
                "others_taken_for_members": float(said_in[1].mean()) if len(said_in[1]) else 0.0,
            },
            note="the control people are half of the trials",
        )


def _nearest_distances(subject: Subject, release: pl.DataFrame, people: pl.DataFrame) -> Reals:
    """For each person the distance to the nearest released row."""
    columns = [_apart(subject, name, release, people) for name in subject.quasi]
    distances = np.full(people.height, np.inf)
    step = max(_CELLS // max(release.height, 1), 1)
    for first in range(0, people.height, step):
        some = slice(first, first + step)
        total = np.zeros((len(distances[some]), release.height), np.float32)
        for theirs, mine in columns:
            left, right = theirs[some, None], mine[None, :]
            gap = left - right if theirs.dtype.kind == "f" else (left != right).astype(np.float32)
            total += np.nan_to_num(gap, nan=1.0) ** 2
        distances[some] = np.sqrt(total.min(axis=1, initial=np.inf))
    return distances


def _apart(subject: Subject, name: str, release: pl.DataFrame, people: pl.DataFrame) -> tuple[Reals, Reals]:
    """A column of people and of released rows: numbers in standard deviations of the release, words as codes."""
    if name in subject.numeric:
        values = _middles(numbers(release[name]), release[name])
        known = values[~np.isnan(values)]
        spread = float(known.std()) if len(known) else 0.0
        spread = spread or 1.0
        return (numbers(people[name]) / spread).astype(np.float32), (values / spread).astype(np.float32)
    both = pl.concat([texts_of(people, name), texts_of(release, name)])
    codes = both.cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
    return codes[: people.height], codes[people.height :]  # type: ignore[return-value]


def _middles(values: Reals, cells: pl.Series) -> Reals:
    """Numbers; of intervals their middles."""
    odd = np.flatnonzero(np.isnan(values))
    for place in odd.tolist():
        interval = read_interval(str(cells[place]))
        if interval is not None and np.isfinite(interval.low + interval.high):
            values[place] = (interval.low + interval.high) / 2
    return values
