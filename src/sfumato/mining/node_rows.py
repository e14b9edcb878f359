"""A tree while it grows, and the sources of counts that its learner asks level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import DataError
from sfumato.counts.local_cuts import CodedColumn, WeightedCells
from sfumato.counts.sources import ROWS, CutSource, Divided, Division, Figure, by_value
from sfumato.counts.sources import Numbers as Counted
from sfumato.mining.attributes import Attribute, Label, grid_cells
from sfumato.mining.records import Records
from sfumato.mining.tree_document import TreeDocument
from sfumato.tables.schema import Categories, Numbers

# A tree while it grows: nodes with exact counts, and the labels that lead to them.


Whole = NDArray[np.int64]


class Shaped(Protocol):
    """Whatever says which columns a tree is of."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The columns."""

    @property
    def target(self) -> str:
        """The name of the class column."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes."""


class GrownTree:
    """Nodes in the order in which they were made; each stands after its parent."""

    def __init__(self, counts: Whole, domains: Sequence[Label]) -> None:
        """The root with its counts; ``domains`` are the whole labels of the attributes."""
        self.domains = domains
        self.parent, self.attribute = [-1], [-1]
        self.labels: list[Label] = [()]
        self.counts: list[Whole] = [counts]
        self.used: list[frozenset[int]] = [frozenset()]
        """For each node the attributes that were asked for on the way to it."""
        self.open = [0]
        """The nodes that may be split."""

    def split(self, node: int, attribute: int, labels: Sequence[Label], counts: Sequence[Whole]) -> list[int]:
        """Give a node children; tells their numbers."""
        self.attribute[node] = attribute
        first = len(self.parent)
        used = self.used[node] | {attribute}
        for label, held in zip(labels, counts, strict=True):
            self.parent.append(node)
            self.attribute.append(-1)
            self.labels.append(label)
            self.counts.append(held)
            self.used.append(used)
        return list(range(first, len(self.parent)))

    def held(self, node: int, attribute: int) -> Label:
        """What the path to a node leaves of an attribute."""
        if attribute in self.used[node]:
            while self.parent[node] >= 0:
                if self.attribute[self.parent[node]] == attribute:
                    return self.labels[node]
                node = self.parent[node]
        return self.domains[attribute]

    def document(self, records: Shaped) -> TreeDocument:
        """The tree as a document, without nodes that were cut off; nodes level by level."""
        kids: list[list[int]] = [[] for _ in self.parent]
        for node, above in enumerate(self.parent):
            if above >= 0 and self.attribute[above] >= 0:
                kids[above].append(node)
        kept, parent = [0], [-1]
        for place, node in enumerate(kept):
            kept += kids[node]
            parent += [place] * len(kids[node])
        split = np.array([self.attribute[node] for node in kept], np.int64)
        counts = np.where((split < 0)[:, None], np.array([self.counts[node] for node in kept], np.int64), 0)
        hit = counts.max(axis=1)
        return TreeDocument(
            attributes=records.attributes,
            target=records.target,
            classes=records.classes,
            parent=np.array(parent, np.int64),
            split=split,
            labels=tuple(self.labels[node] for node in kept),
            says=np.where(split < 0, counts.argmax(axis=1), -1),
            hit=hit,
            miss=counts.sum(axis=1) - hit,
            counts=counts,
        )


# What a learner of trees asks of its source, level by level: which values and classes the records of each node have.
#
# Records that are held here answer, and so does every source of counts under a cut: a learner needs counts, not
# records.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parting:
    """The open nodes that one attribute splits, and where their records go."""

    place: int
    """The attribute, by its place."""
    nodes: Whole
    """The nodes, by their place among the open ones."""
    cut: Whole | None
    """Of two sides, for each node: the last code below; of one value against the others, that value. None: by value."""
    numeric: bool
    """Whether codes above the cut are the second side; otherwise the cut itself is."""
    goes: Whole
    """Nodes x sides: the place among the nodes that are open next; -1 where no record is."""

    def sides(self, slot: Whole | int, code: Whole) -> Whole:
        """The side of each code in each node, by the node's place in ``nodes``."""
        return code if self.cut is None else sides(self.cut[slot], code, numeric=self.numeric)


