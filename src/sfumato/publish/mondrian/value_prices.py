"""What rows cost under one label for the first or last values of a group, and what a cut there tells of the class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.group.keys import Ids
from sfumato.publish.mondrian.group_values import Values
from sfumato.publish.mondrian.ordered_columns import Columns
from sfumato.utility.view import Reals


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """For each value of a group, what a row costs under one label for all values up to it, and from it on."""

    front: Reals
    back: Reals


def priced(made: Columns, column: int, values: Values) -> Costs:
    """The costs of a column."""
    anchors = values.starts[values.at]
    mirrored = (len(values.groups) - 1 - values.at)[::-1]
    lasts = len(values.codes) - values.ends[values.at][::-1]
    codes = values.codes[::-1]
    return Costs(
        _along(made, column, values.at, values.codes, anchors), _along(made, column, mirrored, codes, lasts)[::-1]
    )


def _along(made: Columns, column: int, at: Ids, codes: Ids, anchors: Ids) -> Reals:
    """What the values from the first of each group, its anchor, up to each cost together."""
    kind = made.kinds[column]
    if kind == "levels":
        level = np.zeros(len(codes), np.int64)
        for labels in made.labels:
            own = labels[codes]
            level += own != own[anchors]
        apart = at * (len(made.labels) + 1)
        return np.asarray(made.prices[np.maximum.accumulate(level + apart) - apart, codes])
    if kind == "range":
        apart = at * made.labels.shape[1]
        high = made.place[np.maximum.accumulate(codes + apart) - apart]
        low = made.place[np.minimum.accumulate(codes - apart) + apart]
        return np.asarray(np.minimum(high - low, 1.0))
    steps = np.arange(len(codes)) - anchors
    alone = np.cumsum(made.place[codes] > 1.0)
    alone = alone - (alone - (made.place[codes] > 1.0))[anchors]
    each = made.place[codes].min()
    return np.where(steps == 0, 0.0, np.where(alone > 0, 1.0, np.minimum(steps * each, 1.0)))


def bits(x: Reals) -> Reals:
    """Each number times its logarithm to base 2; 0 for 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(x > 0.0, x * np.log2(x), 0.0))


def informed(values: Values, classes: Reals, whole: Ids) -> tuple[Reals, Reals]:
    """What cuts after and inside every value tell about the class, in bits per row."""
    rows = whole[values.groups][values.at].astype(np.float64)
    upto = np.cumsum(classes, axis=0)
    upto -= (upto - classes)[values.starts][values.at]
    every = upto[values.ends - 1][values.at]
    before = values.upto - values.rows
    told = []
    for inside in range(2):
        share = (
            np.minimum(np.maximum((rows.astype(np.int64) + 1) // 2 - before, 0) / values.rows, 1.0) if inside else 1.0
        )
        cut = before + share * values.rows
        known = bits(rows) - bits(cut) - bits(rows - cut)
        for k in range(classes.shape[1]):
            left = upto[:, k] - classes[:, k] + share * classes[:, k]
            known = known + bits(left) + bits(every[:, k] - left) - bits(every[:, k])
        told.append(np.asarray(np.maximum(known / rows, 0.0)))
    return told[0], told[1]
