"""The problem and outcome for baskets and paths: items, their trees, and how each is published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import PlanError
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.counts.itemsets import Itemsets
from sfumato.counts.transactions import ItemCodes, Secret, Transactions
from sfumato.metrics.item_utility import ItemView
from sfumato.models.item_models import ItemModel
from sfumato.tables.table import Codes
from sfumato.tables.taxonomy import Taxonomy

# What the items of a table are: places at times, items of sets, values of columns, with the trees above them.


@dataclass(frozen=True, kw_only=True, eq=False)
class Axis:
    """One thing that an item tells (a place, a time, a value), with the tree over it where there is one.

    Nodes are those of the tree; without a tree every value is a node of its own, and none lies above another.
    """

    values: tuple[str, ...]
    """The values, by code."""
    tree: Taxonomy | None = None
    """The tree over them."""

    @cached_property
    def leaf(self) -> Codes:
        """The node of each value."""
        return np.arange(len(self.values), dtype=np.int32) if self.tree is None else self.tree.leaf

    @cached_property
    def last(self) -> Codes:
        """The last node below each node, in preorder."""
        return self.leaf if self.tree is None else self.tree.last

    @cached_property
    def spread(self) -> NDArray[np.int64]:
        """How many of the values lie below each node."""
        if self.tree is None:
            return np.ones(len(self.values), np.int64)
        below = np.bincount(self.leaf, minlength=len(self.tree.labels)).astype(np.int64)
        for node in range(len(below) - 1, 0, -1):
            below[self.tree.parent[node]] += below[node]
        return below

    def above(self, node: int) -> int:
        """The node above that covers more values, or -1."""
        if self.tree is None:
            return -1
        up = int(self.tree.parent[node])
        while up >= 0 and self.spread[up] == self.spread[node]:
            up = int(self.tree.parent[up])
        return up

    def named(self, nodes: NDArray[np.int32]) -> list[str]:
        """What nodes are called; those of one name are told apart by what lies above them."""
        if self.tree is None:
            return [self.values[node] for node in nodes.tolist()]
        names = {node: self.tree.labels[node] for node in set(nodes.tolist())}
        above = {node: node for node in names}
        while True:
            often = Counter(names.values())
            alike = [node for node, name in names.items() if often[name] > 1 and above[node] > 0]
            if not alike:
                return [names[node] for node in nodes.tolist()]
            for node in alike:
                above[node] = int(self.tree.parent[above[node]])
                names[node] = f"{names[node]} ({self.tree.labels[above[node]]})"


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemSpace:
    """The items of one column: each lies at one value of every axis."""

    name: str
    """The column."""
    begin: int
    """The code of its first item among those of all columns."""
    axes: tuple[Axis, ...]
    """One axis for sets and columns of a table; place and time for paths."""
    values: NDArray[np.int32]
    """Per axis, the value of each item."""
    closed: bool = False
    """Whether every record has exactly one item of the column, so that none can be left out unseen."""
    mark: str = "@"
    """What stands between place and time."""

    @property
    def count(self) -> int:
        """How many items there are."""
        return self.values.shape[1]

    @cached_property
    def leaves(self) -> NDArray[np.int32]:
        """Per axis, the node of each item."""
        return np.stack([axis.leaf[codes] for axis, codes in zip(self.axes, self.values, strict=True)])

    def spread(self, nodes: NDArray[np.int32]) -> NDArray[np.int64]:
        """How many values, or pairs of values, each column of nodes covers."""
        counts = np.ones(nodes.shape[1], np.int64)
        for axis, row in zip(self.axes, nodes, strict=True):
            counts *= axis.spread[row]
        return counts

    def penalty(self, nodes: NDArray[np.int32]) -> NDArray[np.float64]:
        """The normalized certainty penalty: 0 for a single value, 1 for everything."""
        whole = float(np.prod([float(len(axis.values)) for axis in self.axes]))
        return (self.spread(nodes) - 1) / max(whole - 1, 1.0)

    def named(self, nodes: NDArray[np.int32]) -> list[str]:
        """What columns of nodes are called."""
        names = [axis.named(row) for axis, row in zip(self.axes, nodes, strict=True)]
        if self.closed:
            return [f"{self.name}={name}" for name in names[0]]
        return names[0] if len(names) == 1 else [self.mark.join(pair) for pair in zip(*names, strict=True)]

    def above(self, nodes: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The nodes one step above on one axis, where there are any."""
        ups = ((place, axis.above(nodes[place])) for place, axis in enumerate(self.axes))
        return [(*nodes[:place], up, *nodes[place + 1 :]) for place, up in ups if up >= 0]


