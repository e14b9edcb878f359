"""Small tables with hierarchies and a class column, and every node of their lattice as a metric sees it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.table import Table
from sfumato.describe.domains import ObservedDomain
from sfumato.describe.hierarchy import Hierarchy
from sfumato.describe.paths import Paths
from sfumato.describe.ranges import Intervals
from sfumato.group.cells import cells
from sfumato.group.classes import Classes
from sfumato.utility.view import Ruler, View, measures

JOBS = {
    "cook": ("food", "hands"),
    "baker": ("food", "hands"),
    "smith": ("metal", "hands"),
    "clerk": ("paper", "heads"),
    "judge": ("paper", "heads"),
}
SIZES = (1, 2, 6, 14, 25)
"""How many rows the small tables have."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MetricTable:
    """The cells of a table, and what its columns can be generalized to."""

    cells: Classes
    """The finest classes, with the class column counted and with what metrics need of the original."""
    hierarchies: tuple[Hierarchy, ...]
    """One per column."""
    target: str
    """The class column."""

    @classmethod
    def of(cls, frame: pl.DataFrame, builders: dict[str, Paths | Intervals], target: str) -> MetricTable:
        """The columns that have a hierarchy, and the class."""
        table = Table(frame=frame)
        quasi = [table.column(name) for name in builders]
        grouped = cells(quasi, [table.column(target)]).classes
        trees = tuple(builders[one.name].build(ObservedDomain.of(one)) for one in quasi)
        return cls(cells=replace(grouped, measures=measures(grouped)), hierarchies=trees, target=target)

    @property
    def counts(self) -> list[NDArray[np.int64]]:
        """Rows per value of each column."""
        sizes = self.cells.sizes
        return [
            np.bincount(codes, weights=sizes, minlength=len(h.levels[0].labels)).astype(np.int64)
            for codes, h in zip(self.cells.keys, self.hierarchies, strict=True)
        ]

    def classes(self, levels: tuple[int, ...]) -> tuple[Classes, NDArray[np.int64]]:
        """The classes of a node, and where each cell went."""
        chosen = [h.levels[n] for h, n in zip(self.hierarchies, levels, strict=True)]
        return self.cells.recoded([level.parent for level in chosen], [level.labels for level in chosen])

    def view(self, levels: tuple[int, ...], hidden: NDArray[np.bool_]) -> View:
        """A node as a metric sees it; ``hidden`` are the suppressed cells, those of whole classes."""
        classes, ids = self.classes(levels)
        suppressed = np.zeros(classes.count, np.bool_)
        suppressed[ids[hidden]] = True
        rulers = tuple(Ruler.at(h, n) for h, n in zip(self.hierarchies, levels, strict=True))
        return View(classes=classes, suppressed=suppressed, rulers=rulers, target=self.target)


def small_tables(rng: np.random.Generator) -> Iterator[MetricTable]:
    """Tables of a few rows: a tree, a range of real numbers and a column that is shown or not."""
    builders: dict[str, Paths | Intervals] = {
        "job": Paths(paths=JOBS),
        "pay": Intervals(widths=(25, 50), low=0, high=100),
        "sex": Paths(paths={"f": (), "m": ()}),
    }
    for rows in SIZES:
        frame = pl.DataFrame(
            {
                "job": rng.choice(list(JOBS), rows).tolist(),
                "pay": (rng.integers(0, 8, rows) * 12.5).tolist(),
                "sex": rng.choice(["f", "m"], rows).tolist(),
                "class": rng.choice(["yes", "no", "maybe"], rows).tolist(),
            }
        )
        yield MetricTable.of(frame, builders, "class")
