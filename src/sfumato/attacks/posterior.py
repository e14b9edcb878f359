"""What the rows that fit a person say about them.

A release is counted once; then people are looked up together, each by some of their quasi-identifiers, and the
sensitive values of the rows that fit are added up. Nothing is ever laid out as people times rows or classes times
values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.subject import PERSON, Codes, Ints, Mask, Subject, alike
from sfumato.tables.table import places

Reals = NDArray[np.float64]
SLACK = 1 - 1e-9
"""Weights that differ by less than rounding are equal."""
AT_ONCE = 1024
"""Different people who are looked up together."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posterior:
    """What the fitting rows tell about a sensitive column; people whom the same rows fit share a view."""

    values: tuple[str, ...]
    """The values of the column."""
    view: Ints
    """The view of each person; -1 where no row fits."""
    starts: Ints
    """Where the entries of each view begin, and the end."""
    code: Ints
    """The value of each entry, in order within a view."""
    weight: Reals
    """How many fitting rows have it."""
    overall: Reals
    """How many rows of the whole release have each value."""
    people: Reals | None = None
    """How many people each view has, where one of them can have several values."""

    @property
    def of_entry(self) -> Ints:
        """The view of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @property
    def rows(self) -> Reals:
        """How many rows each view has, or people where these are counted."""
        if self.people is not None:
            return self.people
        return np.add.reduceat(self.weight, self.starts[:-1]) if len(self.starts) > 1 else np.zeros(0)

    @property
    def share(self) -> Reals:
        """The share of each entry in its view."""
        return np.asarray(self.weight / self.rows[self.of_entry])

    def blind(self, count: int | None = None) -> Posterior:
        """The same people as seen by a guesser who knows the public shares of the values, and no row."""
        there = np.flatnonzero(self.overall > 0)
        any_row, count = bool(len(there)), len(self.view) if count is None else count
        starts, view = np.array([0, len(there)][: 1 + any_row]), np.full(count, any_row - 1)
        return replace(self, view=view, starts=starts, code=there, weight=self.overall[there], people=None)

    def highest(self, score: Reals) -> tuple[Reals, Mask]:
        """The highest score in each view, and the entries that have it."""
        best = np.maximum.reduceat(score, self.starts[:-1]) if len(self.starts) > 1 else np.zeros(0)
        return best, np.asarray(score >= best[self.of_entry] * SLACK)

    def entry(self, truth: Ints, person: Ints | None = None) -> Ints:
        """The entry of each person's own value in their view; -1 where there is none."""
        width, view = len(self.values) + 1, self.view if person is None else self.view[person]
        keys, wanted = self.of_entry * width + self.code, view * width + truth
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        hit = (view >= 0) & (truth >= 0) & (keys[at] == wanted if len(keys) else False)
        return np.where(hit, at, -1)

    def hits(self, guessed: Mask, truth: Ints, person: Ints | None = None) -> Reals:
        """How likely each person's value is named, if one of the guessed entries of their view is named at random.

        Where people have several values, ``person`` says whose each of ``truth`` is.
        """
        many = np.add.reduceat(guessed.astype(np.int64), self.starts[:-1]) if len(self.starts) > 1 else np.zeros(0)
        at = self.entry(truth, person)
        right = (at >= 0) & (guessed[at] if len(guessed) else False)
        times = right if person is None else np.bincount(person[right], minlength=len(self.view))
        return np.asarray(times / np.maximum(many[self.view] if len(many) else 1, 1))

    def per_person(self, of_view: Reals) -> Reals:
        """A figure of views, by person; 0 where no row fits."""
        return np.where(self.view >= 0, of_view[self.view] if len(of_view) else 0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counted:
    """A release counted once, so that many questions about fitting rows are cheap."""

    subject: Subject
    """The release."""
    column: str | None
    """The sensitive column; without one all rows have the same value."""
    values: tuple[str, ...]
    """Its values, sorted."""
    rows: pl.DataFrame
    """Different rows: a code for each quasi-identifier, named by its place, then value and weight."""
    overall: Reals
    """How many rows have each value."""
    people: pl.DataFrame | None = None
    """How many people each combination of labels has, where those who have a value are counted."""

    @property
    def size(self) -> float:
        """How many rows the release has, or people where these are counted."""
        return float(self.overall.sum() if self.people is None else self.people["weight"].sum())

    def truth(self, people: pl.DataFrame) -> Ints:
        """The code of each person's own value; -1 for one that the release does not show."""
        if self.column is None:
            return np.zeros(people.height, np.int64)
        own = people[self.column].cast(pl.String).fill_null("")
        return places(own, {value: code for code, value in enumerate(self.values)}).astype(np.int64)

    def owned(self, people: pl.DataFrame, known: Sequence[int] | None = None) -> tuple[Posterior, Ints, Ints]:
        """What the rows tell that fit people, then the codes of their own values there, and whose each of them is."""
        if self.people is None or self.subject.several is None or PERSON not in people.columns:
            return self.posterior(people, known), self.truth(people), np.arange(people.height)
        number = people.select(PERSON).with_row_index("place")
        mine = self.subject.several.people.join(number, on=PERSON, how="inner", maintain_order="left")
        both = pl.concat([people.select(mine.columns[:-1]), mine.drop("place")])
        every, person = self.posterior(both, known), mine["place"].to_numpy().astype(np.int64)
        here = every.view[people.height :] == every.view[person]
        pairs = np.unique(np.stack([person[here], self.truth(mine)[here]]), axis=1)
        return replace(every, view=every.view[: people.height]), pairs[1], pairs[0]

    def posterior(
        self, people: pl.DataFrame, known: Sequence[int] | None = None, coded: Codes | None = None
    ) -> Posterior:
        """What the rows tell that fit people in the known quasi-identifiers, or in all of them.

        Whoever asks about the same people many times hands in their codes, ``subject.coded(people)``.
        """
        places = range(len(self.subject.quasi)) if known is None else known
        keys = [str(place) for place in places]
        rows = self.rows.group_by(*keys, "value").agg(pl.col("weight").sum()).sort(*keys, "value")
        labels = np.stack([rows[key].to_numpy() for key in keys]).astype(np.int32)
        new = np.concatenate([np.ones(min(rows.height, 1), np.bool_), (labels[:, 1:] != labels[:, :-1]).any(axis=0)])
        starts = np.append(np.flatnonzero(new), rows.height)
        codes = (self.subject.coded(people) if coded is None else coded)[list(places)]
        first, of_person = alike(codes)
        cells = codes[:, first]
        cell, place = fitting(labels[:, new], [covers_of(self.subject, column) for column in places], cells)
        view, member, unit = _views(cell, place, cells.shape[1])
        part = spread(starts, unit)
        keyed = member[part[0]] * (len(self.values) + 1) + rows["value"].to_numpy()[part[1]]
        distinct_keys, at = np.unique(keyed, return_inverse=True)
        of_entry, code = np.divmod(distinct_keys, len(self.values) + 1)
        return Posterior(
            values=self.values,
            view=view[of_person],
            starts=np.searchsorted(of_entry, np.arange(int(view.max(initial=-1)) + 2)),
            code=code,
            weight=_summed(at.reshape(-1), rows["weight"].to_numpy()[part[1]], len(distinct_keys)),
            overall=self.overall,
            people=None
            if self.people is None
            else _summed(member, self._sizes(keys)[unit], int(view.max(initial=-1)) + 1),
        )

    def _sizes(self, keys: Sequence[str]) -> Reals:
        """How many people each combination of known labels has, in their order."""
        assert self.people is not None
        return self.people.group_by(*keys).agg(pl.col("weight").sum()).sort(*keys)["weight"].to_numpy()


def alone(subject: Subject, people: pl.DataFrame) -> Mask:
    """Whom the rows of one class fit, and of no other; nobody where sensitive values are published apart."""
    if subject.groups is not None:
        return np.zeros(people.height, np.bool_)
    codes = subject.coded(people)
    first, of_person = alike(codes)
    covers = [covers_of(subject, column) for column in range(len(subject.quasi))]
    cell, _ = fitting(subject.classes[0], covers, codes[:, first])
    return np.asarray(np.bincount(cell, minlength=len(first))[of_person] == 1)


def holding(subject: Subject, column: str) -> Counted:
    """Count who has a value, where people can have several; rows where they cannot."""
    if subject.several is None or column not in subject.several.release.columns:
        return counted(subject, column)
    keys = [str(place) for place in range(len(subject.quasi))]
    labels, sizes, of_row = subject.classes
    held = subject.several.release.select(PERSON, text=pl.col(column).cast(pl.String).fill_null("")).unique()
    held = held.with_columns(pl.Series("class", of_row[held[PERSON].to_numpy()]))
    of_value = held.group_by("class", "text").agg(weight=pl.len().cast(pl.Float64))
    values = of_value["text"].unique().sort()
    codes = of_value["text"].cast(pl.Enum(values)).to_physical().cast(pl.Int64)
    of_class = of_value["class"].to_numpy()
    rows = pl.DataFrame([pl.Series(key, row[of_class]) for key, row in zip(keys, labels, strict=True)])
    rows = rows.with_columns(codes.alias("value"), of_value["weight"])
    people = pl.DataFrame([pl.Series(key, row) for key, row in zip(keys, labels, strict=True)])
    return Counted(
        subject=subject,
        column=column,
        values=tuple(values),
        rows=rows,
        overall=_summed(codes.to_numpy(), rows["weight"].to_numpy(), len(values)),
        people=people.with_columns(pl.Series("weight", sizes.astype(np.float64))),
    )


def counted(subject: Subject, column: str | None) -> Counted:
    """Count a release; where the sensitive column is published apart, a row has each value of its group in part."""
    keys = [str(place) for place in range(len(subject.quasi))]
    apart = column is not None and column not in subject.release.columns
    labels, sizes, of_row = subject.classes
    if column is None:
        rows = pl.DataFrame({"class": np.arange(len(sizes)), "weight": sizes.astype(np.float64)})
        rows = rows.with_columns(text=pl.lit(""))
    else:
        release_texts = pl.DataFrame(
            {"class": of_row, "text": subject.release[str(subject.group) if apart else column]}
        )
        rows = release_texts.group_by("class", "text").agg(weight=pl.len().cast(pl.Float64))
        rows = rows.with_columns(text=pl.col("text").cast(pl.String).fill_null(""))
    of_class = rows["class"].to_numpy()
    rows = rows.select(
        "text", "weight", *(pl.Series(key, row[of_class]) for key, row in zip(keys, labels, strict=True))
    )
    if apart:
        rows = rows.join(_apart(subject), left_on="text", right_on="group", how="inner").select(
            *keys, pl.col("value").alias("text"), weight=pl.col("weight") * pl.col("share")
        )
    values = rows["text"].unique().sort()
    codes = rows["text"].cast(pl.Enum(values)).to_physical().cast(pl.Int64)
    rows = rows.select(*keys, value=codes, weight="weight")
    overall = _summed(codes.to_numpy(), rows["weight"].to_numpy(), len(values))
    return Counted(subject=subject, column=column, values=tuple(values), rows=rows, overall=overall)


def fitting(labels: Codes, covers: Sequence[Mask], cells: Codes) -> tuple[Ints, Ints]:
    """All pairs of a cell and a combination of labels that covers it, by cell; combinations are sorted and different.

    Cost: columns are taken one after the other, and only beginnings of combinations that still fit are followed.
    """
    new, steps = np.zeros(labels.shape[1], np.bool_), []
    new[:1] = True
    before = np.zeros(1, np.int64)
    for row in labels:
        new[1:] |= row[1:] != row[:-1]
        first = np.flatnonzero(new)
        steps.append((np.append(np.searchsorted(first, before), len(first)), row[first]))
        before = first
    parts = [_followed(steps, covers, cells, begin) for begin in range(0, cells.shape[1], AT_ONCE)]
    empty = np.zeros(0, np.int64)
    return np.concatenate([empty, *(p[0] for p in parts)]), np.concatenate([empty, *(p[1] for p in parts)])


def _followed(
    steps: Sequence[tuple[Ints, Codes]], covers: Sequence[Mask], cells: Codes, begin: int
) -> tuple[Ints, Ints]:
    cell = np.arange(begin, min(begin + AT_ONCE, cells.shape[1]))
    node = np.zeros(len(cell), np.int64)
    for column, (starts, label) in enumerate(steps):
        source, child = spread(starts, node)
        fits = covers[column][label[child], cells[column, cell[source]]]
        cell, node = cell[source[fits]], child[fits]
    return cell, node


def spread(starts: Ints, units: Ints) -> tuple[Ints, Ints]:
    """For a list of units, the place in the list and the number of each of their members."""
    many = starts[units + 1] - starts[units]
    source = np.repeat(np.arange(len(units)), many)
    return source, starts[units][source] + np.arange(len(source)) - np.repeat(np.cumsum(many) - many, many)


def covers_of(subject: Subject, column: int) -> Mask:
    """What labels cover; one more column at the end, for a value that nobody has: only a label for all covers it."""
    covers = subject.coverage[subject.quasi[column]].covers
    return np.concatenate([covers, covers.all(axis=1, keepdims=True)], axis=1)


def _views(cell: Ints, place: Ints, cells: int) -> tuple[Ints, Ints, Ints]:
    """Cells that the same combinations fit share a view: the view of each cell, then pairs of view and combination."""
    many = np.bincount(cell, minlength=cells)
    mixed = (place.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    marks = np.zeros(cells, np.uint64)
    np.add.at(marks, cell, mixed)
    seen = np.flatnonzero(many)
    _, first, of_seen = np.unique(
        np.stack([marks, many.astype(np.uint64)])[:, seen], axis=1, return_index=True, return_inverse=True
    )
    view, chosen = np.full(cells, -1), np.full(cells, -1)
    view[seen], chosen[seen[first]] = of_seen.reshape(-1), np.arange(len(first))
    keep = chosen[cell] >= 0
    return view, chosen[cell[keep]], place[keep]


def _apart(subject: Subject) -> pl.DataFrame:
    """Group, value and the share of the value in the group."""
    assert subject.groups is not None
    value = next(name for name in subject.groups.columns if name != subject.group)
    listed = subject.groups.select(
        group=pl.col(str(subject.group)).cast(pl.String),
        value=pl.col(value).cast(pl.String).fill_null(""),
        count=pl.col(subject.groups.columns[-1]).cast(pl.String).cast(pl.Float64),
    )
    return listed.select("group", "value", share=pl.col("count") / pl.col("count").sum().over("group"))


def _summed(at: Ints, weights: Reals, length: int) -> Reals:
    return np.bincount(at, weights=weights, minlength=length).astype(np.float64)
