"""A part of a large release for attacks: whole groups that are drawn at random, and the people behind them.

A random sample of single rows would make every group look smaller than it is, and attacks stronger than they are. So
groups are drawn, each with the same chance, until so many rows are reached, and every row of them is taken. A group of
more rows than that is never drawn: whoever is in it is one of more people than the sample has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.describe.hierarchy import TOP
from sfumato.ground.brief import Brief
from sfumato.ground.chance import Chance
from sfumato.group.cell_source import CellMapping
from sfumato.group.classes import Classes
from sfumato.group.keys import distinct

if TYPE_CHECKING:
    from sfumato.engines.engine_source import EngineSource
    from sfumato.workflow.kinds.table.table_release import TableRelease

ROWS = 100_000
"""How many released rows are attacked at most where they stay in files."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SampledGroups(Brief):
    """Some whole groups of a release."""

    rows: pl.DataFrame
    """Their released rows, as texts."""
    people: CellMapping
    """Which rows of the original are theirs: all others are suppressed in it."""
    told: str
    """What a reader must know about attacks on them."""


def sampled_groups(made: TableRelease, chance: Chance, *, most: int = ROWS) -> SampledGroups | None:
    """Random groups with at most so many rows together; None where every group is larger."""
    chosen = drawn_groups(made.classes, chance, most=most)
    if made.parts is None or chosen is None:
        return None
    rows = whole_groups(made.parts.source, made.classes, chosen)
    return SampledGroups(rows=rows, people=_behind(made, chosen), told=told_sample(made.classes, chosen, made.height))


def drawn_groups(classes: Classes, chance: Chance, *, most: int = ROWS) -> NDArray[np.bool_] | None:
    """Which groups are drawn, each with the same chance, so that they have at most so many rows together."""
    order = chance.generator().permutation(np.flatnonzero(classes.sizes <= most))
    drawn = order[classes.sizes[order].cumsum() <= most]
    chosen = np.zeros(classes.count, np.bool_)
    chosen[drawn] = True
    return chosen if len(drawn) else None


def whole_groups(source: EngineSource, classes: Classes, chosen: NDArray[np.bool_]) -> pl.DataFrame:
    """All released rows of some groups, as texts."""
    missing = [source.domain(name, "text").missing is not None for name in classes.quasi]
    plain = replace(classes, wild=tuple(map(_last, map(len, classes.labels), missing)))
    shown = CellMapping(cells=plain, labels=plain.labels, shown=plain.keys, suppressed=~chosen)
    return source.texts(source.names, shown)


def told_sample(classes: Classes, chosen: NDArray[np.bool_], rows: int) -> str:
    """What a reader must know about attacks on some groups of so many rows."""
    return (
        f"on {int(classes.sizes[chosen].sum()):,} of {rows:,} released rows: {int(chosen.sum()):,} of "
        f"{classes.count:,} groups, drawn at random and whole; the intervals are about these groups"
    )


def _last(labels: int, missing: bool) -> NDArray[np.bool_]:
    """Which label means a missing value: the last one, where there is any."""
    return np.asarray(np.arange(labels) == (labels - 1 if missing else -1))


def _behind(made: TableRelease, chosen: NDArray[np.bool_]) -> CellMapping:
    """The mapping of the release, in which every cell that is not in a chosen group is suppressed."""
    mapping, starred = made.recoding.mapping, made.recoding.rows == "star"
    group = _groups(mapping, made.classes, starred=starred)
    inside = (group >= 0) & chosen[group] & (starred | ~mapping.suppressed)
    return replace(mapping, suppressed=~inside)


def _groups(mapping: CellMapping, classes: Classes, *, starred: bool) -> NDArray[np.int64]:
    """The released group that each cell is in, -1 for none."""
    keys = []
    for place, labels in enumerate(classes.labels):
        number = {label: code for code, label in enumerate(labels)}
        of_label = np.array([number.get(label, -1) for label in mapping.labels[place]], np.int32)
        code = of_label[mapping.shown[place]]
        keys.append(np.where(mapping.suppressed & starred, np.int32(number.get(TOP, -1)), code))
    known = np.flatnonzero((np.stack(keys) >= 0).all(axis=0))
    joint = np.concatenate([classes.keys, np.stack(keys)[:, known].astype(np.int32)], axis=1)
    ids, count = distinct(list(joint), [len(labels) for labels in classes.labels], joint.shape[1])
    place_of = np.full(count, -1, np.int64)
    place_of[ids[: classes.count]] = np.arange(classes.count)
    found = np.full(mapping.cells.count, -1, np.int64)
    found[known] = place_of[ids[classes.count :]]
    return found