def refuse_untreed(space: ItemSpace, algorithm: str) -> None:
    """Refuse a column of paths, or one without a tree, where an algorithm shows the items of sets coarser."""
    if len(space.axes) > 1:
        raise PlanError(f"columns.{space.name}: {algorithm} takes no paths; use algorithm.name = 'trajectory'")
    if space.axes[0].tree is None:
        raise PlanError(
            f"columns.{space.name}.hierarchy is missing; {algorithm} shows items coarser along a tree. Without "
            "one use algorithm.name = 'sets', which leaves items out"
        )


# How every item is shown: as itself, as a node above it, or not at all.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shown:
    """The items as they are shown now."""

    to: Codes
    """For each original item what it is shown as; -1 where it is not shown."""
    labels: tuple[str, ...]
    """What is shown, by code, in the order of the first original item of each."""
    penalty: NDArray[np.float64]
    """How much of its column each covers: 0 for one value, 1 for all."""
    spread: NDArray[np.int64]
    """How many original values each covers."""
    first: Codes
    """The first original item of each."""
    closed: NDArray[np.bool_]
    """Whether it cannot be left out."""
    over: Codes
    """The next wider label that stands for all that it stands for, in other records; -1 where there is none."""

    def ways(self, item: int) -> list[int]:
        """Everything that an original item may be shown as, from the narrowest on."""
        labels, label = [], int(self.to[item])
        while label >= 0:
            labels.append(label)
            label = int(self.over[label])
        return labels


class Cover:
    """The state of a search: every original item lies under exactly one shown node, or is left out."""

    def __init__(self, spaces: Sequence[ItemSpace]) -> None:
        self.spaces = tuple(spaces)
        self.nodes = [space.leaves.copy() for space in spaces]
        self.left_out = np.zeros(sum(space.count for space in spaces), np.bool_)
        self._together: dict[int, NDArray[np.int64]] = {}

    def copy(self) -> Cover:
        """The same state, apart from this one."""
        new = Cover.__new__(Cover)
        new.spaces, new.nodes, new.left_out = self.spaces, [n.copy() for n in self.nodes], self.left_out.copy()
        new._together = dict(self._together)
        return new

    def space_of(self, item: int) -> tuple[int, int]:
        """The column of an original item, and its number there."""
        for place, space in enumerate(self.spaces):
            if item < space.begin + space.count:
                return place, item - space.begin
        raise IndexError(item)

    def node_of(self, item: int) -> tuple[int, ...]:
        """The node under which an original item is shown."""
        place, inner = self.space_of(item)
        return tuple(int(node) for node in self.nodes[place][:, inner])

    def leave_out(self, item: int) -> None:
        """Show an original item, and all that are shown like it, no more."""
        place, _ = self.space_of(item)
        space, node = self.spaces[place], self.node_of(item)
        alike = np.logical_and.reduce([row == n for row, n in zip(self.nodes[place], node, strict=True)])
        fresh = np.flatnonzero(alike & ~self.left_out[space.begin : space.begin + space.count]) + space.begin
        self.left_out[fresh] = True
        self._together[item] = fresh

    def show_again(self, item: int) -> None:
        """Show again what was left out with an item, as before."""
        self.left_out[self._together.pop(item)] = False

    def raised(self, item: int, to: tuple[int, ...]) -> tuple[tuple[int, ...], NDArray[np.bool_]]:
        """The smallest node from ``to`` upward that cuts through no shown node, and the items that it would cover."""
        place, _ = self.space_of(item)
        space, nodes = self.spaces[place], self.nodes[place]
        while True:
            inside = np.logical_and.reduce(
                [
                    (leaves >= node) & (leaves <= axis.last[node])
                    for axis, leaves, node in zip(space.axes, space.leaves, to, strict=True)
                ]
            )
            seen = inside & ~self.left_out[space.begin : space.begin + space.count]
            up = tuple(int(row[seen].min(initial=node)) for node, row in zip(to, nodes, strict=True))
            if up == to:
                return to, inside
            to = up

    def raise_to(self, item: int, to: tuple[int, ...]) -> tuple[int, ...]:
        """Show an item and all items under a node as that node, or as the smallest one that is possible."""
        place, _ = self.space_of(item)
        node, inside = self.raised(item, to)
        self.nodes[place][:, inside] = np.array(node, np.int32)[:, None]
        return node

    def shown(self) -> Shown:
        """What is shown, numbered in the order of the first original item of each."""
        parts, base = [], 0
        for space, nodes in zip(self.spaces, self.nodes, strict=True):
            out = self.left_out[space.begin : space.begin + space.count]
            parts.append(_shown(space, nodes, out, base))
            base += len(parts[-1].labels)
        whole: Shown = joined_shown(parts)
        return whole


