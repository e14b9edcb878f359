"""One specialization: of a value in every partition that has it."""

from __future__ import annotations

import numpy as np

from sfumato.budget.events import Pure
from sfumato.publish.diffgen.class_tables import Candidate
from sfumato.publish.diffgen.emptiness import Emptiness, Occupied, Sieve, threshold
from sfumato.publish.diffgen.leaf_partitions import Partitions
from sfumato.publish.diffgen.node_column import TreeColumn
from sfumato.publish.diffgen.number_column import NumberColumn
from sfumato.publish.diffgen.set_column import SetColumn
from sfumato.publish.looking import Mechanisms

AnyColumn = TreeColumn | NumberColumn | SetColumn


def specialize(column: TreeColumn | NumberColumn, at: Candidate, parts: Partitions) -> tuple[int, ...]:
    """Divide the partitions by the child values; no record decides anything here."""
    child_of = column.child_of(at)
    values = column.split(at)
    parts.split(at.column, at.value, values, child_of)
    return values


def specialize_sets(
    column: SetColumn, at: Candidate, parts: Partitions, cost: Pure, most: int, mechanisms: Mechanisms, sieve: Sieve
) -> None:
    """Divide the partitions by subsets of the child nodes, and keep those that pass the noisy test."""
    has = column.having(parts.keys[at.column], at.value)
    owners, filled = np.flatnonzero(has), np.flatnonzero(has & (parts.places >= 0))
    first, last = column.masks(at.value)
    found = parts.walk.refine(column.division(at.value, parts.places[filled])).occupied()
    occupied = Occupied(parent=(np.cumsum(has) - 1)[filled[found.owner]], mask=found.child)
    least = threshold(cost.epsilon, len(owners) * (last + 1 - first), most - parts.count)
    asked = Emptiness(parents=len(owners), first=first, last=last, least=least, cost=cost)
    passed = sieve(occupied, found.counts.sum(axis=1), asked, mechanisms)
    others = np.flatnonzero(~has)
    parents = np.concatenate([owners[passed.parent], others])
    order = np.lexsort((np.append(passed.mask, np.zeros(len(others), np.int64)), parents))
    keys = parts.keys[at.column][parents].copy()
    keys[: len(passed.mask)] = column.values_of(keys[: len(passed.mask)], passed.mask, at.value)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    numbers, wanted = (one.parent.astype(np.int64) * (last + 1) + one.mask for one in (occupied, passed))
    kept = np.isin(numbers, wanted)
    at_new = place[np.searchsorted(wanted, numbers[kept])]
    parts.replace(parents[order].astype(np.int32), at.column, keys[order], has, found.kept(kept), at_new)
