"""The kits that every source must pass: of cells, and of counts under a cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
import polars as pl

from sfumato.core.errors import SfumatoError
from sfumato.core.randomness import Chance
from sfumato.counts.added_sources import AddedCells, AddedSources
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids
from sfumato.counts.sources import (
    CellMapping,
    CellSource,
    CutCounts,
    CutSource,
    Divided,
    Division,
    Figure,
    Groups,
    Numbers,
    by_value,
)
from sfumato.tables.schema import ObservedDomain, widened
from sfumato.tables.table import Table, as_text, infer_kind

# The kit that every source of cells must pass: domains, cells, tallies and mapped rows equal a plain recount.
#
# ``check_cell_source`` is given a source and a table with the same rows, and counts these one by one in plain Python;
# ``check_added_cells`` deals the rows to several sources and adds them. ``BrokenCells`` is raised where a source
# counts otherwise, loses a missing value, or offers what it does not have. ``mixed_table`` has what sources tend to
# get wrong.


Texts = dict[str, list[str | None]]
"""What each row says in each column; None where it says nothing."""


class BrokenCells(AssertionError):
    """A source does not count what is there."""


def mixed_table(rows: int = 60, *, seed: int = 0) -> Table:
    """Codes with leading zeros, whole numbers, reals and days; with nulls, and with a text that means nothing."""
    rng = Chance(seed=seed).generator()
    drawn: dict[str, list[Any]] = {
        "zip": rng.choice(["02139", "02142", "10598", "?"], rows).tolist(),
        "age": [None if number == 5 else int(number) for number in rng.integers(0, 12, rows)],
        "pay": [None if number == 3 else float(number) + 0.5 for number in rng.integers(0, 6, rows)],
        "born": [date(1990 + int(number), 1, 31) for number in rng.integers(0, 5, rows)],
        "ill": [(None, "?", "flu", 'it\'s "it"', "no, none")[index] for index in rng.integers(0, 5, rows)],
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


def check_domain(domain: ObservedDomain, table: Table, declared: Any = None) -> None:
    """The values in the order of their kind, with their counts, and how many rows have none."""
    cells = texts_of(table)[domain.column]
    counts = Counter(cell for cell in cells if cell is not None)
    kind = declared or infer_kind(sorted(counts), table.frame[domain.column].dtype)
    _demand(domain.kind == kind, domain.column, f"its kind is {kind}, not {domain.kind}")
    values = sorted(counts, key=float) if kind in ("integer", "real") else sorted(counts)
    _demand(list(domain.values) == values, domain.column, f"its values are {values}, not {list(domain.values)}")
    mine = [int(count) for count in domain.counts]
    _demand(mine == [counts[value] for value in values], domain.column, f"its counts are {counts}, not {mine}")
    absent = cells.count(None)
    _demand(domain.absent == absent, domain.column, f"{absent} rows have no value, not {domain.absent}")
    marker = _marker(table) if absent else None
    _demand(domain.missing == marker, domain.column, f"a missing value reads {marker!r}, not {domain.missing!r}")


def check_counts(source: CellSource, table: Table) -> None:
    """Cells have as many rows, and their tallies as many of each value, as a recount says; also by wider domains."""
    names, counted = table.names[:-2], table.names[-2:]
    quasi, others = _domains(source, names), _domains(source, counted)
    _recounted(source.cells(quasi, others), table, names, counted)
    wider = [_wider(column) if column.kind == "text" else column for column in quasi]
    _recounted(source.cells(wider, others), table, names, counted)
    _recounted(source.cells(quasi[:1]), table, names[:1], ())


def _recounted(classes: Classes, table: Table, names: Sequence[str], counted: Sequence[str]) -> None:
    rows = _labelled(table, names)
    keys = [tuple(classes.label(place).values()) for place in range(classes.count)]
    _demand(classes.quasi == tuple(names), classes.quasi, f"cells are those of {names}")
    _demand(len(set(keys)) == len(keys), names, "no two cells are the same")
    codes = [tuple(key) for key in classes.keys.T.tolist()]
    _demand(codes == sorted(codes), names, "cells come in the order of their codes")
    sizes = dict(zip(keys, classes.sizes.tolist(), strict=True))
    _demand(sizes == dict(Counter(rows)), names, "cells have the rows of a recount")
    for name in counted:
        tally = classes.tally(name)
        pairs = {
            (keys[owner], tally.values[code]): int(count)
            for owner, code, count in zip(tally.owners, tally.codes, tally.counts, strict=True)
            if count
        }
        right = dict(Counter(zip(rows, (row[0] for row in _labelled(table, [name])), strict=True)))
        _demand(pairs == right, name, f"the tally is that of a recount: {right}, not {pairs}")
        absent = None in texts_of(table)[name]
        _demand((tally.missing is not None) == absent, name, "the tally tells which value is the missing one")
    for place, name in enumerate(names):
        known = [False] * len(classes.labels[place]) if classes.wild is None else classes.wild[place].tolist()
        gone = None in texts_of(table)[name]
        _demand(sum(known) == gone, name, "the missing value, and no other, is marked as unknown")


def check_complete(source: CellSource, table: Table) -> None:
    """Rows with a missing value are left out by all who ask, and by no others."""
    names = [name for name in table.names if None in texts_of(table)[name]]
    for columns in (names, names[:1], []):
        cells = texts_of(table)
        kept = [all(cells[name][row] is not None for name in columns) for row in range(table.rows)]
        rest = replace(table, frame=table.frame.filter(pl.Series(kept, dtype=pl.Boolean)))
        result = source.complete(columns) if columns else source
        _demand(result.rows == rest.rows, source, f"{rest.rows} rows are complete in {columns}, not {result.rows}")
        for name in table.names:
            check_domain(result.domain(name), rest)


def check_apply(source: CellSource, table: Table) -> None:
    """Every row reads as its cell is mapped, with the other columns as they are."""
    names, others = table.names[:-1], table.names[-1:]
    cells = source.cells(_domains(source, names))
    merged = np.arange(len(cells.labels[0]), dtype=np.int32) % 2
    mapping = CellMapping(
        cells=cells,
        labels=(("even", "odd"), *cells.labels[1:]),
        shown=np.concatenate([merged[cells.keys[:1]], cells.keys[1:]]),
        suppressed=np.arange(cells.count) % 3 == 0,
        unchanged=frozenset(names[1:]),
    )
    mapped_rows = source.apply(mapping, others)
    place = {tuple(cells.label(n).values()): n for n in range(cells.count)}
    owner = [place[row] for row in _labelled(table, names)]
    labels = {name: [row[0] for row in _labelled(table, [name])] for name in names}
    right: dict[str, list[Any]] = {names[0]: [("even", "odd")[int(merged[cells.keys[0, n]])] for n in owner]}
    for name in names[1:]:
        cell = table.frame[name]
        right[name] = labels[name] if cell.dtype == pl.String else cell.to_list()
    right |= {name: table.frame[name].to_list() for name in others}
    mine = Counter(
        zip(*(mapped_rows.frame[name].to_list() for name in right), mapped_rows.suppressed.tolist(), strict=True)
    )
    theirs = Counter(zip(*right.values(), (bool(mapping.suppressed[n]) for n in owner), strict=True))
    _demand(
        tuple(mapped_rows.frame.columns) == tuple(right), source, "mapped rows have the columns that were asked for"
    )
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
        classes = source.singles(quasi)
        keys = [tuple(classes.label(place).values()) for place in range(classes.count)]
        _demand(keys == _labelled(table, names), source, "single rows stand in the order of the table")
        _demand(classes.sizes.tolist() == [1] * table.rows, source, "a single row is one row")
        return
    try:
        source.singles(quasi)
    except SfumatoError:
        return
    raise BrokenCells(f"{source!r} breaks: single rows that are not offered are refused")


def check_doubled(source: CellSource, table: Table) -> None:
    """Added to itself, a source has everything twice."""
    names, both = table.names[:2], AddedCells(parts=(source, source))
    once, twice = (cell_source.cells(_domains(cell_source, names)) for cell_source in (source, both))
    _demand(once.keys.tolist() == twice.keys.tolist(), source, "added to itself it has the same cells")
    _demand((2 * once.sizes).tolist() == twice.sizes.tolist(), source, "added to itself it has twice the rows")


def texts_of(table: Table) -> Texts:
    """The cells as a person would write them, None where a value is missing."""
    texts = {name: as_text(table.frame[name]).to_list() for name in table.names}
    text = {name for name in table.names if table.frame[name].dtype == pl.String}
    return {
        name: [None if cell is None or (name in text and cell in table.missing) else cell for cell in cells]
        for name, cells in texts.items()
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


# The kit that every source of counts under a cut must pass: what it counts must fit together.
#
# ``check_cut_counts`` takes random steps from the root and raises ``BrokenSource`` where counts do not add up;
# ``check_same_counts`` walks two sources side by side; ``check_added`` compares parts with the whole.


_STEPS = 4
_NEAR = 1e-9


class BrokenSource(AssertionError):
    """The counts of a source do not fit together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Domains:
    """What is public about a source."""

    sizes: Sequence[int]
    """How many values each column has."""
    figures: Sequence[Figure]
    """What is counted."""
    sets: Collection[int] = ()
    """The places of those columns that have sets."""

    def division(self, column: int, parts: Ids | None, dice: np.random.Generator) -> Division:
        """A division by random children."""
        many = int(dice.integers(1, 4))
        low, children = (-1, 1 << many) if column in self.sets else (0, many)
        child_of = dice.integers(low, many, self.sizes[column]).astype(np.int32)
        return Division(column=column, parts=parts, child_of=child_of, children=children)


