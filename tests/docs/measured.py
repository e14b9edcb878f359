"""Tables that stand both in the docs and in RESULTS.md: which they are, and whether they agree.

A table of the docs that repeats one of RESULTS.md has a mark above it:

    <!-- measured: DiffGen by records -->

names the table by the beginning of its title; every column of the docs must be one of its columns, and every row one of
its rows. With a column in the mark,

    <!-- measured, k = 5: Loss on Adult, 4%; Average class size -->

each column of the docs after the first is that column of one table. ``<!-- measured in words -->`` is for a table that
sums up instead of repeating.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Row = tuple[str, ...]
_MARK = re.compile(r"<!-- measured(?P<words> in words)?(?:, (?P<column>[^:]+))?(?:: (?P<titles>.+?))? -->")
_COMMAND = re.compile(r"python benchmarks/")
_REMARK = re.compile(r"^- \(\d+\)$")
"""Nothing, with the number of a remark that stands below."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """A table of a page."""

    title: str
    """The heading that it stands under."""
    mark: str
    """The last comment between the heading or table before and this one."""
    commanded: bool
    """Whether its section names a benchmark's command before it."""
    head: Row
    rows: tuple[Row, ...]


def written_tables(text: str) -> Iterator[Written]:
    """The tables of a page, in order."""
    title, mark, commanded, lines = "", "", False, list[str]()
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            lines.append(line)
            continue
        if lines:
            head, _, *rows = (cells(one) for one in lines)
            yield Written(title=title, mark=mark, commanded=commanded, head=head, rows=tuple(rows))
            mark, lines = "", []
        if line.startswith("#"):
            title, mark, commanded = line.lstrip("# "), "", False
        commanded = commanded or bool(_COMMAND.search(line))
        mark = line.strip() if _MARK.fullmatch(line.strip()) else mark


def cells(line: str) -> Row:
    """The cells of a line, without the marks of code and quotes; what is left out reads alike everywhere."""
    found = (re.sub(r'[`"*]', "", cell).strip() for cell in line.strip().strip("|").split("|"))
    return tuple("-" if _REMARK.match(cell) else cell for cell in found)


def disagreements(page: str, results: str) -> list[str]:
    """What a page's tables say otherwise than RESULTS.md, and tables that should have a mark and have none."""
    measured = list(written_tables(results))
    found: list[str] = []
    for table in written_tables(page):
        mark = _MARK.fullmatch(table.mark)
        if mark is None:
            repeats = table.head in {one.head for one in measured}
            if repeats or table.commanded:
                found.append(f"the table {table.head} below {table.title!r} has no mark of what it repeats")
        elif mark["titles"]:
            found += _compared(table, measured, mark["titles"].split("; "), mark["column"])
    return found


def _compared(table: Written, measured: Sequence[Written], titles: Sequence[str], column: str | None) -> list[str]:
    sources = []
    for title in titles:
        those = [one for one in measured if one.title.startswith(title)]
        if len(those) != 1:
            return [f"{title!r} begins {len(those)} titles of RESULTS.md, not one"]
        sources.append(those[0])
    return _columns(table, sources, column) if column else _rows(table, sources[0])


def _rows(table: Written, source: Written) -> list[str]:
    """Every row must be a row of the source, in the columns that are shown; where names repeat, the first counts."""
    strange = [name for name in table.head if name not in source.head]
    if strange:
        return [f"{source.title!r} has no column {strange[0]!r}"]
    places = [source.head.index(name) for name in table.head]
    known = {tuple(row[place] for place in places) for row in source.rows}
    return [f"{source.title!r} has no row {row}" for row in table.rows if row not in known]


def _columns(table: Written, sources: Sequence[Written], column: str) -> list[str]:
    """Every column after the first must be one column of its source, row by row."""
    if len(sources) != len(table.head) - 1:
        return [f"the mark names {len(sources)} tables for {len(table.head) - 1} columns"]
    found = []
    for place, source in enumerate(sources, start=1):
        if column not in source.head:
            return [f"{source.title!r} has no column {column!r}"]
        values = {row[0]: row[source.head.index(column)] for row in source.rows}
        found += [
            f"{source.title!r} has {values.get(row[0])} for {row[0]}, {column}, not {row[place]}"
            for row in table.rows
            if values.get(row[0]) != row[place]
        ]
    return found
