"""What a missing cell may stand for, literally."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.brute.models import Key, Row, Rows, classes


def matching(rows: Rows, quasi: Sequence[str], missing: str = "?") -> dict[Key, list[Row]]:
    """For each class, the rows that could be taken for one of its own: equal, or unknown on either side."""

    def match(row: Row, key: Key) -> bool:
        return all(row[q] == a or missing in (row[q], a) for q, a in zip(quasi, key, strict=True))

    return {key: [row for row in rows if match(row, key)] for key in classes(rows, quasi)}


def completions(rows: Rows, column: str, missing: str = "?") -> Iterator[list[Row]]:
    """The rows with all missing values of a column taken for one known value, each in turn."""
    for value in sorted({row[column] for row in rows} - {missing}):
        yield [{**row, column: value if row[column] == missing else row[column]} for row in rows]


def known(rows: Rows, column: str, missing: str = "?") -> list[Row]:
    """The rows that say what they have in a column."""
    return [row for row in rows if row[column] != missing]
