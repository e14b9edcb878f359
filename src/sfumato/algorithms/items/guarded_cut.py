"""The state of a top-down search that guards sensitive items, and the inferences it must prevent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.items.alternatives import Links
from sfumato.algorithms.items.problem import Cover, ItemProblem, ItemSpace
from sfumato.core.errors import ParameterError
from sfumato.counts.itemsets import Itemsets
from sfumato.counts.transactions import Holders, ItemCodes, Starts, ragged
from sfumato.models.item_models import MOST_SETS, RhoUncertainty, sets_of
from sfumato.tables.taxonomy import Taxonomy

# Which sets of shown items tell a sensitive item too surely; only sets that hold one of some items are looked at.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rules:
    """Inferences that are too sure: known items, and the sensitive one at the end of each."""

    starts: Starts
    """Where each rule begins, and where the last ends."""
    items: ItemCodes
    """The items of all rules."""
    whole: bool = True
    """Whether all sets were looked at."""

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.starts) - 1

    @classmethod
    def joined(cls, parts: Sequence[Rules]) -> Rules:
        """Those of several models."""
        sizes = np.concatenate([np.empty(0, np.int64), *(np.diff(part.starts) for part in parts)])
        return cls(
            starts=np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))),
            items=np.concatenate([np.empty(0, np.int32), *(part.items for part in parts)]),
            whole=all(part.whole for part in parts),
        )


def inferences(
    rows: NDArray[np.int64],
    items: NDArray[np.int64],
    heads: NDArray[np.int64],
    secret: NDArray[np.bool_],
    model: RhoUncertainty,
    most: int,
) -> Rules:
    """The inferences above ``rho`` from at most ``l`` items, one of them of ``heads``.

    ``rows`` and ``items`` are the entries of records, each pair once, in any order; ``secret`` says which items are
    sensitive. All records that have an item of ``heads`` must be among them.
    """
    from sfumato.core.kernels.sensitive_rules import sure_rules

    count = len(secret)
    if not len(rows):
        return Rules.joined([])
    key = np.ones(count, np.int64)
    key[secret] = 2
    key[heads] = np.where(secret[heads], 2, 0)
    order = np.argsort(key, kind="stable")
    number = np.empty(count, np.int64)
    number[order] = np.arange(count)
    places = np.sort(rows * count + number[items])
    row, code = np.divmod(places, count)
    slots = _slots(row, code, first=int((key < 2).sum()))
    reach = count if secret[heads].any() else int((key == 0).sum())
    longest = int(np.diff(np.flatnonzero(np.append(slots[0], -1) < 0)).max()) - 1
    rule_items, ends, whole = sure_rules(slots, reach, count, min(model.l or longest, longest), float(model.rho), most)
    starts = np.concatenate(([0], ends.astype(np.int64)))
    return Rules(starts=starts, items=order[rule_items].astype(np.int32), whole=bool(whole))


def _slots(
    row: NDArray[np.int64], code: NDArray[np.int64], first: int
) -> tuple[ItemCodes, ItemCodes, ItemCodes, ItemCodes]:
    """Every record opened by -1; the slot behind its record; its first sensitive slot; and the opening slots."""
    opens = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
    sizes = np.diff(np.append(opens, len(row)))
    opening = opens + np.arange(len(opens))
    slots = np.full(len(row) + len(opens), -1, np.int32)
    taken = np.ones(len(slots), np.bool_)
    taken[opening] = False
    slots[taken] = code
    plain = np.add.reduceat((code < first).astype(np.int64), opens)
    stop = np.repeat(opening + sizes + 1, sizes + 1)
    secret = np.repeat(opening + 1 + plain, sizes + 1)
    return slots, stop.astype(np.int32), secret.astype(np.int32), opening.astype(np.int32)


# The state of a top-down search that guards sensitive items: which nodes are shown, and what would be lost.


Ints = NDArray[np.int64]
_FREE = 1e-9
"""What leaving something out costs at least."""


class Forest:
    """The trees of all columns as one numbering of nodes, without the sensitive items, which are shown as they are."""

    def __init__(self, problem: ItemProblem, sensitive: NDArray[np.bool_]) -> None:
        self.spaces, self.sensitive = problem.spaces, sensitive
        sizes = [len(space.axes[0].spread) for space in problem.spaces]
        self.base = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        self.count = int(self.base[-1])
        self.leaf = np.concatenate(
            [space.leaves[0] + base for space, base in zip(problem.spaces, self.base, strict=False)]
        )
        self.last = np.concatenate(
            [space.axes[0].last + base for space, base in zip(problem.spaces, self.base, strict=False)]
        )
        self.closed = np.repeat([space.closed for space in problem.spaces], sizes)
        nodes = [np.arange(size, dtype=np.int32)[None] for size in sizes]
        self.penalty = np.concatenate([space.penalty(own) for space, own in zip(problem.spaces, nodes, strict=True)])
        supports = problem.transactions.supports()
        self.entries = np.bincount(self.leaf, weights=supports, minlength=self.count)
        self.secret = np.zeros(self.count, np.bool_)
        self.secret[self.leaf[sensitive]] = True
        self._by_leaf = np.argsort(self.leaf, kind="stable")
        for place, space in enumerate(problem.spaces):
            self._add_up(space, int(self.base[place]))

    def _add_up(self, space: ItemSpace, base: int) -> None:
        """Entries of inner nodes: those of all items below that are not sensitive."""
        for node in range(len(space.axes[0].spread) - 1, 0, -1):
            if not self.secret[base + node]:
                self.entries[base + int(_tree(space).parent[node])] += self.entries[base + node]

    @property
    def roots(self) -> list[int]:
        """The root of every column that has items to show coarser."""
        return [int(base) for base in self.base[:-1] if self.entries[base] > 0]

    def items(self, node: int) -> Ints:
        """The items below a node that are not sensitive; a sensitive leaf has itself."""
        low, high = np.searchsorted(self.leaf[self._by_leaf], [node, self.last[node] + 1])
        items = self._by_leaf[low:high]
        return items if self.secret[node] else items[~self.sensitive[items]]

    def children(self, node: int) -> list[int]:
        """The nodes to show in place of one, each the lowest that covers the same items; none below an item."""
        node = self._lowest(node)
        if (self.leaf == node).any():
            return []
        return [self._lowest(child) for child in self._below(node)]

    def _below(self, node: int) -> list[int]:
        place = int(np.searchsorted(self.base, node, side="right")) - 1
        base = int(self.base[place])
        below = [base + child for child in _tree(self.spaces[place]).children[node - base]]
        return [child for child in below if self.entries[child] > 0 and not self.secret[child]]

    def _lowest(self, node: int) -> int:
        """The lowest node that covers the same items."""
        while not (self.leaf == node).any() and len(below := self._below(node)) == 1:
            node = below[0]
        return node


def _tree(space: ItemSpace) -> Taxonomy:
    """The tree of a column; the algorithm refuses columns without one."""
    tree = space.axes[0].tree
    if tree is None:
        raise ParameterError(f"{space.name} has no tree")
    return tree


class GuardedCut:
    """Every item is shown as a node of the cut, or left out; no inference from the nodes that are shown is too sure."""

    def __init__(self, problem: ItemProblem, models: Sequence[RhoUncertainty], sensitive: NDArray[np.bool_]) -> None:
        self.records, self.models = problem.transactions, models
        self.forest = Forest(problem, sensitive)
        self.shown_as = np.where(sensitive, self.forest.leaf, -1).astype(np.int64)
        self.left_out: set[int] = set()
        self.holders = Holders(self.records)
        # Not np.isin: its texts lose NULs at their end.
        named = [np.array([label in model.sensitive for label in self.records.labels], np.bool_) for model in models]
        self._secret = [np.zeros(self.forest.count, np.bool_) for _ in models]
        for mark, own in zip(self._secret, named, strict=True):
            mark[self.forest.leaf[own]] = True
        longest = int(np.diff(self.records.starts).max(initial=0))
        size = max((model.l or longest for model in models), default=0) + 1
        self._many = np.array([float(sets_of(n, min(size, n))) for n in range(longest + 1)])
        self._lengths = np.zeros(self.records.rows, np.int64)
        row, _ = self.pairs(np.arange(self.records.rows), self.shown_as)
        self._lengths += np.bincount(row, minlength=self.records.rows)

    @property
    def lost(self) -> float:
        """The sum over entries of the share of the column that each is blurred to; 1 where it is not shown."""
        nodes = self.shown_as[self.records.codes]
        return float(np.where(nodes < 0, 1.0, self.forest.penalty[nodes]).sum())

    @property
    def secrets_lost(self) -> int:
        """How many entries of sensitive items are not shown."""
        return int((self.forest.sensitive & (self.shown_as < 0))[self.records.codes].sum())

    def pairs(self, rows: Ints, shown_as: Ints) -> tuple[Ints, Ints]:
        """The entries of some records as they are shown, each once."""
        places = ragged(self.records.starts, rows)
        row = np.repeat(rows, self.records.starts[rows + 1] - self.records.starts[rows])
        node = shown_as[self.records.codes[places]]
        keys = np.unique(row[node >= 0] * self.forest.count + node[node >= 0])
        entries = np.divmod(keys, self.forest.count)
        return entries[0], entries[1]

    def with_nodes(self, nodes: Iterable[int]) -> Ints:
        """What every item would be shown as, if these nodes were shown."""
        new = self.shown_as.copy()
        for node in nodes:
            new[self.forest.items(node)] = node
        return new

    def rows_of(self, node: int) -> Ints:
        """The records that have an item below a node."""
        lists = [self.holders.of(item) for item in self.forest.items(node).tolist()]
        return np.unique(np.concatenate(lists)).astype(np.int64)

    def inferred(self, rows: Ints, shown_as: Ints, heads: Sequence[int]) -> Rules:
        """The inferences that are too sure, from sets with one of ``heads``; not whole where sets are too many."""
        row, node = self.pairs(rows, shown_as)
        after = self._sets - self._many[self._lengths[rows]].sum()
        lengths = np.bincount(np.searchsorted(rows, row), minlength=len(rows))
        if after + self._many[lengths].sum() > MOST_SETS:
            return Rules(starts=np.zeros(1, np.int64), items=np.empty(0, np.int32), whole=False)
        used, number = np.unique(node, return_inverse=True)
        own = np.flatnonzero(np.isin(used, heads))
        by_model = [
            inferences(row, number.reshape(-1), own, secret[used], model, MOST_SETS)
            for model, secret in zip(self.models, self._secret, strict=True)
        ]
        rules = Rules.joined(by_model)
        return Rules(starts=rules.starts, items=used[rules.items].astype(np.int32), whole=rules.whole)

    @property
    def _sets(self) -> float:
        return float(self._many[self._lengths].sum())

    def price(self, node: int) -> float:
        """What leaving a node out loses."""
        return float(self.forest.entries[node] * (1 - self.forest.penalty[node]))

    def hit(self, rules: Rules, may_go: NDArray[np.bool_]) -> list[int] | None:
        """Nodes of which every rule has one, cheap ones that break many rules first; None where that cannot be."""
        used, number = np.unique(rules.items, return_inverse=True)
        none = np.zeros(rules.count, np.int64)
        sets = Itemsets(starts=rules.starts, codes=number.reshape(-1).astype(np.int32), rows=none, top=none)
        links = Links(sets, len(used))
        worth = np.where(may_go[used], 1 / np.maximum([self.price(node) for node in used.tolist()], _FREE), 0.0)
        gone: list[int] = []
        while links.living:
            best = int(np.argmax(links.counts * worth))
            if links.counts[best] * worth[best] <= 0:
                return None
            gone.append(int(used[best]))
            links.remove(links.holding(best))
        return gone

    def take(self, rows: Ints, shown_as: Ints, gone: Iterable[int]) -> None:
        """Show items so, without some nodes."""
        self.shown_as = shown_as
        touched = [rows]
        for node in gone:
            touched.append(self.rows_of(node))
            self.shown_as[self.forest.items(node)] = -1
            self.left_out.add(node)
        rows = np.unique(np.concatenate(touched))
        row, _ = self.pairs(rows, self.shown_as)
        self._lengths[rows] = np.bincount(np.searchsorted(rows, row), minlength=len(rows))

    @cached_property
    def may_go(self) -> NDArray[np.bool_]:
        """Which nodes may be left out without losing a sensitive item."""
        return ~(self.forest.closed | self.forest.secret)

    def cover(self) -> Cover:
        """The same as every algorithm says it."""
        cover = Cover(self.forest.spaces)
        for place, space in enumerate(self.forest.spaces):
            own = self.shown_as[space.begin : space.begin + space.count]
            cover.nodes[place][0] = np.where(own < 0, cover.nodes[place][0], own - self.forest.base[place])
            cover.left_out[space.begin : space.begin + space.count] = own < 0
        return cover
