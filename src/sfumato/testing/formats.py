"""The kit that every file format must pass: what is written is read back, and broken bytes are refused in words.

A format that only reads brings an example, bytes and their frame. ``BrokenFormat`` is raised where a column, a row or a
cell is not what was written, or where bytes make a reader fail in any other way than by ``DataError``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from sfumato.core.errors import DataError
from sfumato.core.randomness import Chance
from sfumato.tables.files import Format, read

Example = tuple[bytes, pl.DataFrame]
"""Bytes of a format, and what stands in them."""
TEXTS = pl.DataFrame(
    {
        "zip": ["02139", "10598", "02142"],
        "said": ['she said "no"', "a, b; c", "two\nlines"],
        "größe": ["1,80", " 1.75 ", "?"],
    }
)
"""Cells that readers tend to change: leading zeros, quotes, separators, line ends, blanks, letters beyond ASCII."""
TYPED = pl.DataFrame(
    {
        "age": [1, None, -3],
        "pay": [0.1, 2.5, None],
        "born": [date(1990, 1, 31), None, date(2000, 2, 29)],
        "married": [True, False, None],
        "name": ["é", None, "02139"],
    }
)
"""Cells with types and without a value."""


class BrokenFormat(AssertionError):
    """A format does not give back what it was given, or fails on bytes that are not its own."""


def check_format(form: Format, examples: Sequence[Example] = ()) -> None:
    """Run every check; ``examples`` are needed where nothing can be written.

    >>> from sfumato.tables.files import FORMATS
    >>> check_format(FORMATS[0])
    """
    _demand(bool(form.name) and bool(form.extensions), form, "it has a name and extensions")
    ends = [end for end in form.extensions if not end.startswith(".") or end != end.lower()]
    _demand(not ends, form, f"extensions are written small and with their dot, not {ends}")
    written = [*examples, *_written(form)]
    _demand(bool(written), form, "a format that only reads is checked by examples")
    for data, frame in written:
        check_read(form, data, frame)
        check_broken(form, data)


def _written(form: Format) -> Iterator[Example]:
    """What the format writes, twice the same."""
    if form.write is None:
        return
    for frame in (TEXTS, TEXTS[:1], *(() if form.text else (TYPED, TYPED.select("age", "born")))):
        data = form.write(frame, None)
        _demand(data == form.write(frame.clone(), None), form, "equal frames give equal bytes")
        yield data, frame


def check_read(form: Format, data: bytes, frame: pl.DataFrame) -> None:
    """The frame is read back from its bytes: columns, types, rows and cells."""
    try:
        result = _read(form, data)
    except DataError as error:
        raise BrokenFormat(f"{form.name} breaks: its own bytes are refused, {error}") from error
    _demand(result.columns == frame.columns, form, f"the columns are {frame.columns}, not {result.columns}")
    _demand(result.dtypes == frame.dtypes, form, f"the types are {frame.dtypes}, not {result.dtypes}")
    _demand(result.rows() == frame.rows(), form, f"the rows are {frame.rows()}, not {result.rows()}")


def check_broken(form: Format, data: bytes) -> None:
    """Bytes that are cut off, changed or of something else are refused, or are read as some table."""
    for wrong in _wrong(data):
        try:
            _read(form, wrong)
        except DataError:
            continue
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            raise BrokenFormat(
                f"{form.name} breaks: {wrong[:40]!r} is refused with DataError, not {error!r}"
            ) from error


def _wrong(data: bytes) -> Iterator[bytes]:
    rng = Chance(seed=0).generator()
    yield from (b"", b"\n", b"\x00" * 64, b"\x1f\x8b\x08", b"PAR1PAR1", rng.bytes(200), rng.bytes(3), b"\xff\xfe\xfa")
    yield from (data[: len(data) * part // 8] for part in range(1, 8))
    for _ in range(20):
        place = int(rng.integers(len(data)))
        yield data[:place] + rng.bytes(1) + data[place + 1 :]


def _read(form: Format, data: bytes) -> pl.DataFrame:
    """The frame as the library reads it from a file of this format."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"table{form.extensions[0]}"
        path.write_bytes(data)
        return read(path, formats=(form,)).frame


def _demand(true: bool, form: Format, law: str) -> None:
    if not true:
        raise BrokenFormat(f"{form.name} breaks: {law}")