def check_cut_counts(source: CutSource, domains: Domains, *, seed: int = 1) -> None:
    """Take random steps; all counts must add up to those before, and another walk must not notice."""
    walk, other = source.root(domains.figures), source.root(domains.figures)
    total, whole = walk.total(), [walk.histogram(by_value(c, domains.sizes[c])) for c in _plain(domains)]
    for table in whole:
        _demand_counts(_equal(table[0].sum(axis=0), total), "a histogram adds up to the total")
    for divided, parts, before in _steps(walk, domains, seed):
        _check_division(divided, before)
        _demand_counts(
            _equal(divided.counts, _of_parts(walk, domains, parts)), "after a step, counts are those foretold"
        )
        _check_groups(walk, domains.division(0, parts, Chance(seed=seed).generator()))
    again = [walk.histogram(by_value(c, domains.sizes[c])) for c in _plain(domains)]
    _demand_counts(all(map(_equal, whole, again)), "steps change nothing about all records together")
    _demand_counts(
        _equal(_of_parts(other, domains, np.zeros(1, np.int64))[0], total), "another walk has its own partitions"
    )
    _check_dropped(other, domains, seed)


def check_same_counts(source: CutSource, other: CutSource, domains: Domains, *, seed: int = 1) -> None:
    """Two sources of the same records answer alike, step by step."""
    first, second = source.root(domains.figures), other.root(domains.figures)
    _demand_counts(_equal(first.total(), second.total()), "the same total")
    pairs = zip(_steps(first, domains, seed), _steps(second, domains, seed), strict=True)
    for (mine, _, _), (theirs, _, _) in pairs:
        _demand_counts(np.array_equal(mine.keys, theirs.keys), "the same pairs")
        _demand_counts(_equal(mine.counts, theirs.counts), "the same counts")