def sides(cut: Whole | Any, code: Whole, *, numeric: bool) -> Whole:
    """0 or 1: above the cut, of numbers; the value itself, of categories."""
    return np.asarray(code > cut if numeric else code == cut, np.int64)


class NodeRows(Shaped, Protocol):
    """The records of the open nodes: at first all of them, in node 0."""

    @property
    def marks(self) -> Sequence[NDArray[Any]]:
        """For each attribute what its codes stand for: values, numbers, or cells of the grid."""

    def total(self) -> Whole:
        """The classes of all records."""

    def listed(self, place: int) -> tuple[Whole, Whole, Whole]:
        """Node, code and class of every record, sorted by node and, of numbers, by code."""

    def move(self, partings: Sequence[Parting]) -> None:
        """Send the records to the nodes that are open next; those of other nodes are forgotten."""


class RecordRows:
    """Records that are held here, sorted by node, and for each numeric attribute also by its rank."""

    def __init__(self, records: Records) -> None:
        """All records in one node."""
        if not records.count or (records.codes < 0).any():
            raise DataError("a tree is learnt from records with a known class, at least one")
        self.attributes, self.target, self.classes = records.attributes, records.target, records.classes
        self._kind = records.codes.astype(np.int64)
        self._codes, self.marks = [], []
        for attribute, column in zip(records.attributes, records.columns, strict=True):
            codes, values = _ranked(attribute.domain, column)
            self._codes.append(codes)
            self.marks.append(values)
        self._node = np.zeros(records.count, np.int64)
        self._rows = np.arange(records.count)
        self._orders = {
            place: np.argsort(self._codes[place], kind="stable")
            for place, attribute in enumerate(records.attributes)
            if attribute.numeric
        }

    def total(self) -> Whole:
        """The classes of all records."""
        return np.bincount(self._kind, minlength=len(self.classes))

    def listed(self, place: int) -> tuple[Whole, Whole, Whole]:
        """Node, code and class of every record, sorted by node and, of numbers, by code."""
        rows = self._orders.get(place, self._rows)
        return self._node[rows], self._codes[place][rows], self._kind[rows]

    def move(self, partings: Sequence[Parting]) -> None:
        """Send the records to the nodes that are open next."""
        place_of = np.full(len(self._node), -1, np.int64)
        for parting in partings:
            rows = self._rows[np.isin(self._node[self._rows], parting.nodes)]
            slot = np.searchsorted(parting.nodes, self._node[rows])
            place_of[rows] = parting.goes[slot, parting.sides(slot, self._codes[parting.place][rows])]
        self._node = place_of
        for place, rows in self._orders.items():
            self._orders[place] = self._followed(rows)
        self._rows = self._followed(self._rows)

    def _followed(self, rows: Whole) -> Whole:
        """Rows of open nodes by node; orders keep theirs within a node."""
        kept = rows[self._node[rows] >= 0]
        return kept[np.argsort(self._node[kept], kind="stable")]


