"""Tables that come as frames of other libraries, and go back as the same kind of frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.core.errors import DataError, ParameterError
from sfumato.tables.table import Table, checked_names

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

_ACCEPTED = "a pandas, polars (also lazy) or pyarrow frame, a DuckDB relation, or any other frame that narwhals knows"
_FAULTS = (TypeError, ValueError, NotImplementedError, OverflowError, pl.exceptions.PolarsError)


def from_frame(native: object, *, missing: Sequence[str] = ()) -> Table:
    """The table in a frame of any library that narwhals knows; an index is no column.

    >>> from_frame(pl.DataFrame({"age": [31, 47]})).names
    ('age',)
    """
    if isinstance(missing, str):
        raise ParameterError(f"missing must be a list of texts such as ['?', 'NA'], not {missing!r}")
    if isinstance(native, Table):
        return native if not missing else Table(frame=native.frame, source=native.source, missing=tuple(missing))
    known = _known(native)
    where = f"the {known.implementation.name.lower()} frame"
    checked_names(_names(known), where=where)
    return Table(frame=_collected(known, where=where), source=where, missing=tuple(missing))


def to_native(frame: pl.DataFrame, like: object) -> object:
    """The frame as the kind of frame that ``like`` is; a Table gives a polars frame.

    >>> type(to_native(pl.DataFrame({"age": [31]}), pl.LazyFrame({"age": [47]}))).__name__
    'LazyFrame'
    """
    if isinstance(like, Table | pl.DataFrame):
        return frame
    import narwhals.stable.v2 as nw

    known = _known(like)
    if isinstance(known, nw.LazyFrame):
        return nw.from_native(frame).lazy(known.implementation).to_native()
    native = nw.from_arrow(frame, backend=known.implementation).to_native()
    return _typed_like(native, like) if known.implementation.is_pandas() else native


def _typed_like(native: Any, like: Any) -> Any:
    """A pandas frame whose columns have the types of those that came in, where their values still fit them.

    So a null is the null of its column's type: ``pd.NA`` in extension types, ``NaT``, ``NaN`` or ``None`` in others.
    """
    for name in native.columns:
        before, now = like.dtypes.get(name), native.dtypes[name]
        objects = now.kind == "O" and str(before) in ("string", "category", "boolean")
        numbers = now.kind in "iufb" and getattr(before, "na_value", None) is not None and before.kind in "iufb"
        if before is not None and before != now and (objects or numbers):
            native[name] = _fitted(native[name], str(before))
    return native


def _fitted(cells: Any, kind: str) -> Any:
    """The cells as this type; as they are where a value does not fit it."""
    try:
        return cells.astype(kind)
    except (TypeError, ValueError):
        return cells


def _known(native: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """The object under narwhals' common surface, or a refusal that says what is accepted."""
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import NarwhalsError

    try:
        frame: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(native)
    except NarwhalsError as fault:
        message = " ".join(str(fault).split())
        raise DataError(f"the frame cannot be used ({message}); give every column a name of its own") from None
    except TypeError:
        raise DataError(f"a {type(native).__name__} is not a table; give {_ACCEPTED}") from None
    return frame


def _names(known: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> list[Any]:
    return list(known.collect_schema().names())


def _collected(known: nw.DataFrame[Any] | nw.LazyFrame[Any], *, where: str) -> pl.DataFrame:
    """The cells as a polars frame, or a refusal that names the first column that cannot become one."""
    import narwhals.stable.v2 as nw

    if isinstance(known, nw.LazyFrame):
        return known.collect("polars").to_polars()
    try:
        return known.to_polars()
    except _FAULTS:
        raise DataError(f"{where}: {_blame(known)}; give it one type, for example by turning it into text") from None


def _blame(known: nw.DataFrame[Any]) -> str:
    for name in known.columns:
        try:
            known.select(name).to_polars()
        except _FAULTS as fault:
            return f"column {name!r} mixes values of different types ({' '.join(str(fault).split())})"
    return "a column mixes values of different types"
