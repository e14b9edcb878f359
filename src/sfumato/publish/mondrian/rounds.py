"""Round by round, every open group is cut in two; a cut that a model refuses is taken back, and the next one tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.ground.work import Work
from sfumato.group.classes import Classes
from sfumato.group.keys import Ids, total
from sfumato.models.judge import judge
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.verdict import Model
from sfumato.publish.mondrian.cutting import Knife
from sfumato.publish.mondrian.lookahead import tried_out
from sfumato.publish.mondrian.slices import Marks, Slices
from sfumato.publish.problem import Problem

_CUT = 4
"""Steps to weigh the cuts of one column of one cell."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groups:
    """Groups of cells, and what it took to find them."""

    ids: Ids
    """The group of each cell."""
    count: int
    """How many groups there are."""
    rounds: int
    """How often the open groups were cut."""
    refused: int
    """How many cuts a model refused."""


def divided(problem: Problem, knife: Knife, order: Ids, ahead: int, work: Work) -> Groups:
    """Cut all cells, in the given order, into groups that cannot be cut any more.

    Groups of at most ``ahead`` rows try cuts out to the end.
    """
    judged = [model for model in problem.models if not isinstance(model, KAnonymity)]
    waiting, done = Slices.of(np.zeros(1, np.int64), np.full(1, len(order))), [order[:0]]
    rounds = refused = 0
    while waiting.count and not work.expired:
        rounds += 1
        work.spend(_CUT * len(problem.hierarchies) * int(waiting.lengths.sum()))
        fresh = waiting.numbers < 0
        moved = order.copy()
        knife(order, moved, waiting)
        small = fresh & waiting.cut
        if ahead and small.any():
            small &= _rows(problem.cells.sizes[order], waiting) <= ahead
            tried_out(knife, order, moved, waiting, small)
        done.append(waiting.ends[0, ~waiting.cut])
        waiting = waiting.take(waiting.cut)
        back = _refused(problem, judged, moved, waiting)
        again = waiting.take(back)
        refused += again.count
        moved[again.places] = order[again.places]
        order, waiting = moved, again + waiting.take(~back).halves()
        work.advance("cut", len(order) - int(waiting.lengths.sum()), len(order))
    starts = np.sort(np.concatenate([*done, waiting.ends[0]]))
    ids = np.empty(len(order), np.int64)
    ids[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    return Groups(ids=ids, count=len(starts), rounds=rounds, refused=refused)


def _rows(sizes: Ids, groups: Slices) -> Ids:
    """How many rows each group has; ``sizes`` in the cells' order."""
    upto = np.append(0, np.cumsum(sizes))
    return np.asarray(upto[groups.ends[1]] - upto[groups.ends[0]])


def _refused(problem: Problem, models: Sequence[Model], order: Ids, groups: Slices) -> Marks:
    """Which cuts leave a part that some model does not allow."""
    failing = np.zeros(2 * groups.count, np.bool_)
    if models and groups.count:
        places, lengths = groups.places, groups.lengths
        parts = np.full(len(order), -1, np.int64)
        second = places >= np.repeat(groups.ends[2], lengths)
        parts[order[places]] = 2 * np.repeat(np.arange(groups.count), lengths) + second
        classes = _parts(problem.cells, models, parts, 2 * groups.count)
        for model in models:
            failing[judge(model, classes, problem.reading).failing] = True
    return np.asarray(failing[0::2] | failing[1::2])


def _parts(cells: Classes, models: Sequence[Model], parts: Ids, count: int) -> Classes:
    """The parts as classes, with the columns that models look at; cells of no part (-1) only count for the whole."""
    inside = parts >= 0
    wanted = dict.fromkeys(name for model in models for name in model.columns)
    return replace(
        cells,
        quasi=(),
        keys=np.zeros((0, count), np.int32),
        labels=(),
        sizes=total(parts[inside], cells.sizes[inside], count),
        tallies={name: cells.compared(name).merged(parts, count) for name in wanted},
        measures={},
        wild=None,
        population=None,
        people=None if cells.people is None else cells.people.moved(parts),
    )
