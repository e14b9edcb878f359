"""Columns with a taxonomy, and columns of numbers without a hierarchy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from sfumato.algorithms.bottom_up.column_labels import DECIMALS, Mark, Offer, Parts, Scale
from sfumato.algorithms.cut import ColumnCut, cut_of_intervals, cut_of_nodes, ends_of
from sfumato.algorithms.labels import climbed, listed
from sfumato.algorithms.problem import Problem
from sfumato.counts.keys import Ids
from sfumato.metrics.metric import Reals
from sfumato.tables.hierarchy import TOP
from sfumato.tables.labels import roundest
from sfumato.tables.table import Codes

# A column of numbers without a hierarchy: neighbouring intervals become one.


def is_numeric(problem: Problem, column: int) -> bool:
    """Whether a column is one of at least two numbers with nothing between them and the top."""
    numbers = problem.number(column)
    if numbers is None or problem.hierarchies[column].height != 1:
        return False
    return len(np.unique(numbers[~np.isnan(numbers)])) > 1


class NumberParts(Parts):
    """Labels are intervals between round numbers, at first one around every number. The last two become ``*``."""

    def __init__(self, problem: Problem, column: int, scale: Scale) -> None:
        numbers = problem.number(column)
        self.numbers: Reals = np.zeros(0) if numbers is None else numbers
        known = np.unique(self.numbers[~np.isnan(self.numbers)])
        super().__init__(problem, column, scale, 2 * len(known) + 1)
        self.ends = ends_of(self.hierarchy, known)
        self.edges = np.array([roundest(low, high) for low, high in pairwise(known.tolist())])
        """The numbers at which an interval begins, but for the first."""
        self.order = np.arange(len(known))
        """The numbers of the labels in use, by size."""
        begun = cut_of_intervals(self.hierarchy, self.numbers, self.edges.tolist())
        self.first = begun.of_code
        self.used = len(begun.labels)
        self.labels[: self.used] = begun.labels
        self.sizes[: self.used], self.steps[: self.used] = begun.sizes, begun.steps
        self.prices[: self.used] = self.price(begun.sizes)
        np.add.at(self.counts, self.first, self.histogram(problem))
        self.begin()
        self.costs = self._costs(np.arange(len(self.edges)))
        self.rounded = np.round(self.costs, DECIMALS)

    def offers(self) -> Iterator[Offer]:
        """Every two neighbours."""
        return map(self._offer, range(len(self.edges)))

    def cheapest(self) -> Offer | None:
        """Of those that cost least the lowest."""
        return self._offer(int(np.argmin(self.rounded))) if len(self.edges) else None

    def holding(self, part: int) -> Iterator[Offer]:
        """A label with its neighbour on either side."""
        places = range(len(self.edges))
        if len(self.edges) > 1:
            there = int(np.flatnonzero(self.order == part)[0]) if part in self.order else -2
            places = range(max(there - 1, 0), min(there + 1, len(self.edges)))
        return map(self._offer, places)

    def count(self) -> int:
        """How many valid generalizations there are."""
        return len(self.edges)

    def take(self, offer: Offer) -> int:
        """Let an edge go."""
        place, new = offer.node, self.used
        self.used += 1
        whole = len(self.edges) == 1
        size = self.hierarchy.total if whole else float(self.sizes[list(offer.parts)].sum())
        self.named(new, offer.label, size, self._step(size))
        self.join(offer.parts, new)
        self.edges = np.delete(self.edges, place)
        self.order = np.delete(self.order, place)
        self.order[place] = new
        self.costs, self.rounded = np.delete(self.costs, place), np.delete(self.rounded, place)
        around = np.arange(max(place - 1, 0), min(place + 1, len(self.edges)))
        self.costs[around] = self._costs(around)
        self.rounded[around] = np.round(self.costs[around], DECIMALS)
        return new

    def mark(self, offer: Offer) -> Mark:
        """The edge that is let go."""
        return offer.kind, 0, self.edges[offer.node].tobytes()

    def offered(self, mark: Mark) -> Offer | None:
        """The neighbours of that edge."""
        edge = np.frombuffer(mark[2], np.float64)[0]
        place = int(np.searchsorted(self.edges, edge))
        return self._offer(place) if place < len(self.edges) and self.edges[place] == edge else None

    def again(self, marks: Sequence[Mark]) -> set[Mark]:
        """All at once: an edge can be let go whichever others are."""
        kept = np.setdiff1d(self.edges, np.frombuffer(b"".join(mark[2] for mark in marks), np.float64))
        ends = [0, *(np.searchsorted(self.edges, kept) + 1).tolist(), len(self.order)]
        parts = [self.order[low:high].tolist() for low, high in pairwise(ends)]
        if not len(kept):
            parts[0] += np.setdiff1d(np.flatnonzero(self.live), self.order).tolist()
        self.edges = kept
        self.order = np.array([self._one(place, some) for place, some in enumerate(parts)])
        self.costs = self._costs(np.arange(len(kept))) if len(kept) else np.zeros(0)
        self.rounded = np.round(self.costs, DECIMALS)
        return set(marks)

    def _one(self, place: int, parts: Sequence[int]) -> int:
        """The label of the interval at a place, made of these."""
        if len(parts) == 1:
            return parts[0]
        new, last = self.used, place == len(self.edges)
        label = TOP if not len(self.edges) else self.ends.named(self._bounds(place), first=not place, last=last)
        size = self.hierarchy.total if not len(self.edges) else float(self.sizes[list(parts)].sum())
        self.used += 1
        self.named(new, label, size, self._step(size))
        self.join(parts, new)
        return new

    def cut(self) -> ColumnCut:
        """The intervals between the edges that are left."""
        return cut_of_intervals(self.hierarchy, self.numbers, self.edges.tolist())

    def _step(self, size: float) -> float:
        """How high an interval lies, by its share of the domain."""
        leaf = 0.0 if self.hierarchy.continuous else 1.0
        share = (size - leaf) / max(self.hierarchy.total - leaf, 1e-300)
        return self.hierarchy.height * min(max(share, 0.0), 1.0)

    def _parts(self, place: int) -> tuple[int, ...]:
        """The labels on both sides of an edge; of the last edge all there are, with that of missing values."""
        if len(self.edges) > 1:
            return int(self.order[place]), int(self.order[place + 1])
        absent = np.setdiff1d(np.flatnonzero(self.live), self.order)
        return (*self.order.tolist(), *absent.tolist())

    def _bounds(self, place: int) -> tuple[float, float]:
        """From where to where an interval goes."""
        low = self.ends.low if place == 0 else float(self.edges[place - 1])
        return low, self.ends.high if place == len(self.edges) else float(self.edges[place])

    def _offer(self, place: int) -> Offer:
        low, high = self._bounds(place)[0], self._bounds(place + 1)[1]
        last = place + 1 == len(self.edges)
        label = TOP if len(self.edges) == 1 else self.ends.named((low, high), first=not place, last=last)
        return Offer(
            column=self.column,
            kind="interval",
            parts=self._parts(place),
            cost=float(self.costs[place]),
            label=label,
            order=(place,),
            node=place,
        )

    def _costs(self, places: Ids) -> Reals:
        """What it costs to let some edges go."""
        if len(self.edges) == 1:
            parts = list(self._parts(0))
            top = float(self.price(np.array([self.hierarchy.total]))[0])
            return np.array([self.scale.joined(self.counts[parts], self.prices[parts], top)])
        many = np.arange(len(places))
        both = np.concatenate([self.order[places], self.order[places + 1]])
        price = self.price(self.sizes[self.order[places]] + self.sizes[self.order[places + 1]])
        return self.scale.paired(self.counts[both], self.prices[both], many, many + len(places), price)


# A column with a taxonomy: children become their parent, some siblings a set, single values ``*``.


OPEN, LIVE, HELD, GONE = 0, 1, 2, 3
"""A node whose values have not all come up to it; one that is a label; one in a set; one with all its values out."""
_KINDS = ("node", "set", "star")


class TreeParts(Parts):
    """Every node of the taxonomy is a label of its own number; sets and ``*`` beside others come after them.

    A value that is itself an inner node is a label of its own, below that node, until the node is made.
    """

    def __init__(self, problem: Problem, column: int, scale: Scale, *, partial: bool, suppress: bool) -> None:
        self.tree = problem.hierarchies[column].tree()
        nodes = len(self.tree.labels)
        super().__init__(problem, column, scale, nodes * (2 + partial + 3 * suppress) + 1)
        self.partial, self.suppress = partial and problem.scale(column) is None, suppress
        """Numbers and dates are never listed: their intervals and calendar units are coarser than a few of them."""
        self.labels[:nodes] = self.tree.labels
        self.sizes[:nodes], self.steps[:nodes] = self.tree.sizes, self.tree.steps
        self.prices[:nodes] = self.price(self.tree.sizes)
        self.node = np.arange(len(self.labels), dtype=np.int32)
        """For each label, its node; for a set, the node below which it is."""
        self.used = nodes
        self.state = np.where([bool(below) for below in self.tree.children], OPEN, LIVE).astype(np.int8)
        self.part = np.arange(nodes, dtype=np.int32)
        """For each node that is a label or in a set, the number of that."""
        self.own: dict[int, int] = {}
        """For an inner node that is a value itself, the label of that value."""
        self.out = np.zeros(nodes)
        """For each node, how many leaves below it read as ``*`` because they were put out."""
        self.star = -1
        self.found: dict[tuple[str, int], Offer] = {}
        self.best: Offer | None = None
        self._begin(problem)

    def _begin(self, problem: Problem) -> None:
        self.first = self.tree.leaf.astype(np.int32)
        for code, node in enumerate(self.tree.leaf.tolist()):
            if self.tree.children[node]:
                self.first[code] = self.own.setdefault(node, self.used)
                self.used += self.own[node] == self.used
        for node, part in self.own.items():
            self.node[part] = node
            self.named(part, self.tree.labels[node], float(self.tree.sizes[node]), float(self.tree.steps[node]))
        np.add.at(self.counts, self.first, self.histogram(problem))
        self.begin()
        for node, below in enumerate(self.tree.children):
            if below:
                self._refresh(node)
        self._stars()
        self._choose()

    def offers(self) -> Iterator[Offer]:
        """Every valid generalization."""
        return iter(self.found.values())

    def cheapest(self) -> Offer | None:
        """The one that costs least, then by label."""
        return self.best

    def holding(self, part: int) -> Iterator[Offer]:
        """Those of the node above the label, and those that put values out."""
        if part == self.star:
            yield from (offer for (kind, node), offer in self.found.items() if kind == "star" or node == 0)
            return
        above = self._above(part)
        keys = [("node", above), ("set", above), ("star", part)]
        yield from (self.found[key] for key in keys if key in self.found and part in self.found[key].parts)

    def count(self) -> int:
        """How many valid generalizations there are."""
        return len(self.found)

    def take(self, offer: Offer) -> int:
        """Make a node, a set, or put a value out."""
        new = offer.node if offer.kind == "node" else self.used
        self.used += offer.kind != "node"
        touched = {"node": self._made, "set": self._gathered, "star": self._put_out}[offer.kind](offer, new)
        self.join(offer.parts, new)
        for node in touched:
            self._refresh(node)
        self._stars(offer.parts)
        self._choose()
        return new

    def mark(self, offer: Offer) -> Mark:
        """A node by itself; a set, or a value that is put out, by the values that it had."""
        return self._marked(offer, self.now)

    def _marked(self, offer: Offer, now: Codes) -> Mark:
        if offer.kind == "node":
            return offer.kind, offer.node, b""
        held = offer.parts[:1] if offer.kind == "star" else offer.parts
        return offer.kind, offer.node, np.isin(now, held).tobytes()

    def offered(self, mark: Mark) -> Offer | None:
        """The node; else the one of all that holds the same values."""
        kind, node, _ = mark
        if kind == "node":
            return self.found.get((kind, node))
        now = self.now
        some = (offer for offer in self.found.values() if (offer.kind, offer.node) == (kind, node))
        return next((offer for offer in some if self._marked(offer, now) == mark), None)

    def again(self, marks: Sequence[Mark]) -> set[Mark]:
        """Step by step."""
        taken_marks = set()
        for mark in marks:
            if (offer := self.offered(mark)) is not None:
                self.take(offer)
                taken_marks.add(mark)
        return taken_marks

    def cut(self) -> ColumnCut:
        """The nodes in use; with sets or ``*`` beside others, all labels as they are."""
        now, nodes = self.now, len(self.tree.labels)
        used, places = np.unique(now, return_inverse=True)
        if not self.out.any() and all(part < nodes or self.node[part] in self.own for part in used):
            return cut_of_nodes(self.tree, self.node[now])
        names = [self.labels[part] for part in used]
        labels = [
            name if names.count(name) == 1 else f"{name} ({self.tree.labels[self._above(int(part))]})"
            for name, part in zip(names, used, strict=True)
        ]
        return ColumnCut(
            labels=tuple(labels),
            of_code=places.reshape(-1).astype(np.int32),
            sizes=self.sizes[used],
            steps=self.steps[used],
            sets=frozenset(place for place, name in enumerate(names) if used[place] >= nodes and name[:1] == "{"),
        )

    def _above(self, part: int) -> int:
        """The node below which a label is."""
        return int(self.tree.parent[part]) if part < len(self.tree.labels) else int(self.node[part])

    def _made(self, offer: Offer, new: int) -> list[int]:
        self.state[new], self.part[new] = LIVE, new
        self.own.pop(new, None)
        del self.found["node", new]
        self.found.pop(("set", new), None)
        self.star = -1 if new == 0 else self.star
        return [int(self.tree.parent[new])] if new else []

    def _gathered(self, offer: Offer, new: int) -> list[int]:
        children = self._children_of(offer.parts, offer.node)
        self.state[children], self.part[children], self.node[new] = HELD, new, offer.node
        self.named(new, offer.label, *self._set_size(children))
        return [offer.node]

    def _put_out(self, offer: Offer, new: int) -> list[int]:
        part = offer.parts[0]
        above = self._above(part)
        if self.own.get(above) == part:
            del self.own[above]
            self._lost_below(above, 1.0)
        else:
            children = self._children_of([part], above)
            self.state[children] = GONE
            self._lost_below(above, float(sum(self.tree.sizes[child] - self.out[child] for child in children)))
            self.out[children] = self.tree.sizes[children]
        self.star, self.node[new] = new, 0
        self.named(new, TOP, self.hierarchy.total, float(self.hierarchy.height))
        touched = [0, above]
        while above > 0 and above not in self.own and all(self.state[c] == GONE for c in self.tree.children[above]):
            self.state[above] = GONE
            self._lost_below(above, float(self.tree.sizes[above] - self.out[above]))
            above = int(self.tree.parent[above])
            touched.append(above)
        while above > 0:
            above = int(self.tree.parent[above])
            touched.append(above)
        return touched

    def _lost_below(self, node: int, leaves: float) -> None:
        """So many leaves more below a node are put out: no label above stands for them any more, but for ``*``."""
        while node > 0:
            self.out[node] += leaves
            self.sizes[node] = self.tree.sizes[node] - self.out[node]
            self.prices[node] = self.price(self.sizes[[node]])[0]
            node = int(self.tree.parent[node])

    def _children_of(self, parts: Sequence[int], node: int) -> list[int]:
        """The children of a node that some labels stand for."""
        held = (LIVE, HELD)
        return [c for c in self.tree.children[node] if self.state[c] in held and self.part[c] in parts]

    def _set_size(self, children: Sequence[int]) -> tuple[float, float]:
        """How much a set of children covers, and how high it lies."""
        size = float(self.sizes[list(children)].sum())
        return size, climbed(self.hierarchy, size)

    def _units(self, node: int) -> list[int]:
        """The labels just below a node, in order."""
        own = [self.own[node]] if node in self.own else []
        held = (int(self.part[c]) for c in self.tree.children[node] if self.state[c] in (LIVE, HELD))
        return list(dict.fromkeys((*own, *held)))

    def _refresh(self, node: int) -> None:
        """Find out anew what can be made of the labels just below a node."""
        self.found.pop(("node", node), None)
        self.found.pop(("set", node), None)
        units = self._units(node)
        if units and all(self.state[c] != OPEN for c in self.tree.children[node]) and self.state[node] != GONE:
            parts = units if node or self.star < 0 else [*units, self.star]
            self.found["node", node] = self._offer("node", parts, node, self.labels[node], float(self.prices[node]))
        if self.partial and len(units) > 1:
            self._pair(node, units)

    def _pair(self, node: int, units: Sequence[int]) -> None:
        """The two siblings that cost least together, if there are others beside them."""
        missing = -1 if self.hierarchy.missing is None else int(self.first[self.hierarchy.missing])
        inside = [unit for unit in units if unit not in (missing, self.own.get(node))]
        left, right = np.triu_indices(len(inside), 1)
        sizes = self.sizes[inside][left] + self.sizes[inside][right]
        costs = self.scale.paired(self.counts[inside], self.prices[inside], left, right, self.price(sizes))
        for place in np.argsort(np.round(costs, DECIMALS), kind="stable").tolist():
            parts = [inside[left[place]], inside[right[place]]]
            children = self._children_of(parts, node)
            label = listed([self.tree.labels[c] for c in children])
            if label is not None and (len(children) < len(self.tree.children[node]) or node in self.own):
                self.found["set", node] = self._offer("set", parts, node, label, float(self.price(sizes[[place]])[0]))
                return

    def _stars(self, replaced: Sequence[int] = ()) -> None:
        """Find out anew which values can be put out: every label, together with those that are out already."""
        for part in replaced:
            self.found.pop(("star", part), None)
        if not self.suppress:
            return
        for part in np.flatnonzero(self.live).tolist():
            if part not in (0, self.star):
                parts = [part] if self.star < 0 else [part, self.star]
                rare = (int(self.counts[part].sum()), self.labels[part])
                price = float(self.prices[0])
                self.found["star", part] = self._offer("star", parts, self._above(part), TOP, price, rare)

    def _offer(
        self, kind: str, parts: Sequence[int], node: int, label: str, price: float, rare: tuple[int, str] = (0, "")
    ) -> Offer:
        chosen = list(parts)
        cost = self.scale.joined(self.counts[chosen], self.prices[chosen], price)
        order = (label, _KINDS.index(kind), node, *rare)
        return Offer(column=self.column, kind=kind, parts=tuple(chosen), cost=cost, label=label, order=order, node=node)

    def _choose(self) -> None:
        self.best = min(self.found.values(), key=lambda offer: (round(offer.cost, DECIMALS), offer.order), default=None)
