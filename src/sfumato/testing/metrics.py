"""The kit that every utility metric must pass, on every node of small lattices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import isfinite, nan
from typing import get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.randomness import Chance
from sfumato.counts.classes import Classes
from sfumato.counts.local_table import cells
from sfumato.metrics.metric import Direction, Loss, Metric, Reals, Ruler, View, measures
from sfumato.tables.hierarchy import Hierarchy
from sfumato.tables.hierarchy_builders import Intervals
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Table

# Small tables with hierarchies and a class column, and every node of their lattice as a metric sees it.


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
        trees = tuple(builders[column.name].build(ObservedDomain.of(column)) for column in quasi)
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


# The kit that every utility metric must pass: its ends, its range, its bounds, and that it reads what it declares.
#
# A metric is tried on every node of the lattice of small tables, with nothing, something and everything suppressed. It
# is never given more than it declares in ``needs``. ``BrokenMetric`` is raised where it breaks its word: a search that
# prunes by a wrong bound would call something proven that is not.


Levels = tuple[int, ...]
Mask = NDArray[np.bool_]
MakeTables = Callable[[np.random.Generator], Iterable[MetricTable]]
_NEAR = 1e-9


class BrokenMetric(AssertionError):
    """A metric does not do what every metric does, or what it declares."""


def check_metric(make: Callable[[], Metric], make_tables: MakeTables = small_tables, *, seed: int = 0) -> int:
    """Run every check over the tables that ``make_tables`` yields; tells how many tables there were.

    >>> from sfumato.metrics.information_loss import NCP
    >>> check_metric(NCP, lambda rng: list(small_tables(rng))[:1])
    1
    """
    metric, rng, count = make(), Chance(seed=seed).generator(), 0
    check_record(metric)
    for table in make_tables(rng):
        check_lattice(metric, table, rng)
        count += 1
    return count


def check_record(metric: Metric) -> None:
    """A metric says what it is called, which side is better, its range, and what it reads."""
    _demand(metric, bool(metric.name) and metric.direction in get_args(Direction), "it has a name and a direction")
    _demand(metric, metric.low < metric.high, "its lowest value is below its highest")
    _demand(metric, isinstance(metric.needs, tuple), "needs is a tuple of names")


def check_lattice(metric: Metric, table: MetricTable, rng: np.random.Generator) -> None:
    """Run every check over one table."""
    tried = Tried(metric=metric, table=table, rng=rng)
    for check in CHECKS:
        check(tried)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Point:
    """A node with some rows suppressed, as the metric judges it."""

    levels: Levels
    """The level of each column."""
    hidden: Mask
    """Which cells of the table are suppressed: those of whole classes."""
    loss: Loss
    """What the metric says."""
    value: float
    """What it measures."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Tried:
    """A metric on one table."""

    metric: Metric
    """The metric."""
    table: MetricTable
    """The table."""
    rng: np.random.Generator
    """Which classes are suppressed."""

    @cached_property
    def nodes(self) -> list[Levels]:
        """Every node of the lattice."""
        return list(product(*(range(h.height + 1) for h in self.table.hierarchies)))

    @cached_property
    def points(self) -> list[Point]:
        """Every node with nothing, with some classes and with everything suppressed."""
        return [self.at(levels, hidden) for levels in self.nodes for hidden in self._suppressions(levels)]

    def _suppressions(self, levels: Levels) -> Iterator[Mask]:
        count, (_, ids) = self.table.cells.count, self.table.classes(levels)
        yield np.zeros(count, np.bool_)
        yield (self.rng.random(count) < self.rng.random())[ids]
        yield np.ones(count, np.bool_)

    def at(self, levels: Levels, hidden: Mask) -> Point:
        """What the metric says about a node, given what it declares and nothing else."""
        view = self.table.view(levels, hidden)
        given = declared(view, self.metric.needs)
        try:
            loss, value = self.metric.loss(given), self.metric.measure(given)
        except Exception as error:  # whatever a metric does without what it did not declare
            raise BrokenMetric(f"{self.metric!r} fails with what it declares: {error!r}") from error
        figures = (value, loss.value, loss.coarser, loss.surcharge)
        self.demand(all(map(isfinite, figures)), f"figures are finite with what it declares, not {figures}")
        self.demand(_near(value, self.metric.measure(view)), "what it declares suffices: more changes nothing")
        return Point(levels=levels, hidden=hidden, loss=loss, value=value)

    def floor(self, levels: Levels) -> float | None:
        """What the metric says a node loses without suppression, if it can say so before counting."""
        floors = self._floors
        return None if floors is None else sum(float(floor[n]) for floor, n in zip(floors, levels, strict=True))

    @cached_property
    def _floors(self) -> list[Reals] | None:
        trees = [h if "sizes" in self.metric.needs else _unsized(h) for h in self.table.hierarchies]
        return self.metric.floors(trees, self.table.counts)

    def demand(self, true: bool, law: str) -> None:
        """Raise where something does not hold."""
        _demand(self.metric, true, law)


