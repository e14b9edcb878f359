"""Tables and hand-made mechanisms for the tests of DiffGen."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.algorithms.diffgen.partitions import AnyColumn, Partitions
from sfumato.algorithms.diffgen.specialization import column_of
from sfumato.algorithms.private_table import Attribute, Mechanisms, PrivateTable, Scores, grid_cells
from sfumato.counts.local_cuts import CodedColumn, CodedRows
from sfumato.dp.accounting import Cost
from sfumato.dp.events import Pure
from sfumato.dp.noise import Noisy
from sfumato.tables.taxonomy import Taxonomy, taxonomy

Coded = tuple[Attribute, CodedColumn]
JOBS = taxonomy(
    [("Professional", "Engineer"), ("Professional", "Lawyer"), ("Artist", "Dancer"), ("Artist", "Writer")],
    {},
    total=4.0,
    height=2,
)
JOB = ("Engineer", "Lawyer", "Dancer", "Writer")
CODES = taxonomy([("1*", "11"), ("1*", "12"), ("2*", "21"), ("2*", "22")], {}, total=4.0, height=2)
CODE = ("11", "12", "21", "22")
G7: tuple[tuple[str, int, tuple[str, ...], str], ...] = (
    ("Engineer", 34, ("11", "12", "21", "22"), "Y"),
    ("Lawyer", 50, ("12", "22"), "N"),
    ("Engineer", 38, ("12",), "N"),
    ("Lawyer", 33, ("11", "12"), "Y"),
    ("Dancer", 20, ("12",), "Y"),
    ("Writer", 37, ("11",), "N"),
    ("Writer", 32, ("11", "12", "21", "22"), "Y"),
    ("Dancer", 25, ("12", "21", "22"), "N"),
)


def of_tree(name: str, tree: Taxonomy, values: tuple[str, ...], found: Sequence[str]) -> Coded:
    codes = np.array([values.index(one) for one in found], np.int32)
    return Attribute(name=name, kind="tree", values=values, tree=tree), CodedColumn(codes=codes, size=len(values))


def of_numbers(name: str, low: float, high: float, grid: float, found: Sequence[float]) -> Coded:
    cells = grid_cells(low, high, grid)
    codes = np.array([min(int((x - low) // grid), cells - 1) for x in found], np.int32)
    values = tuple(str(low + n * grid) for n in range(cells))
    made = Attribute(name=name, kind="number", values=values, low=low, high=high, grid=grid)
    return made, CodedColumn(codes=codes, size=cells)


def of_sets(name: str, tree: Taxonomy, values: tuple[str, ...], found: Sequence[Sequence[str]]) -> Coded:
    codes = np.array([values.index(one) for row in found for one in row], np.int32)
    starts = np.concatenate([[0], np.cumsum([len(row) for row in found])]).astype(np.int64)
    made = Attribute(name=name, kind="set", values=values, tree=tree)
    return made, CodedColumn(codes=codes, size=len(values), starts=starts)


def table_of(found: Sequence[Coded], classes: Sequence[str], kinds: Sequence[int], name: str | None) -> PrivateTable:
    """A table of attributes with the values of its rows, and their classes."""
    rows = CodedRows(columns=tuple(codes for _, codes in found), counted={name or "": np.array(kinds, np.int32)})
    attributes = tuple(attribute for attribute, _ in found)
    return PrivateTable(attributes=attributes, classes=tuple(classes), counts=rows, target_name=name)


def behind(table: PrivateTable) -> CodedRows:
    """The rows of a table."""
    assert isinstance(table.counts, CodedRows)
    return table.counts


def columns_of(table: PrivateTable) -> list[AnyColumn]:
    """The attributes as a search sees them at its beginning."""
    walk = table.counts.root(table.figures)
    return [column_of(one, place, walk) for place, one in enumerate(table.attributes)]


def of_row(table: PrivateTable, parts: Partitions) -> list[int]:
    """The partition of every row; -1 where it is no longer followed."""
    numbers = parts.walk.cell_parts()[behind(table).cells[0]]
    place = {number: n for n, number in enumerate(parts.places.tolist()) if number >= 0}
    return [place.get(number, -1) for number in numbers.tolist()]


def private(rows: Sequence[tuple[Any, ...]], *, which: Sequence[str] = ("job", "age", "codes")) -> PrivateTable:
    """Rows of job, age, codes and class over the declared domains of the thesis's example."""
    jobs, ages, sets, kinds = zip(*rows, strict=True) if rows else ((), (), (), ())
    made = {
        "job": of_tree("job", JOBS, JOB, jobs),
        "age": of_numbers("age", 18, 65, 1, ages),
        "codes": of_sets("codes", CODES, CODE, sets),
    }
    return table_of([made[name] for name in which], ("N", "Y"), ["NY".index(kind) for kind in kinds], "class")


def exact(counts: Any, cost: Cost) -> Noisy:
    """Counts without noise, paid for all the same."""
    if isinstance(cost, Pure):
        return Noisy(values=counts, event=cost, scale=float(1 / cost.epsilon), law="laplace")
    return Noisy(values=counts, event=cost, scale=float(1 / (2 * cost.rho)) ** 0.5, law="gaussian")


def loud(counts: Any, cost: Cost) -> Noisy:
    """Counts without noise, but every test of emptiness is passed."""
    return exact(counts if "counts" in cost.what else counts + 10**6, cost)


def best(scores: Scores, cost: Cost) -> int:
    """The first of the highest scores."""
    return int(np.argmax(scores.values))


def never(number: int, rate: Fraction) -> Any:
    """No empty partition passes."""
    return np.array([2**61])


def always(number: int, rate: Fraction) -> Any:
    """Every empty partition passes."""
    return np.zeros(max(number, 1), np.int64)


def injected(**given: Any) -> Mechanisms:
    """Mechanisms without any randomness."""
    return Mechanisms(**{"choose": best, "count": exact, "waits": never, **given})


def wanting(*wishes: str) -> Any:
    """A way to choose that follows a list of places, first for first."""
    left = [int(wish) for wish in wishes]

    def choose(scores: Scores, cost: Cost) -> int:
        return left.pop(0)

    return choose