def check_added(parts: Sequence[CutSource], whole: CutSource, domains: Domains, *, seed: int = 1) -> None:
    """Sources that are added up are the source of all their records."""
    added = AddedSources(sources=tuple(parts))
    check_cut_counts(added, domains, seed=seed)
    check_same_counts(added, whole, domains, seed=seed)


def _steps(walk: CutCounts, domains: Domains, seed: int) -> Iterator[tuple[Divided, Ids, Numbers]]:
    """Divide all partitions, again and again: what was divided, the new numbers, and the counts before."""
    dice = Chance(seed=seed).generator()
    parts, numbers, before = np.zeros(1, np.int64), 1, walk.total()[None]
    for _ in range(_STEPS):
        division = domains.division(int(dice.integers(len(domains.sizes))), parts, dice)
        divided = walk.refine(division).occupied()
        places = divided.places(numbers)
        walk.apply(divided, places)
        numbers = max(numbers, int(places.max(initial=0)) + 1)
        yield divided, places, before
        parts, before = places, divided.counts


def _check_division(divided: Divided, before: Numbers) -> None:
    """The pairs of a partition add up to it; they stand in order, and within the children that there are."""
    sums = np.zeros_like(before)
    np.add.at(sums, divided.owner, divided.counts)
    _demand_counts(_equal(sums, before), "the children of a partition add up to it")
    _demand_counts(bool((np.diff(divided.keys) > 0).all()), "pairs stand in order, each once")
    _demand_counts(bool((divided.child < divided.division.children).all()), "children are those that were named")
    _demand_counts(bool((divided.counts >= 0).all()), "no count is negative")


