"""One specialization: of a value in every partition that has it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.events import Event
from sfumato.publish.diffgen.diffgen_noise import Mechanisms
from sfumato.publish.diffgen.emptiness import Occupied, empty_that_pass, passing, threshold
from sfumato.publish.diffgen.leaf_partitions import Partitions
from sfumato.publish.diffgen.node_column import TreeColumn
from sfumato.publish.diffgen.number_column import NumberColumn
from sfumato.publish.diffgen.set_column import SetColumn

AnyColumn = TreeColumn | NumberColumn | SetColumn
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A value of the cut of a column: of sets, a node."""

    column: int
    value: int


def specialize(column: TreeColumn | NumberColumn, at: Candidate, parts: Partitions) -> tuple[int, ...]:
    """Divide the partitions by the child values; no record decides anything here."""
    child_of = column.child_of(at.value)
    values = column.split(at.value)
    parts.split(at.column, at.value, values, child_of)
    return values


def specialize_sets(
    column: SetColumn, at: Candidate, parts: Partitions, share: Fraction, most: int, mechanisms: Mechanisms
) -> Event:
    """Divide the partitions by subsets of the child nodes, and keep those that pass the noisy test."""
    has = column.having(parts.keys[at.column], at.value)
    owners, filled = np.flatnonzero(has), np.flatnonzero(has & (parts.places >= 0))
    first, last = (0 if at.value == 0 else 1), (1 << len(column.below(at.value))) - 1
    found = parts.walk.refine(column.division(at.value, parts.places[filled])).occupied()
    occupied = Occupied(parent=(np.cumsum(has) - 1)[filled[found.owner]], mask=found.child)
    least = threshold(share, len(owners) * (last + 1 - first), most - parts.count)
    noisy = mechanisms.count(found.counts.sum(axis=1), share, f"non-empty parts of {column.names[at.value]}")
    kept = np.flatnonzero(noisy.values >= least)
    empty = empty_that_pass(occupied, first, last, len(owners), passing(share, least), mechanisms.waits)
    parent = np.concatenate([owners[occupied.parent[kept]], owners[empty.parent]])
    mask = np.concatenate([occupied.mask[kept], empty.mask])
    others = np.flatnonzero(~has)
    parents = np.concatenate([parent, others])
    order = np.lexsort((np.append(mask, np.zeros(len(others), np.int64)), parents))
    keys = parts.keys[at.column][parents].copy()
    keys[: len(parent)] = column.values_of(keys[: len(parent)], mask, at.value)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    passed = found.kept(noisy.values >= least)
    parts.replace(parents[order].astype(np.int32), at.column, keys[order], has, passed, place[: len(kept)])
    return noisy.event