class CountedRows:
    """Records of which only counts are known: as many rows of each kind as the counts say.

    Numbers are known by the cell of their declared grid.
    """

    def __init__(
        self, source: CutSource, *, attributes: tuple[Attribute, ...], target: str, classes: tuple[str, ...]
    ) -> None:
        """The columns of the source are the attributes, in order; the target is counted value by value."""
        self.attributes, self.target, self.classes = attributes, target, classes
        self.marks = [np.arange(cells_of(attribute), dtype=np.int64) for attribute in attributes]
        self._walk = source.root([(target, (code,)) for code in range(len(classes))])
        self._parts = np.zeros(1, np.int64)
        self._next = 1
        self._known: dict[int, tuple[Whole, Whole, Whole]] = {}

    def total(self) -> Whole:
        """The classes of all records."""
        return np.asarray(self._walk.total(), np.int64)

    def listed(self, place: int) -> tuple[Whole, Whole, Whole]:
        """Node, code and class of every record; asked once a level."""
        if place not in self._known:
            counts = self._walk.histogram(by_value(place, len(self.marks[place]), self._parts)).astype(np.int64)
            cells = np.argwhere(counts > 0)
            rows = np.repeat(cells, counts[tuple(cells.T)], axis=0)
            self._known[place] = (rows[:, 0], rows[:, 1], rows[:, 2])
        return self._known[place]

    def move(self, partings: Sequence[Parting]) -> None:
        """Divide the partitions of split nodes; the first part of each keeps its number."""
        opened = 1 + max((int(parting.goes.max()) for parting in partings), default=-1)
        parts = np.full(opened, -1, np.int64)
        for parting in partings:
            codes = np.arange(len(self.marks[parting.place]), dtype=np.int64)
            for slot, node in enumerate(parting.nodes.tolist()):
                self._divide(parting, slot, int(self._parts[node]), parting.sides(slot, codes), parts)
        self._parts, self._known = parts, {}

    def _divide(self, parting: Parting, slot: int, part: int, child_of: Whole, parts: Whole) -> None:
        goes = parting.goes[slot]
        held = np.flatnonzero(goes >= 0)
        division = Division(
            column=parting.place,
            parts=np.array([part]),
            child_of=child_of.astype(np.int32),
            children=parting.goes.shape[1],
        )
        places = np.concatenate([[part], self._next + np.arange(len(held) - 1)])
        self._next += len(held) - 1
        none = np.zeros((len(held), len(self.classes)), np.int64)
        self._walk.apply(Divided(division=division, owner=np.zeros_like(held), child=held, counts=none), places)
        parts[goes[held]] = places


def cells_of(attribute: Attribute) -> int:
    """How many values a category has; of a number, how many cells its declared grid."""
    domain = attribute.domain
    if isinstance(domain, Categories):
        return len(domain.values)
    if domain.grid is None:
        raise DataError(f"column {attribute.name!r}: numbers are counted on a grid; declare one")
    return int(grid_cells(domain, np.array([domain.high]))[0]) + 1


def _ranked(domain: Categories | Numbers, column: NDArray[Any]) -> tuple[Whole, NDArray[Any]]:
    """Codes in order of size, and what they stand for: values, numbers, or cells of the grid."""
    if isinstance(domain, Categories):
        if bool((column < 0).any()):
            raise DataError("a tree is learnt from values of the domain; some records have others")
        return column.astype(np.int64), np.arange(len(domain.values))
    if not bool(((column >= domain.low) & (column <= domain.high)).all()):
        raise DataError("a tree is learnt from numbers of the domain; some records have others")
    values, codes = np.unique(grid_cells(domain, column), return_inverse=True)
    return codes.astype(np.int64), values


# Records as a source of counts under a cut: what learners that stand on counts ask.


def record_cuts(records: Records) -> WeightedCells:
    """Every attribute as a column, numbers by the cell of their grid; each class of the target is a figure."""
    columns = []
    for attribute, column in zip(records.attributes, records.columns, strict=True):
        size = cells_of(attribute)
        codes = grid_cells(attribute.domain, column) if isinstance(attribute.domain, Numbers) else column
        if not bool(((codes >= 0) & (codes < size)).all()):
            raise DataError(f"column {attribute.name!r}: some records have values outside the declared domain")
        columns.append(CodedColumn(codes=codes.astype(np.int32), size=size))
    if (records.codes < 0).any():
        raise DataError(f"column {records.target!r}: some records have no declared class")
    weights: dict[Figure, Counted] = {ROWS: np.ones(records.count, np.int64)}
    for code in range(len(records.classes)):
        weights[records.target, (code,)] = (records.codes == code).astype(np.int64)
    return WeightedCells(columns=tuple(columns), weights=weights)