def _check_dropped(walk: CutCounts, domains: Domains, seed: int) -> None:
    """Pairs that go to -1, or are not named, are no longer followed."""
    division = domains.division(0, np.zeros(1, np.int64), Chance(seed=seed).generator())
    divided = walk.refine(division).occupied()
    turn = np.arange(len(divided.owner)) % 3
    named, places = divided.kept(turn != 2), divided.places(1)[turn != 2]
    places[turn[turn != 2] == 1] = -1
    walk.apply(named, places)
    kept = places >= 0
    _demand_counts(
        _equal(_of_parts(walk, domains, places[kept]), named.counts[kept]), "what is not dropped is as it was"
    )
    everything = np.unique(np.append(places[kept], 0))
    _demand_counts(
        _equal(_of_parts(walk, domains, everything).sum(axis=0), named.counts[kept].sum(axis=0)), "drops are gone"
    )


def _check_groups(walk: CutCounts, division: Division) -> None:
    """A histogram is a division, densely; partitions can be counted together."""
    dense = walk.histogram(division)
    _demand_counts(_equal(dense, walk.refine(division).dense()), "a histogram is a division, densely")
    group = Groups(of=(np.arange(division.count) % 2).astype(np.int32), count=2)
    summed = np.stack([dense[group.of == n].sum(axis=0) for n in range(2)])
    _demand_counts(_equal(walk.histogram(division, group), summed), "partitions counted together are their sum")


def _of_parts(walk: CutCounts, domains: Domains, parts: Ids) -> Numbers:
    """Partitions x figures."""
    whole = Division(column=0, parts=parts, child_of=_nothing(domains), children=1)
    return walk.histogram(whole)[:, 0]


def _nothing(domains: Domains) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Everything is one child: number 0, or of sets no bit."""
    return np.full(domains.sizes[0], -1 if 0 in domains.sets else 0, np.int32)


def _plain(domains: Domains) -> list[int]:
    return [c for c in range(len(domains.sizes)) if c not in domains.sets]


def _equal(counts: Numbers, other: Numbers) -> bool:
    return counts.shape == other.shape and bool(np.allclose(counts, other, rtol=_NEAR, atol=_NEAR))


def _demand_counts(kept: bool, what: str) -> None:
    if not kept:
        raise BrokenSource(f"broken: {what}")