def check_needs(tried: Tried) -> None:
    """Everything that it reads is something that a release can offer."""
    known = {"target", "sizes", "steps", *tried.table.cells.measures}
    strange = sorted(set(tried.metric.needs) - known)
    tried.demand(not strange, f"a release offers what it needs ({', '.join(sorted(known))}), not {strange}")


def check_range(tried: Tried) -> None:
    """No value is below the lowest or above the highest."""
    low, high = tried.metric.low - _NEAR, tried.metric.high + _NEAR
    for point in tried.points:
        tried.demand(low <= point.value <= high, f"{point.value} lies between {tried.metric.low} and {high:g}")


def check_ends(tried: Tried) -> None:
    """Nothing done costs the minimum, everything suppressed the maximum; losses and values rank alike."""
    sign = 1 if tried.metric.direction == "lower" else -1
    points = sorted(tried.points, key=lambda point: point.loss.value)
    untouched = next(point for point in tried.points if not any(point.levels) and not point.hidden.any())
    gone = [point for point in tried.points if point.hidden.all()]
    tried.demand(_most(untouched.loss.value, points[0].loss.value), "nothing done costs the minimum")
    tried.demand(
        all(_most(points[-1].loss.value, point.loss.value) for point in gone), "all suppressed costs the maximum"
    )
    best, worst = (f(sign * point.value for point in points) for f in (min, max))
    tried.demand(_most(sign * untouched.value, best), "nothing done has the best value")
    tried.demand(all(_most(worst, sign * point.value) for point in gone), "all suppressed has the worst value")


def check_coarser(tried: Tried) -> None:
    """No node above loses less than ``coarser``, whatever is suppressed there."""
    for low in (point for point in tried.points if not point.hidden.all()):
        for high in (
            point for point in tried.points if point.levels != low.levels and _above(point.levels, low.levels)
        ):
            law = f"no node above loses less: {low.levels} says {low.loss.coarser}, {high.levels} {high.loss.value}"
            tried.demand(_most(low.loss.coarser, high.loss.value), law)


def check_surcharge(tried: Tried) -> None:
    """No node below that suppresses the same rows loses less than its floor and ``surcharge``."""
    for high in (point for point in tried.points if point.hidden.any() and not point.hidden.all()):
        for levels in (node for node in tried.nodes if _above(high.levels, node)):
            low = tried.at(levels, high.hidden)
            bound = (tried.floor(levels) or 0.0) + high.loss.surcharge
            law = f"no node below loses less: {high.levels} says {bound}, {levels} {low.loss.value}"
            tried.demand(_most(bound, low.loss.value), law)


def check_floors(tried: Tried) -> None:
    """A floor, where there is one, is what the node loses without suppression."""
    for point in (point for point in tried.points if not point.hidden.any()):
        floor = tried.floor(point.levels)
        law = f"the floor of {point.levels} is its loss {point.loss.value}, not {floor}"
        tried.demand(floor is None or _near(floor, point.loss.value), law)


CHECKS = (check_needs, check_range, check_ends, check_coarser, check_surcharge, check_floors)


def declared(view: View, needs: Sequence[str]) -> View:
    """The release with what is named in ``needs``; every other size, count and measure is gone."""
    classes: Classes = replace(
        view.classes,
        tallies={n: t for n, t in view.classes.tallies.items() if "target" in needs and n == view.target},
        measures={n: m for n, m in view.classes.measures.items() if n in needs},
    )
    rulers = view.rulers
    if "sizes" not in needs:
        rulers = tuple(replace(ruler, sizes=np.full(len(ruler.sizes), nan), total=nan) for ruler in rulers)
    if "steps" not in needs:
        rulers = tuple(replace(ruler, steps=np.full(len(ruler.steps), nan)) for ruler in rulers)
    return replace(view, classes=classes, rulers=rulers, target=view.target if "target" in needs else None)


def _unsized(hierarchy: Hierarchy) -> Hierarchy:
    levels = tuple(replace(level, sizes=np.full(len(level.sizes), nan)) for level in hierarchy.levels)
    return replace(hierarchy, levels=levels, total=nan)


def _above(high: Levels, low: Levels) -> bool:
    return all(a >= b for a, b in zip(high, low, strict=True))


def _most(value: float, other: float) -> bool:
    """Whether one is no more than another, but for rounding."""
    return value <= other + _NEAR * max(1.0, abs(other))


def _near(value: float, other: float) -> bool:
    return _most(value, other) and _most(other, value)


def _demand(metric: Metric, true: bool, law: str) -> None:
    if not true:
        raise BrokenMetric(f"{metric!r} breaks: {law}")
