"""Small problems of sets, paths and closed columns: built from labels, and read back from labels alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from sfumato.algorithms.items.problem import Axis, ItemOutcome, ItemProblem, ItemSpace
from sfumato.counts.transactions import ItemPart, Secret, assembled
from sfumato.models.item_models import ItemModel
from sfumato.tables.taxonomy import TOP, Taxonomy, taxonomy
from tests.brute import itemsets as brute
from tests.itemized import ITEMS, LIMITS, VALUES

SECRET = "ill"
Trunks = Mapping[str, tuple[str, ...]]
"""For each value the labels above it, from just below the root on; inner labels are unique in the tree."""


def tree_of(trunks: Trunks, values: Sequence[str]) -> Taxonomy:
    return taxonomy([(*trunks[v], v) for v in values], {}, total=float(len(values)), height=4)


def axis_of(values: Sequence[str], trunks: Trunks | None) -> Axis:
    return Axis(values=tuple(values), tree=None if trunks is None else tree_of(trunks, values))


@dataclass(frozen=True, kw_only=True)
class Part:
    """One column: the records as labels, the labels, and what each is on every axis."""

    name: str
    records: list[frozenset[str]]
    labels: tuple[str, ...]
    on: tuple[tuple[str, ...], ...]
    """Per axis, the value of each label."""
    values: tuple[tuple[str, ...], ...]
    """Per axis, all values."""
    trunks: tuple[Trunks | None, ...]
    closed: bool = False

    def space(self, begin: int) -> ItemSpace:
        axes = tuple(axis_of(v, t) for v, t in zip(self.values, self.trunks, strict=True))
        codes = [[every.index(v) for v in row] for every, row in zip(self.values, self.on, strict=True)]
        made: NDArray[np.int32] = np.array(codes, np.int32).reshape(len(self.on), len(self.labels))
        return ItemSpace(name=self.name, begin=begin, axes=axes, values=made, closed=self.closed)

    def items(self) -> ItemPart:
        place = {label: code for code, label in enumerate(self.labels)}
        lines = [sorted(place[label] for label in record) for record in self.records]
        starts = np.cumsum([0, *map(len, lines)]).astype(np.int64)
        codes = np.array([code for line in lines for code in line], np.int32)
        return ItemPart(starts=starts, codes=codes, labels=self.labels)

    def below(self, label: str) -> tuple[set[str], ...]:
        """Per axis, the values that a shown label stands for."""
        plain = label.removeprefix(f"{self.name}=") if self.closed else label
        words = plain.split("@") if len(self.on) > 1 else [plain]
        return tuple(
            {v for v in every if word in {v, *((TOP, *trunks[v]) if trunks is not None else ())}}
            for word, every, trunks in zip(words, self.values, self.trunks, strict=True)
        )

    def covers(self, label: str, item: str) -> bool:
        place = self.labels.index(item)
        return all(row[place] in found for row, found in zip(self.on, self.below(label), strict=True))

    def penalty(self, label: str) -> Fraction:
        many, whole = 1, 1
        for found, every in zip(self.below(label), self.values, strict=True):
            many, whole = many * len(found), whole * len(every)
        return Fraction(many - 1, max(whole - 1, 1))

    def spread(self, label: str) -> int:
        many = 1
        for found in self.below(label):
            many *= len(found)
        return many


def set_part(name: str, records: Sequence[frozenset[str]], items: Sequence[str], trunks: Trunks | None = None) -> Part:
    labels = tuple(items)
    return Part(name=name, records=list(records), labels=labels, on=(labels,), values=(labels,), trunks=(trunks,))


def cell_part(name: str, cells: Sequence[str], values: Sequence[str], trunks: Trunks | None = None) -> Part:
    """A column of a table: every record has one value."""
    labels = tuple(f"{name}={value}" for value in values)
    records = [frozenset({f"{name}={cell}"}) for cell in cells]
    return Part(
        name=name,
        records=records,
        labels=labels,
        on=(tuple(values),),
        values=(tuple(values),),
        trunks=(trunks,),
        closed=True,
    )


def walk_part(
    name: str, records: Sequence[frozenset[str]], places: Sequence[str], times: Sequence[str], trunks: Sequence[Trunks]
) -> Part:
    """Paths of pairs place@time; only pairs that occur are items, in the order of time and place."""
    seen = frozenset[str]().union(*records)
    pairs = [(p, t) for t in times for p in places if f"{p}@{t}" in seen]
    return Part(
        name=name,
        records=list(records),
        labels=tuple(f"{p}@{t}" for p, t in pairs),
        on=(tuple(p for p, _ in pairs), tuple(t for _, t in pairs)),
        values=(tuple(places), tuple(times)),
        trunks=tuple(trunks),
    )


def secret_of(values: Sequence[str]) -> Secret:
    known = tuple(sorted(set(values)))
    return Secret(name=SECRET, codes=np.array([known.index(v) for v in values], np.int32), values=known)


def problem_of(parts: Sequence[Part], models: Sequence[ItemModel], secret: Sequence[str]) -> ItemProblem:
    begins = np.cumsum([0, *(len(part.labels) for part in parts)]).tolist()
    return ItemProblem(
        transactions=assembled([part.items() for part in parts]),
        spaces=tuple(part.space(begin) for part, begin in zip(parts, begins[:-1], strict=True)),
        models=tuple(models),
        secrets={SECRET: secret_of(secret)},
    )


def joined(parts: Sequence[Part]) -> list[frozenset[str]]:
    """The records with the labels of all columns."""
    return [frozenset[str]().union(*row) for row in zip(*(part.records for part in parts), strict=True)]


def released(outcome: ItemOutcome) -> list[frozenset[str]]:
    """The released records; no two shown items may be called the same."""
    assert len(set(outcome.transactions.labels)) == outcome.transactions.count
    return list(map(frozenset, outcome.transactions.records()))


def owner(parts: Sequence[Part], item: str) -> Part:
    return next(part for part in parts if item in part.labels)


def shown_as(parts: Sequence[Part], outcome: ItemOutcome) -> dict[str, str]:
    """What each original item that is shown is shown as."""
    items = [label for part in parts for label in part.labels]
    codes = zip(items, outcome.shown.to.tolist(), strict=True)
    return {item: outcome.shown.labels[code] for item, code in codes if code >= 0}


def coarsest(parts: Sequence[Part]) -> list[frozenset[str]]:
    """The closed columns as coarse as their trees allow, and nothing else."""

    def top(part: Part, record: frozenset[str]) -> frozenset[str]:
        if not part.closed:
            return frozenset()
        return record if part.trunks[0] is None else frozenset({f"{part.name}=*"})

    tops = [[top(part, record) for record in part.records] for part in parts]
    return [frozenset[str]().union(*row) for row in zip(*tops, strict=True)]


def holds(model: ItemModel, records: brute.Records, secret: Sequence[str]) -> bool:
    """What the definitions say, exactly; limits of tests are simple fractions."""
    if model.name == "lkc-privacy":
        c = Fraction(model.c).limit_denominator(100)
        return brute.holds_lkc(records, secret, model.l, model.k, c, model.values)
    if model.name == "km-anonymity":
        return brute.holds_km(records, model.k, model.m)
    return brute.rho_uncertain(records, model.sensitive, Fraction(model.rho).limit_denominator(100), model.l)


# Strategies.


@st.composite
def trunks(draw: st.DrawFn, values: Sequence[str], names: str = "PQ") -> dict[str, tuple[str, ...]]:
    """A random tree of uneven depth; inner nodes are called by their way from the root."""
    ways = st.sampled_from(["", *names, *(a + b for a in names for b in names)])
    chosen = [draw(ways) for _ in values]
    return {v: tuple(way[: n + 1] for n in range(len(way))) for v, way in zip(values, chosen, strict=True)}


def secrets_for(records: Sequence[object]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(VALUES), min_size=len(records), max_size=len(records))


@st.composite
def set_parts(draw: st.DrawFn, *, most: int = 10, items: str = ITEMS, tree: bool = False) -> Part:
    records = draw(st.lists(st.frozensets(st.sampled_from(items)), min_size=1, max_size=most))
    return set_part("bought", records, items, draw(trunks(items)) if tree else None)


@st.composite
def walk_parts(draw: st.DrawFn, *, most: int = 8, places: str = "abc", times: str = "1234") -> Part:
    """Paths with a random tree over the places and another over the times."""
    steps = st.dictionaries(st.sampled_from(times), st.sampled_from(places), max_size=len(times))
    walks = draw(st.lists(steps, min_size=1, max_size=most))
    records = [frozenset(f"{place}@{time}" for time, place in walk.items()) for walk in walks]
    return walk_part("way", records, places, times, [draw(trunks(places)), draw(trunks(times))])


@st.composite
def cell_parts(draw: st.DrawFn, rows: int, *, name: str = "job", values: str = "uvwx") -> Part:
    cells = draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows))
    return cell_part(name, cells, values, draw(st.none() | trunks(values)))


@st.composite
def mixed_parts(draw: st.DrawFn) -> list[Part]:
    """One or two closed columns, some without a tree, beside a set or a path."""
    last = draw(set_parts(items="abcd", most=8, tree=True) | walk_parts(places="ab", times="123"))
    rows = len(last.records)
    first = [draw(cell_parts(rows, name=name, values="uvwx"[:3])) for name in draw(st.sampled_from(["j", "jk"]))]
    return [*first, last]


limits = st.sampled_from(LIMITS)
watched = st.sampled_from([(), ("hiv",)])
