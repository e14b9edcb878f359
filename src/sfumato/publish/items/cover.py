"""How every item is shown: as itself, as a node above it, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.publish.items.item_space import ItemSpace


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
        found, label = [], int(self.to[item])
        while label >= 0:
            found.append(label)
            label = int(self.over[label])
        return found


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
