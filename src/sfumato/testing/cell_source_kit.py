"""The kit that every source of cells must pass: domains, cells, tallies and mapped rows equal a plain recount.

``check_cell_source`` is given a source and a table with the same rows, and counts these one by one in plain Python;
``check_added_cells`` deals the rows to several sources and adds them. ``BrokenCells`` is raised where a source counts
otherwise, loses a missing value, or offers what it does not have. ``mixed_table`` has what sources tend to get wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.kinds import infer_kind
from sfumato.data.table import Table, as_text
from sfumato.describe.domains import ObservedDomain, widened
from sfumato.ground.chance import Chance
from sfumato.ground.errors import SfumatoError
from sfumato.group.added_cells import AddedCells
from sfumato.group.cell_source import CellMapping, CellSource
from sfumato.group.classes import Classes

Texts = dict[str, list[str | None]]
"""What each row says in each column; None where it says nothing."""


class BrokenCells(AssertionError):
    """A source does not count what is there."""


def mixed_table(rows: int = 60, *, seed: int = 0) -> Table:
    """Codes with leading zeros, whole numbers, reals and days; with nulls, and with a text that means nothing."""
    rng = Chance(seed=seed).generator()
    drawn: dict[str, list[Any]] = {
        "zip": rng.choice(["02139", "02142", "10598", "?"], rows).tolist(),
        "age": [None if one == 5 else int(one) for one in rng.integers(0, 12, rows)],
        "pay": [None if one == 3 else float(one) + 0.5 for one in rng.integers(0, 6, rows)],
        "born": [date(1990 + int(one), 1, 31) for one in rng.integers(0, 5, rows)],
        "ill": [(None, "?", "flu", 'it\'s "it"', "no, none")[one] for one in rng.integers(0, 5, rows)],
    }
    return Table(frame=pl.DataFrame(drawn), missing=("?", "n/a"))


def check_cell_source(source: CellSource, table: Table) -> None:
    """Run every check; the table has the same rows, in any order."""
    _check_shape(source, table)
    for name in table.names:
        check_domain(source.domain(name), table)
    check_counts(source, table)
    check_complete(source, table)
    check_apply(source, table)
    check_texts(source, table)
    check_singles(source, table)
    check_doubled(source, table)
    for name in table.names:
        check_domain(source.domain(name, "text"), table, declared="text")


def check_added_cells(make: Callable[[Table], CellSource], table: Table, *, parts: int = 3, seed: int = 0) -> None:
    """The rows dealt at random to several sources, added up, are the whole; one part may have none of a value."""
    order = Chance(seed=seed).generator().permutation(table.rows)
    dealt = [replace(table, frame=table.frame[part]) for part in np.array_split(order, min(parts, table.rows))]
    check_cell_source(AddedCells(parts=tuple(map(make, dealt))), table)


def _check_shape(source: CellSource, table: Table) -> None:
    _demand(source.names == table.names, source, f"it has the columns {table.names}, not {source.names}")
    _demand(source.rows == table.rows, source, f"it has {table.rows} rows, not {source.rows}")
    _demand(source.missing == table.missing, source, f"missing values are written {table.missing}")
    types = [(name, source.dtype(name), table.frame[name].dtype) for name in table.names]
    _demand(all(mine == right for _, mine, right in types), source, f"it has the types of the table, not {types}")


def check_domain(found: ObservedDomain, table: Table, declared: Any = None) -> None:
    """The values in the order of their kind, with their counts, and how many rows have none."""
    cells = texts_of(table)[found.column]
    counts = Counter(cell for cell in cells if cell is not None)
    kind = declared or infer_kind(sorted(counts), table.frame[found.column].dtype)
    _demand(found.kind == kind, found.column, f"its kind is {kind}, not {found.kind}")
    values = sorted(counts, key=float) if kind in ("integer", "real") else sorted(counts)
    _demand(list(found.values) == values, found.column, f"its values are {values}, not {list(found.values)}")
    mine = [int(one) for one in found.counts]
    _demand(mine == [counts[one] for one in values], found.column, f"its counts are {counts}, not {mine}")
    absent = cells.count(None)
    _demand(found.absent == absent, found.column, f"{absent} rows have no value, not {found.absent}")
    marker = _marker(table) if absent else None
    _demand(found.missing == marker, found.column, f"a missing value reads {marker!r}, not {found.missing!r}")


def check_counts(source: CellSource, table: Table) -> None:
    """Cells have as many rows, and their tallies as many of each value, as a recount says; also by wider domains."""
    names, counted = table.names[:-2], table.names[-2:]
    quasi, others = _domains(source, names), _domains(source, counted)
    _recounted(source.cells(quasi, others), table, names, counted)
    wider = [_wider(one) if one.kind == "text" else one for one in quasi]
    _recounted(source.cells(wider, others), table, names, counted)
    _recounted(source.cells(quasi[:1]), table, names[:1], ())


def _recounted(found: Classes, table: Table, names: Sequence[str], counted: Sequence[str]) -> None:
    rows = _labelled(table, names)
    keys = [tuple(found.label(place).values()) for place in range(found.count)]
    _demand(found.quasi == tuple(names), found.quasi, f"cells are those of {names}")
    _demand(len(set(keys)) == len(keys), names, "no two cells are the same")
    codes = [tuple(one) for one in found.keys.T.tolist()]
    _demand(codes == sorted(codes), names, "cells come in the order of their codes")
    sizes = dict(zip(keys, found.sizes.tolist(), strict=True))
    _demand(sizes == dict(Counter(rows)), names, "cells have the rows of a recount")
    for name in counted:
        tally = found.tally(name)
        pairs = {
            (keys[owner], tally.values[code]): int(count)
            for owner, code, count in zip(tally.owners, tally.codes, tally.counts, strict=True)
            if count
        }
        right = dict(Counter(zip(rows, (one[0] for one in _labelled(table, [name])), strict=True)))
        _demand(pairs == right, name, f"the tally is that of a recount: {right}, not {pairs}")
        absent = None in texts_of(table)[name]
        _demand((tally.missing is not None) == absent, name, "the tally tells which value is the missing one")
    for place, name in enumerate(names):
        known = [False] * len(found.labels[place]) if found.wild is None else found.wild[place].tolist()
        gone = None in texts_of(table)[name]
        _demand(sum(known) == gone, name, "the missing value, and no other, is marked as unknown")


def check_complete(source: CellSource, table: Table) -> None:
    """Rows with a missing value are left out by all who ask, and by no others."""
    names = [name for name in table.names if None in texts_of(table)[name]]
    for asked in (names, names[:1], []):
        cells = texts_of(table)
        kept = [all(cells[name][row] is not None for name in asked) for row in range(table.rows)]
        rest = replace(table, frame=table.frame.filter(pl.Series(kept, dtype=pl.Boolean)))
        found = source.complete(asked) if asked else source
        _demand(found.rows == rest.rows, source, f"{rest.rows} rows are complete in {asked}, not {found.rows}")
        for name in table.names:
            check_domain(found.domain(name), rest)


def check_apply(source: CellSource, table: Table) -> None:
    """Every row reads as its cell is mapped, with the other columns as they are."""
    names, beside = table.names[:-1], table.names[-1:]
    cells = source.cells(_domains(source, names))
    merged = np.arange(len(cells.labels[0]), dtype=np.int32) % 2
    mapping = CellMapping(
        cells=cells,
        labels=(("even", "odd"), *cells.labels[1:]),
        shown=np.concatenate([merged[cells.keys[:1]], cells.keys[1:]]),
        suppressed=np.arange(cells.count) % 3 == 0,
        unchanged=frozenset(names[1:]),
    )
    found = source.apply(mapping, beside)
    place = {tuple(cells.label(n).values()): n for n in range(cells.count)}
    owner = [place[row] for row in _labelled(table, names)]
    labels = {name: [row[0] for row in _labelled(table, [name])] for name in names}
    right: dict[str, list[Any]] = {names[0]: [("even", "odd")[int(merged[cells.keys[0, n]])] for n in owner]}
    for name in names[1:]:
        cell = table.frame[name]
        right[name] = labels[name] if cell.dtype == pl.String else cell.to_list()
    right |= {name: table.frame[name].to_list() for name in beside}
    mine = Counter(zip(*(found.frame[name].to_list() for name in right), found.suppressed.tolist(), strict=True))
    theirs = Counter(zip(*right.values(), (bool(mapping.suppressed[n]) for n in owner), strict=True))
    _demand(tuple(found.frame.columns) == tuple(right), source, "mapped rows have the columns that were asked for")
    _demand(mine == theirs, source, f"mapped rows are those of a recount; {mine - theirs} should be {theirs - mine}")


def check_texts(source: CellSource, table: Table) -> None:
    """The rows as texts, a missing value by its marker."""
    names = list(table.names)
    mine = Counter(source.texts(names).rows())
    theirs = Counter(_labelled(table, names))
    _demand(mine == theirs, source, f"texts are those of the rows; {mine - theirs} should be {theirs - mine}")


def check_singles(source: CellSource, table: Table) -> None:
    """Single rows are told apart, or that is refused."""
    names = table.names[:2]
    quasi = _domains(source, names)
    if "rows" in source.gives:
        found = source.singles(quasi)
        keys = [tuple(found.label(place).values()) for place in range(found.count)]
        _demand(keys == _labelled(table, names), source, "single rows stand in the order of the table")
        _demand(found.sizes.tolist() == [1] * table.rows, source, "a single row is one row")
        return
    try:
        source.singles(quasi)
    except SfumatoError:
        return
    raise BrokenCells(f"{source!r} breaks: single rows that are not offered are refused")


def check_doubled(source: CellSource, table: Table) -> None:
    """Added to itself, a source has everything twice."""
    names, both = table.names[:2], AddedCells(parts=(source, source))
    once, twice = (one.cells(_domains(one, names)) for one in (source, both))
    _demand(once.keys.tolist() == twice.keys.tolist(), source, "added to itself it has the same cells")
    _demand((2 * once.sizes).tolist() == twice.sizes.tolist(), source, "added to itself it has twice the rows")


def texts_of(table: Table) -> Texts:
    """The cells as a person would write them, None where a value is missing."""
    found = {name: as_text(table.frame[name]).to_list() for name in table.names}
    text = {name for name in table.names if table.frame[name].dtype == pl.String}
    return {
        name: [None if cell is None or (name in text and cell in table.missing) else cell for cell in cells]
        for name, cells in found.items()
    }


def _labelled(table: Table, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Every row as texts, a missing value by its marker."""
    cells, marker = texts_of(table), _marker(table)
    return list(zip(*([marker if c is None else c for c in cells[name]] for name in names), strict=True))


def _marker(table: Table) -> str:
    return table.missing[0] if table.missing else ""


def _domains(source: CellSource, names: Sequence[str]) -> list[ObservedDomain]:
    return [source.domain(name) for name in names]


def _wider(domain: ObservedDomain) -> ObservedDomain:
    """The domain with a value that no row has, before all others."""
    values = ("!", *domain.values)
    return widened(domain, replace(domain, values=values, counts=np.zeros(len(values), np.int64)))


def _demand(true: bool, who: object, law: str) -> None:
    if not true:
        raise BrokenCells(f"{who!r} breaks: {law}")
