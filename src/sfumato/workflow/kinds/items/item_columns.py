"""What became of the columns of a release of paths and sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sfumato.group.transactions import Transactions
from sfumato.publish.items.item_problem import ItemOutcome
from sfumato.publish.items.item_space import ItemSpace
from sfumato.workflow.kinds.items.item_preparing import ItemPrepared


@dataclass(frozen=True, slots=True, kw_only=True)
class RecodedColumn:
    """How many items of a column there were and are, and what coarser ones stand for; no name of one left out."""

    name: str
    """The column."""
    kind: str
    """Whether it has paths, sets, or the cells of a table."""
    items: int
    """Different items before."""
    shown: int
    """Different items after."""
    entries_before: int
    """Items of all records together, before."""
    entries: int
    """And after."""
    coarser: Mapping[str, int]
    """How many original items, or pairs of values, each coarser one stands for."""
    within: Mapping[str, str]
    """For each item the next wider one that stands for it in other records, where there is one."""


def column_of(space: ItemSpace, outcome: ItemOutcome) -> tuple[Transactions, tuple[str, ...]]:
    """What the records show of one column, and what its items are called."""
    first = outcome.shown.first
    shown = np.flatnonzero((first >= space.begin) & (first < space.begin + space.count))
    low, high = (int(shown[0]), int(shown[-1]) + 1) if len(shown) else (0, 0)
    whole = outcome.transactions
    part = whole.only((whole.codes >= low) & (whole.codes < high))
    labels = whole.labels[low:high]
    return replace(part, codes=part.codes - np.int32(low), labels=labels), labels


def recoded(prepared: ItemPrepared, outcome: ItemOutcome, space: ItemSpace) -> RecodedColumn:
    """What became of one quasi-identifier."""
    part, labels = column_of(space, outcome)
    original = prepared.problem.transactions.codes
    supports = np.bincount(part.codes, minlength=len(labels))
    spread = dict(zip(outcome.shown.labels, outcome.shown.spread.tolist(), strict=True))
    names = [label.removeprefix(f"{space.name}=") if space.closed else label for label in labels]
    seen = [(name, label) for name, label, many in zip(names, labels, supports, strict=True) if many]
    over = dict(zip(outcome.shown.labels, outcome.shown.over.tolist(), strict=True))
    called = dict(zip(labels, names, strict=True))
    return RecodedColumn(
        name=space.name,
        kind="table" if space.closed else prepared.items[space.name].kind,
        items=space.count,
        shown=len(seen),
        entries_before=int(((original >= space.begin) & (original < space.begin + space.count)).sum()),
        entries=len(part.codes),
        coarser={name: spread[label] for name, label in seen if spread[label] > 1},
        within={name: called[outcome.shown.labels[over[label]]] for name, label in seen if over[label] >= 0},
    )
