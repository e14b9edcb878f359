"""Local recoding: records that look alike make a part, and every part shows its items as coarse as it alone needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.work import Work
from sfumato.group.transactions import Transactions, ragged
from sfumato.publish.items.apriori import mended
from sfumato.publish.items.cover import Cover
from sfumato.publish.items.gray import gray_order
from sfumato.publish.items.item_problem import ItemOutcome, ItemProblem, ItemStep
from sfumato.publish.items.nested_labels import nested

_RECODE = 100
"""Steps per entry to recode a part."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recoded:
    """Some records with their own recoding."""

    rows: NDArray[np.int64]
    """The records, in Gray order."""
    cover: Cover
    """How their items are shown."""
    steps: tuple[ItemStep, ...]
    """The decisions."""
    lost: float
    """The sum over entries of the share of the column that each is blurred to."""


def locally(problem: ItemProblem, work: Work, *, parts: int, smallest: int) -> ItemOutcome:
    """Cut the records in Gray order into parts and show each part as the apriori-based algorithm does it alone.

    Claim: if every part is k^m-anonymous, so are all records together, also for an adversary who counts every record
        whose labels cover what is known. Proof: let q be at most m original items, and let some record r of the release
        cover it. The labels Y of r that cover items of q are at most m. r stands in a part P, where at least k records
        show all of Y, because P is k^m-anonymous. All of them cover q. So whoever knows q finds no record or at least
        k; and not none, unless an item of their target was left out.
    How: with ``parts`` given, so many parts of equal size. Otherwise the parts are halves, quarters, ... of the records
        down to ``smallest``; from the smallest on, two halves stay apart where they lose less apart than together. So
        what is lost is never more than with one part, which is global recoding.
    Source: Terrovitis, Mamoulis, Kalnis 2011, section 5 (LRA), which cuts parts of one size.
    """
    order = gray_order(problem.transactions, problem.spaces)
    if parts:
        cut = [_recoded(problem, rows, work) for rows in np.array_split(order, parts)]
    else:
        cut = list(_halved(problem, order, smallest, work))
    return _outcome(problem, cut)


def _halved(problem: ItemProblem, rows: NDArray[np.int64], smallest: int, work: Work) -> Iterator[Recoded]:
    """The parts of these rows that lose least: all together, or the best parts of both halves."""
    whole = _recoded(problem, rows, work)
    middle = len(rows) // 2
    if middle < smallest or not whole.lost or work.expired:
        yield whole
        return
    apart = [part for half in (rows[:middle], rows[middle:]) for part in _halved(problem, half, smallest, work)]
    yield from apart if sum(part.lost for part in apart) < whole.lost else [whole]


def _recoded(problem: ItemProblem, rows: NDArray[np.int64], work: Work) -> Recoded:
    records = some(problem.transactions, rows)
    work.spend(_RECODE * len(records.codes))
    cover, steps, _ = mended(replace(problem, transactions=records), work)
    shown = cover.shown()
    to = shown.to[records.codes]
    lost = float(np.where(to < 0, 1.0, shown.penalty[to] if len(shown.penalty) else 1.0).sum())
    return Recoded(rows=rows, cover=cover, steps=tuple(steps), lost=lost)


def some(records: Transactions, rows: NDArray[np.int64]) -> Transactions:
    """Some of the records."""
    sizes = records.starts[rows + 1] - records.starts[rows]
    starts = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    return replace(records, starts=starts, codes=records.codes[ragged(records.starts, rows)])


def _outcome(problem: ItemProblem, parts: Sequence[Recoded]) -> ItemOutcome:
    """The records of all parts, in the order of the original, with one numbering of labels."""
    records = problem.transactions
    nodes = np.full(len(records.codes), -1, np.int64)
    for part in parts:
        places = ragged(records.starts, part.rows)
        shown = np.concatenate([own[0] for own in part.cover.nodes])
        nodes[places] = np.where(part.cover.left_out, -1, shown)[records.codes[places]]
    shown, placed = nested(problem, nodes)
    row_of, kept = records.row_of.astype(np.int64), placed >= 0
    many = max(len(shown.labels), 1)
    row, codes = np.divmod(np.unique(row_of[kept] * many + placed[kept]), many)
    starts = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=records.rows), dtype=np.int64)))
    now = replace(records, starts=starts, codes=codes.astype(np.int32), labels=shown.labels)
    return ItemOutcome(
        shown=shown,
        transactions=now,
        stripped=np.flatnonzero((placed < 0) & (shown.to[records.codes] >= 0)),
        steps=tuple(step for part in parts for step in part.steps),
        effort={"parts": len(parts), "smallest part": min(len(part.rows) for part in parts)},
        placed=placed,
    )