def _shown(space: ItemSpace, nodes: NDArray[np.int32], out: NDArray[np.bool_], base: int) -> Shown:
    radix = int(nodes.max(initial=0)) + 1
    key = np.zeros(space.count, np.int64)
    for row in nodes:
        key = key * radix + row
    _, first, group = np.unique(np.where(out, -1, key), return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    order = order[~out[first[order]]] if space.count else order
    number = np.full(len(first), -1, np.int32)
    number[order] = np.arange(len(order), dtype=np.int32) + base
    heads = first[order].astype(np.int32)
    used = nodes[:, heads]
    return Shown(
        to=number[group.reshape(-1)],
        labels=tuple(space.named(used)),
        penalty=space.penalty(used),
        spread=space.spread(used),
        first=heads + np.int32(space.begin),
        closed=np.full(len(heads), space.closed),
        over=np.full(len(heads), -1, np.int32),
    )


def joined_shown(parts: Sequence[Shown]) -> Shown:
    """The labels of several columns, one behind the other."""
    return Shown(
        to=np.concatenate([part.to for part in parts]),
        labels=tuple(label for part in parts for label in part.labels),
        penalty=np.concatenate([part.penalty for part in parts]),
        spread=np.concatenate([part.spread for part in parts]),
        first=np.concatenate([part.first for part in parts]),
        closed=np.concatenate([part.closed for part in parts]),
        over=np.concatenate([part.over for part in parts]),
    )


# What an algorithm for baskets and paths is given, and what it returns.


Action = Literal["suppress", "generalize", "strip", "specialize"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ItemProblem(Brief):
    """Records as sets of items, what must hold, and how items may be shown."""

    transactions: Transactions
    """The records; codes of one column follow those of the column before."""
    spaces: tuple[ItemSpace, ...]
    """The columns."""
    models: tuple[ItemModel, ...]
    """What must hold."""
    secrets: Mapping[str, Secret] = field(default_factory=dict)
    """The sensitive columns that models look at."""

    def looked_at(self, model: ItemModel, transactions: Transactions) -> Transactions:
        """The records with the sensitive column of a model."""
        return replace(transactions, secret=self.secrets[model.columns[0]] if model.columns else None)

    def violating(
        self, transactions: Transactions, work: Work, *, most: int | None = None, listed: bool = False
    ) -> list[Itemsets]:
        """For each model, the minimal sets that it refuses."""
        return [
            model.violating(self.looked_at(model, transactions), most=most, listed=listed, work=work)
            for model in self.models
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemStep:
    """One decision of a search; not public where it names what is left out."""

    action: Action
    """Left out everywhere, shown as something coarser, left out of some records, or shown as what lies below it."""
    label: str
    """The item."""
    to: str = ""
    """What it is shown as."""
    gain: int = 0
    """How many violating sets that removes."""
    loss: float = 0.0
    """How many maximal frequent sets that loses; one that is shown coarser counts in part. For local recoding and
    specialization, the shares of their column by which entries are blurred more; below 0 where they are less."""
    left: int = 0
    """How many violating sets are left then."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ItemOutcome(Brief):
    """How every item is shown, and how that was found."""

    shown: Shown
    """The recoding."""
    transactions: Transactions
    """The records as they are shown."""
    stripped: NDArray[np.int64]
    """Places in the problem's ``codes`` that are left out of single records."""
    steps: tuple[ItemStep, ...]
    """The decisions, in order."""
    effort: Mapping[str, Any]
    """What it took."""
    placed: ItemCodes | None = None
    """With local recoding, what each place in the problem's ``codes`` is shown as; -1 where it is not shown."""

    def entries(self, records: Transactions) -> ItemCodes:
        """What each entry of the original records is shown as; -1 where it is not shown."""
        if self.placed is not None:
            return self.placed
        labels: ItemCodes = self.shown.to[records.codes]
        labels[self.stripped] = -1
        return labels

    def view(self, records: Transactions) -> ItemView:
        """The original records and these, for whoever measures what was lost."""
        return ItemView(
            original=records,
            released=self.transactions,
            to=self.shown.to,
            spread=self.shown.spread,
            penalty=self.shown.penalty,
            entries=self.entries(records),
            over=self.shown.over,
        )


def shown_records(problem: ItemProblem, cover: Cover, stripped: NDArray[np.int64]) -> tuple[Shown, Transactions]:
    """The records as a cover shows them."""
    recoding, records = cover.shown(), problem.transactions
    if len(stripped):
        kept = np.ones(len(records.codes), np.bool_)
        kept[stripped] = False
        records = records.only(kept)
    return recoding, records.recoded(recoding.to, recoding.labels)
