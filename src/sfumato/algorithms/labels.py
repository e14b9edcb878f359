"""From groups of cells to labels: hierarchy values, ranges, sets, means or distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.problem import Form, Problem, Recoded
from sfumato.counts.keys import Ids, distinct, representatives, total, weighed
from sfumato.metrics.metric import Reals, Ruler
from sfumato.tables.hierarchy import TOP, Hierarchy
from sfumato.tables.labels import MAX_LABEL, written_distribution, written_set
from sfumato.tables.schema import Numbers

# The order of a column's values: numbers and dates by size, others as a walk through their taxonomy meets them.


def ranks(problem: Problem, column: int) -> NDArray[np.int64]:
    """For each value of a column (by code), its place in the column's order; every subtree is one run of places."""
    numbers, hierarchy = problem.scale(column), problem.hierarchies[column]
    if numbers is None:
        order = np.lexsort([level.parent for level in hierarchy.levels])
    else:
        order = np.argsort(np.where(np.isnan(numbers), np.inf, numbers), kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank


def spans(hierarchy: Hierarchy, numbers: Reals) -> Callable[[int, int], float]:
    """How much of the domain lies from one number to another (by code): a width, or so many values."""
    if isinstance(hierarchy.declared, Numbers):  # rows beyond the limits must not change what the others lose
        numbers = np.clip(numbers, hierarchy.declared.low, hierarchy.declared.high)
    if hierarchy.continuous:
        return lambda low, high: float(numbers[high] - numbers[low])
    known = numbers[~np.isnan(numbers)]
    if (known == np.floor(known)).all() and len(known) and known.max() - known.min() + 1 <= hierarchy.total:
        return lambda low, high: float(numbers[high] - numbers[low] + 1)
    return lambda low, high: float(((known >= numbers[low]) & (known <= numbers[high])).sum())


# The label of a set of values that have no order: a short list, or the lowest hierarchy value that covers them.


MAX_VALUES = 10
"""A label lists at most so many values; a longer list would publish a column almost unchanged at a tiny loss."""


def listed(names: Sequence[str]) -> str | None:
    """Return a list of values as one label, a single one as itself; None where it would be too long."""
    label = names[0] if len(names) == 1 else written_set(names[: MAX_VALUES + 1])
    return label if len(names) <= MAX_VALUES and len(label) <= MAX_LABEL else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SetLabel:
    """What a set of values is shown as."""

    name: str
    """The label."""
    size: float
    """How many leaves of the domain it covers."""
    covers: NDArray[np.int64]
    """The values of the column that it covers, by code."""


class SetLabels:
    """Makes the labels of sets of one column's values."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self.names = hierarchy.levels[0].labels

    def of(self, codes: Sequence[int]) -> SetLabel:
        """Return the label of some different values.

        All values, and a missing one with others, are ``*``. A hierarchy value stands for the set if it covers just
        that. Otherwise the values are listed, and where that would be too long the lowest hierarchy value over them is
        shown: it is charged for everything that it covers.
        """
        count, chosen = len(codes), tuple(sorted(codes))
        if count > 1 and (count == len(self.names) or self.hierarchy.missing in codes):
            return SetLabel(name=TOP, size=self.hierarchy.total, covers=np.arange(len(self.names)))
        text = self._words.get(chosen) or listed([self.names[code] for code in chosen])
        if text is None:
            return self.common(codes)
        return SetLabel(name=text, size=float(count), covers=np.array(chosen))

    def of_run(self, codes: Sequence[int]) -> SetLabel:
        """Return the same for values that follow each other in the order of their taxonomy, whose ends tell enough."""
        long = MAX_VALUES < len(codes) < len(self.names)
        return self.common([codes[0], codes[-1]]) if long else self.of(codes)

    def common(self, codes: Sequence[int]) -> SetLabel:
        """Return the lowest hierarchy value that covers some values."""
        below = (level for level in self.hierarchy.levels if len(set(level.parent[list(codes)].tolist())) == 1)
        level = next(below)  # at the top all values have one label
        node = int(level.parent[codes[0]])
        return SetLabel(
            name=level.labels[node], size=float(level.sizes[node]), covers=np.flatnonzero(level.parent == node)
        )

    def always_listed(self, codes: Sequence[int]) -> bool:
        """Return whether every set of these values is short enough to be listed."""
        return listed([self.names[code] for code in codes]) is not None

    @cached_property
    def _words(self) -> dict[tuple[int, ...], str]:
        """The hierarchy value of every set that has one; none for values that are not in the column."""
        words: dict[tuple[int, ...], str] = {}
        for level in self.hierarchy.levels[1:-1]:
            order = np.argsort(level.parent, kind="stable")
            parts = np.split(order, np.searchsorted(level.parent[order], np.arange(1, len(level.labels))))
            for label, size, part in zip(level.labels, level.sizes, parts, strict=True):
                if size == len(part):
                    words.setdefault(tuple(part.tolist()), label)
        return words


# From groups of cells to the labels that their columns show: hierarchy values, boxes, means or distributions.


Output = Literal["hierarchy", "boxes", "means", "distributions"]
Codes = NDArray[np.int32]


def recoded(problem: Problem, groups: Ids, count: int, output: Output = "hierarchy") -> Recoded:
    """Every cell under its group's labels.

    ``hierarchy``: the lowest label that covers all values of the group. ``boxes``: the smallest and the largest number
    of the group, or the set of its values. ``means``: the mean of its numbers; other columns as with ``hierarchy``.
    ``distributions``: how many rows of the group have each of its values; one that would be too long as with
    ``hierarchy``. A group with a missing value beside others shows ``*``.
    """
    parts = [_part(problem, column, groups, count, output) for column in range(len(problem.hierarchies))]
    return _together(problem, parts)


def recoded_by_column(problem: Problem, groups: Sequence[Ids], counts: Sequence[int], output: Output) -> Recoded:
    """Every cell under the labels of its groups, of which each column has its own: equal values show equal labels.

    So a label covers the rows that show it, and its ruler need not say how many.
    """
    recoding = drawn_by_column(problem, groups, counts, output)
    return replace(recoding, rulers=tuple(replace(ruler, covered=None) for ruler in recoding.rulers))


def drawn_by_column(problem: Problem, groups: Sequence[Ids], counts: Sequence[int], output: Output) -> Recoded:
    """The same where some of the rows with equal values are in another group: labels may overlap."""
    parts = [_part(problem, c, mine, many, output) for c, (mine, many) in enumerate(zip(groups, counts, strict=True))]
    return _together(problem, parts)


def levelled(problem: Problem, levels: NDArray[np.int64]) -> Recoded:
    """Every cell under its label of the level that is told for it (columns x cells)."""
    return _together(problem, [_levels(problem, column, level) for column, level in enumerate(levels)])


def _together(problem: Problem, parts: Sequence[_Labels]) -> Recoded:
    return Recoded(
        labels=tuple(part.names for part in parts),
        keys=np.array([part.places for part in parts], np.int32).reshape(len(parts), problem.cells.count),
        rulers=tuple(part.ruler() for part in parts),
        forms=tuple(part.form for part in parts),
    )


def lowest(hierarchy: Hierarchy, codes: Codes, groups: Ids, count: int) -> NDArray[np.int64]:
    """For each group, the lowest level at which all its values have one label."""
    lowest_levels = np.full(count, hierarchy.height, np.int64)
    for number in range(hierarchy.height - 1, -1, -1):
        labels = hierarchy.levels[number].parent[codes]
        some = np.zeros(count, np.int32)
        some[groups] = labels
        mixed = np.zeros(count, np.bool_)
        mixed[groups[labels != some[groups]]] = True
        lowest_levels[~mixed & (lowest_levels == number + 1)] = number
    return lowest_levels


def climbed(hierarchy: Hierarchy, size: float) -> float:
    """How many levels a label that is no hierarchy value lies above its leaves, by its share of the domain."""
    leaf = 0.0 if hierarchy.continuous else 1.0
    width = max(hierarchy.total - leaf, 1e-300)
    return hierarchy.height * min(max(size - leaf, 0.0) / width, 1.0)


class _Labels:
    """The labels of one column as they are met: each word once, with the largest size it was met with."""

    def __init__(self, problem: Problem, column: int, form: Form = "levels") -> None:
        self.hierarchy, self.form = problem.hierarchies[column], form
        codes = problem.cells.keys[column]
        self.rows = np.bincount(codes, weights=problem.cells.sizes, minlength=len(self.hierarchy.levels[0].labels))
        """How many rows have each value."""
        self.places = np.zeros(len(codes), np.int32)
        self.index: dict[str, int] = {}
        self.sizes: list[float] = []
        self.steps: list[float] = []
        self.covered: list[float] = []

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.index)

    def place(self, name: str, size: float, step: float, covered: float) -> int:
        """The number of a label over so many rows; a word that comes back with another size keeps the larger one."""
        if name not in self.index:
            self.index[name] = len(self.index)
            self.sizes.append(size)
            self.steps.append(step)
            self.covered.append(covered)
        number = self.index[name]
        self.sizes[number] = max(self.sizes[number], size)
        self.steps[number] = max(self.steps[number], step)
        self.covered[number] = max(self.covered[number], covered)
        return number

    def share(self, name: str, size: float, covered: float) -> int:
        """The number of a label that is no hierarchy value: it lies as high as its share of the domain says."""
        return self.place(name, size, climbed(self.hierarchy, size), covered)

    def value(self, code: int) -> int:
        """The number of a value that stands for itself."""
        leaf = 0.0 if self.hierarchy.continuous else 1.0
        return self.place(self.hierarchy.levels[0].labels[code], leaf, 0.0, float(self.rows[code]))

    def top(self) -> int:
        """The number of the label that tells nothing."""
        return self.place(TOP, self.hierarchy.total, float(self.hierarchy.height), float(self.rows.sum()))

    def ruler(self) -> Ruler:
        return Ruler(
            sizes=np.array(self.sizes),
            steps=np.array(self.steps),
            total=self.hierarchy.total,
            height=self.hierarchy.height,
            continuous=self.hierarchy.continuous,
            covered=np.array(self.covered),
        )


def _part(problem: Problem, column: int, groups: Ids, count: int, output: Output) -> _Labels:
    hierarchy, codes = problem.hierarchies[column], problem.cells.keys[column]
    numbers = problem.number(column)
    if output == "distributions":
        return _distributions(problem, column, groups, count)
    if output == "boxes":
        ordered = problem.scale(column) is not None
        return (_ranges if ordered else _sets)(problem, column, groups, count)
    if output == "hierarchy" or numbers is None:
        return _levels(problem, column, lowest(hierarchy, codes, groups, count)[groups])
    means = weighed(groups, numbers[codes] * problem.cells.sizes, count) / total(groups, problem.cells.sizes, count)
    return _ranges(problem, column, groups, count, means)


def _levels(problem: Problem, column: int, level: NDArray[np.int64]) -> _Labels:
    """Hierarchy values; equal words of two levels are kept apart."""
    hierarchy, codes = problem.hierarchies[column], problem.cells.keys[column]
    labels = _Labels(problem, column)
    for number, here in enumerate(hierarchy.levels):
        cells = np.flatnonzero(level == number)
        table = np.zeros(len(here.labels), np.int32)
        covered = np.bincount(here.parent, weights=labels.rows, minlength=len(here.labels))
        for code in np.unique(here.parent[codes[cells]]):
            name, size = here.labels[code], float(here.sizes[code])
            if name in labels.index and labels.sizes[labels.index[name]] != size:
                name = f"{name} (level {number})"
            table[code] = labels.place(name, size, float(number), float(covered[code]))
        labels.places[cells] = table[here.parent[codes[cells]]]
    return labels


def _ranges(problem: Problem, column: int, groups: Ids, count: int, means: Reals | None = None) -> _Labels:
    """One label per group of numbers or dates, as wide as from its first to its last; it shows these, or its mean."""
    hierarchy, codes, numbers = problem.hierarchies[column], problem.cells.keys[column], problem.scale(column)
    assert numbers is not None
    form: Form = "boxes" if means is None else "means"
    names = hierarchy.levels[0].labels
    labels = _Labels(problem, column, form)
    order = np.argsort(numbers, kind="stable").astype(np.int32)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    low, high = np.full(count, len(order)), np.full(count, -1)
    np.minimum.at(low, groups, rank[codes])
    np.maximum.at(high, groups, rank[codes])
    widths, below = spans(hierarchy, numbers), np.append(0.0, labels.rows[order].cumsum())
    absent = np.full(count, 0)
    if hierarchy.missing is not None:
        absent = total(groups, (codes == hierarchy.missing).astype(np.int64), count)
    many = np.bincount(groups, minlength=count)
    mixed = (absent > 0) & (absent < many)
    alike, kinds = (np.arange(count), count) if form == "means" else _alike(low, high, mixed)
    table = np.zeros(kinds, np.int32)
    for kind, group in enumerate(representatives(alike, kinds)):
        first, last = int(order[low[group]]), int(order[high[group]])
        if mixed[group]:
            table[kind] = labels.top()
        elif first == last:
            table[kind] = labels.value(first)
        else:
            covered = float(below[high[group] + 1] - below[low[group]])
            name = f"[{names[first]} - {names[last]}]" if means is None else f"{means[group]:.6g}"
            table[kind] = labels.share(name, widths(first, last), covered)
    labels.places = table[alike[groups]]
    return labels


def _alike(low: Ids, high: Ids, mixed: NDArray[np.bool_]) -> tuple[Ids, int]:
    """Groups with the same ends get the same number."""
    keys = (low.astype(np.int32), high.astype(np.int32), mixed.astype(np.int32))
    return distinct(keys, (int(low.max(initial=0)) + 1, int(high.max(initial=0)) + 1, 2), len(low))


def _sets(problem: Problem, column: int, groups: Ids, count: int) -> _Labels:
    """The set of a group's values; the hierarchy's own word where there is one for just this set."""
    hierarchy, codes = problem.hierarchies[column], problem.cells.keys[column]
    labels, sets = _Labels(problem, column, "boxes"), SetLabels(hierarchy)
    values = len(hierarchy.levels[0].labels)
    ids, pairs = distinct((groups.astype(np.int32), codes), (max(count, 1), values), len(codes))
    place = representatives(ids, pairs)
    owners, held = groups[place], codes[place]
    table = np.zeros(count, np.int32)
    for group, part in enumerate(np.split(held, np.searchsorted(owners, np.arange(1, count)))):
        label = sets.of(part.tolist())
        table[group] = labels.share(label.name, label.size, float(labels.rows[label.covers].sum()))
    labels.places = table[groups]
    return labels


def _distributions(problem: Problem, column: int, groups: Ids, count: int) -> _Labels:
    """How many rows of a group have each value; the label is as large as that many values, or as their range."""
    hierarchy, codes, numbers = problem.hierarchies[column], problem.cells.keys[column], problem.number(column)
    labels = _Labels(problem, column, "distributions")
    names = hierarchy.levels[0].labels
    ids, pairs = distinct((groups.astype(np.int32), codes), (max(count, 1), len(names)), len(codes))
    place, rows = representatives(ids, pairs), total(ids, problem.cells.sizes, pairs)
    cuts = np.searchsorted(groups[place], np.arange(1, count))
    sets, table = SetLabels(hierarchy), np.zeros(count, np.int32)
    for group, (part, many) in enumerate(zip(np.split(codes[place], cuts), np.split(rows, cuts), strict=True)):
        counts_text = written_distribution({names[code]: int(n) for code, n in zip(part, many, strict=True)})
        if len(part) == 1:
            table[group] = labels.value(int(part[0]))
        elif hierarchy.missing in part:
            table[group] = labels.top()
        elif len(counts_text) > MAX_LABEL:
            label = sets.common(part.tolist())
            table[group] = labels.share(label.name, label.size, float(labels.rows[label.covers].sum()))
        else:
            table[group] = labels.share(counts_text, _extent(hierarchy, numbers, part), float(labels.rows[part].sum()))
    labels.places = table[groups]
    return labels


def _extent(hierarchy: Hierarchy, numbers: Reals | None, part: Codes) -> float:
    """How much of the domain some values are: as many as they are, or the range of numbers that lie close together."""
    if numbers is None:
        return float(len(part))
    order = part[np.argsort(numbers[part], kind="stable")]
    wide = float(spans(hierarchy, numbers)(int(order[0]), int(order[-1])))
    return wide if hierarchy.continuous else max(min(float(len(part)), wide), 1.0)
