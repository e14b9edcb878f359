"""How a CSV text is divided: its delimiter, its quote, and the records at its head."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sfumato.ground.errors import DataError, ParameterError

if TYPE_CHECKING:
    from _csv import Reader

DELIMITERS = (",", ";", "\t", "|")
_HEAD = 65_536
_SAMPLE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How fields are divided and quoted; both marks are single ASCII characters."""

    delimiter: str
    """What stands between two fields."""
    quote: str | None = '"'
    """What a field with delimiters or line ends in it is wrapped in; None when nothing is wrapped."""
    trim: bool = False
    """Whether blanks around a field are dropped."""

    def __post_init__(self) -> None:
        """Refuse marks that no parser can use."""
        check_mark("delimiter", self.delimiter)
        if self.quote is not None:
            check_mark("quote", self.quote)
        if self.delimiter == self.quote:
            raise ParameterError(f"delimiter and quote must differ, both are {self.quote!r}")

    def records(self, text: str, *, strict: bool = False) -> Reader:
        """The records of the text, one list of fields each; a blank line gives an empty list."""
        return csv.reader(
            io.StringIO(text, newline=""),
            delimiter=self.delimiter,
            quotechar=self.quote,
            quoting=csv.QUOTE_NONE if self.quote is None else csv.QUOTE_MINIMAL,
            skipinitialspace=self.trim and self.delimiter != " ",
            strict=strict,
        )


def check_mark(name: str, mark: object) -> None:
    """A single ASCII character that ends no line, or a refusal."""
    if not isinstance(mark, str) or len(mark) != 1 or not mark.isascii() or mark in "\r\n":
        hint = '; fields divided by ", " are read with delimiter="," and trim=True' if mark == ", " else ""
        raise ParameterError(f"{name} must be a single ASCII character, not {mark!r}{hint}")


def first_record(text: str, dialect: Dialect, *, where: str) -> list[str]:
    """The fields of the first record; a blank line has one, and it is empty."""
    try:
        reader = dialect.records(text[:_HEAD])
        first = next(reader, [])
        if len(text) > _HEAD and next(reader, None) is None:
            first = next(dialect.records(text), [])
        return first or [""]
    except csv.Error as fault:
        raise DataError(f"{where}, line 1: the record cannot be read ({fault}); is a quote left open?") from None


def sniff(text: str, *, quote: str | None) -> str:
    r"""The delimiter that divides the head of the text best; a comma when none divides its first line.

    >>> sniff('name;"a, b, c"\nx;1,5\n', quote='"')
    ';'
    """
    lines = _bare_head(text, quote)
    return max(_others(quote), key=lambda mark: _fit(lines, mark))


def refuse_undivided(text: str, dialect: Dialect, *, where: str) -> None:
    """A text that is one column under this dialect is refused when another delimiter divides it evenly."""
    if len(first_record(text, dialect, where=where)) > 1:
        return
    lines = _bare_head(text, dialect.quote)
    for mark in _others(dialect.delimiter, dialect.quote):
        even, width = _fit(lines, mark)
        if even:
            raise DataError(
                f"{where}: delimiter {dialect.delimiter!r} gives a single column, "
                f"delimiter={mark!r} would give {width} columns"
            )


def _others(*taken: str | None) -> list[str]:
    return [mark for mark in DELIMITERS if mark not in taken]


def _bare_head(text: str, quote: str | None) -> list[str]:
    """The first lines, with a letter in place of every quoted field, so that all marks left do divide."""
    part = text[:_HEAD]
    if quote is not None:
        q, marks = re.escape(quote), re.escape("".join(DELIMITERS))
        quoted = rf"(^|[{marks}]) *{q}(?:[^{q}]|{q}{q})*{q}(?= *(?:[{marks}]|\r?$))"
        part = re.sub(quoted, r"\1x", part, flags=re.MULTILINE)
    lines = part.split("\n")
    return lines[: max(1, min(_SAMPLE, len(lines) - (len(text) > _HEAD)))]


def _fit(lines: Sequence[str], mark: str) -> tuple[bool, int]:
    """Whether nine in ten lines have as many fields as the first, and how many that is."""
    widths = [line.count(mark) + 1 for line in lines]
    return widths[0] > 1 and widths.count(widths[0]) >= 0.9 * len(widths), widths[0]
