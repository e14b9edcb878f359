"""Joint classes of linked rows, straight from the definition: nested tuples, one person at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.counts.linked_rows import Link

Rows = Sequence[Mapping[str, Any]]


def seen(
    row: Mapping[str, Any],
    table: str,
    tables: Mapping[str, Rows],
    links: Sequence[Link],
    quasi: Mapping[str, Sequence[str]],
    counted: bool,
) -> Any:
    """What is seen of a row: its labels, and table by table what is seen of the rows that name it."""
    below = []
    for link in sorted(links, key=lambda one: one.table):
        if link.to_table == table:
            rows = [one for one in tables[link.table] if one[link.column] == row[link.to_column]]
            kinds = [seen(one, link.table, tables, links, quasi, counted) for one in rows]
            below.append((link.table, tuple(sorted(Counter(kinds).items(), key=repr)) if counted else frozenset(kinds)))
    return (tuple(row[name] for name in quasi[table]), tuple(below))


def smallest_joint_class(
    root: str, tables: Mapping[str, Rows], links: Sequence[Link], quasi: Mapping[str, Sequence[str]], counted: bool
) -> int:
    """How many people the smallest joint class has."""
    return min(Counter(seen(row, root, tables, links, quasi, counted) for row in tables[root]).values())
