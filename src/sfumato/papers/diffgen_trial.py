"""Adult over declared domains, released by DiffGen, and how well a tree learns from such a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.describe.domains import ObservedDomain
from sfumato.describe.hierarchy import Hierarchy
from sfumato.describe.paths import Paths
from sfumato.group.coded_column import CodedColumn
from sfumato.group.coded_rows import CodedRows
from sfumato.papers.inputs import CLASS, RANGES, RICH, adult_data
from sfumato.publish.noisy_table import Attribute, NoisyTable, PrivateTable, grid_cells
from sfumato.utility.learners import ends_read, feature_rows, learnt, values_read
from sfumato.utility.view import Reals
from sfumato.workflow.plan.builders import builder

CLASSES = ("<=50K", RICH)
TREES = "diffgen_adult.hchy"
GRIDS: Mapping[str, float] = {"fnlwgt": 10_000, "capital-gain": 500, "capital-loss": 100}
"""The declared grids that are coarser than 1."""
Range = tuple[float, float, float]
"""The ends of a number, and its grid."""
Domains = Mapping[str, Hierarchy | Range]


def domains(names: list[str]) -> Domains:
    """For each attribute, its tree over all declared leaves, or its range and grid."""
    found: dict[str, Hierarchy | Range] = {}
    for name in names:
        if name in RANGES:
            low, high = RANGES[name]
            found[name] = (float(low), float(high), float(GRIDS.get(name, 1)))
            continue
        tree = builder(adult_data().tree(name, TREES), name, Path())
        assert isinstance(tree, Paths)
        values = tuple(tree.paths)
        none = np.zeros(len(values), np.int64)
        found[name] = tree.build(ObservedDomain(column=name, kind="category", values=values, counts=none))
    return found


def attribute(name: str, column: pl.Series, domain: Hierarchy | Range) -> tuple[Attribute, CodedColumn]:
    """A column over its declared domain."""
    if isinstance(domain, Hierarchy):
        values = domain.levels[0].labels
        codes = column.cast(pl.Enum(list(values))).to_physical().to_numpy().astype(np.int32)
        made = Attribute(name=name, kind="tree", values=values, tree=domain.tree())
        return made, CodedColumn(codes=codes, size=len(values))
    low, high, grid = domain
    cells = grid_cells(low, high, grid)
    codes = np.clip((column.to_numpy() - low) // grid, 0, cells - 1).astype(np.int32)
    values = tuple(f"{low + n * grid:g}" for n in range(cells))
    made = Attribute(name=name, kind="number", values=values, low=low, high=high, grid=grid)
    return made, CodedColumn(codes=codes, size=cells)


def private(frame: pl.DataFrame, given: Domains) -> PrivateTable:
    """Rows over their declared domains; income is the class."""
    found = [attribute(name, frame[name], domain) for name, domain in given.items()]
    kinds = frame[CLASS].cast(pl.Enum(list(CLASSES))).to_physical().to_numpy().astype(np.int32)
    return PrivateTable(
        attributes=tuple(one for one, _ in found),
        classes=CLASSES,
        counts=CodedRows(columns=tuple(codes for _, codes in found), counted={CLASS: kinds}),
        target_name=CLASS,
    )


def behind(table: PrivateTable) -> tuple[list[np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    """The codes of every column, and the class of every row."""
    assert isinstance(table.counts, CodedRows)
    return [one.codes for one in table.counts.columns], table.counts.counted[CLASS]


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """Two thirds to publish, one third to test on."""

    given: Domains
    """The declared domains."""
    train: PrivateTable
    """What is published."""
    test: PrivateTable
    """What is predicted."""

    def raw(self) -> float:
        """The accuracy of a tree on the raw values."""
        means = [self.values(one) for one in self.train.attributes]
        model = learnt(_told(self.train, means), behind(self.train)[1].astype(np.int64), "tree", 0)
        return float((model.predict(_told(self.test, means)) == behind(self.test)[1]).mean())

    def majority(self) -> float:
        """The accuracy of the most frequent class."""
        return float((behind(self.test)[1] == np.bincount(behind(self.train)[1]).argmax()).mean())

    def accuracy(self, made: NoisyTable) -> float:
        """That of a tree learnt from the expanded release, on test rows generalized in the same way."""
        means = [self._labels(one, place, made) for place, one in enumerate(self.train.attributes)]
        rows = np.repeat(np.arange(made.keys.shape[1]), made.counts.sum(axis=1))
        kinds = np.repeat(np.tile(np.arange(len(CLASSES)), made.keys.shape[1]), made.counts.ravel())
        if not len(rows):
            return self.majority()
        model = learnt(feature_rows(means, list(made.keys[:, rows]), len(rows)), kinds, "tree", 0)
        cuts = [cut for cut in made.cut if cut is not None]
        codes, kinds = behind(self.test)
        keys = [cut.of_code[one] for one, cut in zip(codes, cuts, strict=True)]
        return float((model.predict(feature_rows(means, keys, len(kinds))) == kinds).mean())

    def values(self, one: Attribute) -> Reals:
        """Codes x features: a number as it is, a value by the nodes above it."""
        domain = self.given[one.name]
        if isinstance(domain, Hierarchy):
            return values_read(domain, None, "tree")
        return np.array([one.edge(n) for n in range(len(one.values))])[:, None]

    def _labels(self, one: Attribute, place: int, made: NoisyTable) -> Reals:
        """Labels x features: the ends of intervals, the shares of a node's leaves under every other node."""
        cut = made.cut[place]
        assert cut is not None
        cover = np.equal.outer(np.arange(len(cut.labels)), cut.of_code).astype(np.float64)
        cover /= cover.sum(axis=1, keepdims=True)
        values = self.values(one)
        return ends_read(cover, values[:, 0]) if one.kind == "number" else cover @ values


def trial_of(frame: pl.DataFrame, train: np.ndarray[Any, np.dtype[np.bool_]]) -> Trial:
    """A trial on some of the rows; the others are tested."""
    given = domains([name for name in frame.columns if name != CLASS])
    rows = pl.Series(train)
    return Trial(given=given, train=private(frame.filter(rows), given), test=private(frame.filter(~rows), given))


@cache
def adult_trial() -> Trial:
    """Adult's complete records: the first two thirds to publish, the others to test on."""
    data = adult_data()
    return trial_of(data.frame, np.arange(data.frame.height) < data.training)


def _told(rows: PrivateTable, means: list[Reals]) -> Reals:
    codes, kinds = behind(rows)
    return feature_rows(means, codes, len(kinds))
