"""Records as learners read them: a code or a number for every attribute, and a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.errors import DataError, ParameterError, listed
from sfumato.core.short_repr import Brief
from sfumato.mining.attributes import Attribute, day_text, grid_cells
from sfumato.tables.frames import from_frame
from sfumato.tables.schema import Categories, Numbers
from sfumato.tables.table import Codes, Kind, Table

Domain = Categories | Numbers
Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Records(Brief):
    """Dictionary-encoded records over stated domains."""

    attributes: tuple[Attribute, ...]
    """The columns."""
    columns: tuple[NDArray[Any], ...]
    """For each attribute: codes of its values (-1: not in the domain), or numbers (NaN: none)."""
    target: str
    """The name of the class column."""
    classes: tuple[str, ...]
    """The classes."""
    codes: Codes
    """The class of every record; -1 where it is none of them, or not known."""

    @property
    def count(self) -> int:
        """How many records there are."""
        return len(self.codes)

    def take(self, rows: Any) -> Records:
        """Some of the records."""
        return replace(self, columns=tuple(column[rows] for column in self.columns), codes=self.codes[rows])

    def keep(self, names: Sequence[str]) -> Records:
        """Some of the attributes."""
        kept = [n for n, attribute in enumerate(self.attributes) if attribute.name in names]
        return replace(
            self,
            attributes=tuple(self.attributes[n] for n in kept),
            columns=tuple(self.columns[n] for n in kept),
        )

    def frame(self) -> pl.DataFrame:
        """The records as a frame of texts and numbers, the class last."""
        series = [_series(attribute, column) for attribute, column in zip(self.attributes, self.columns, strict=True)]
        return pl.DataFrame([*series, _texts(self.target, self.classes, self.codes)])

    def matrix(self, *, one_hot: bool = True) -> NDArray[np.float64]:
        """The attributes as numbers for a learner: one column per value of a category, or its code.

        A number with a declared grid is told as the mark of the grid at or below it.
        """
        parts = []
        for attribute, column in zip(self.attributes, self.columns, strict=True):
            if isinstance(attribute.domain, Numbers):
                step = attribute.domain.grid
                marks = column if step is None else attribute.domain.low + grid_cells(attribute.domain, column) * step
                parts.append(np.asarray(marks, np.float64)[:, None])
            elif not one_hot:
                parts.append(np.asarray(column, np.float64)[:, None])
            else:
                parts.append((column[:, None] == np.arange(len(attribute.domain.values))).astype(np.float64))
        return np.concatenate(parts, axis=1) if parts else np.zeros((self.count, 0))


def _series(attribute: Attribute, column: NDArray[Any]) -> pl.Series:
    domain = attribute.domain
    if isinstance(domain, Numbers) and attribute.date:
        days = [None if np.isnan(day) else date.fromordinal(int(day)).isoformat() for day in column]
        return pl.Series(attribute.name, days, dtype=pl.String)
    if isinstance(domain, Numbers):
        whole = domain.grid is not None and float(domain.grid).is_integer() and float(domain.low).is_integer()
        known = whole and bool(np.isfinite(column).all())
        return pl.Series(attribute.name, column.astype(np.int64) if known else column)
    return _texts(attribute.name, domain.values, column)


def _texts(name: str, values: Sequence[str], codes: Codes) -> pl.Series:
    known = pl.Series(name, [*values, None], dtype=pl.String)
    return known.gather(np.where(codes < 0, len(values), codes))


def read_records(
    frame: object,
    *,
    target: str,
    columns: Sequence[str] | None = None,
    domains: Mapping[str, Domain] | None = None,
    kinds: Mapping[str, Kind | None] | None = None,
    missing: Sequence[str] = (),
) -> Records:
    """The records of a frame; a domain that is not declared is read off the table, and the document says so.

    ``kinds`` says how columns are read; others are read as their values suggest. Dates are numbers of days. A missing
    value is refused: leave such rows out, or give the value a name of its own.
    """
    table = from_frame(frame, missing=missing)
    names = [name for name in table.names if name != target] if columns is None else list(columns)
    known_domains = dict(domains or {})
    if target in names or len(set(names)) < len(names):
        raise ParameterError(f"columns must be different and not the target {target!r}, not {listed(names)}")
    strange = sorted(set(known_domains) - {*names, target})
    if strange:
        raise ParameterError(f"domains must be of columns that are read, not {strange[0]!r}")
    _refuse_missing(table, [*names, target])
    attributes = tuple(_attribute(table, name, known_domains.get(name), (kinds or {}).get(name)) for name in names)
    given = known_domains.get(target)
    if given is not None and not isinstance(given, Categories):
        raise ParameterError(f"the domain of the target {target!r} must be Categories")
    classes = table.column(target, "category").present if given is None else given.values
    return read_like(table, attributes=attributes, target=target, classes=classes, strict=True)


def read_like(
    frame: object, *, attributes: Sequence[Attribute], target: str, classes: Sequence[str], strict: bool = False
) -> Records:
    """The records of a frame over known domains; without ``strict`` the class may be absent and values unknown."""
    table = from_frame(frame)
    read_values = tuple(_read(table, attribute, strict=strict) for attribute in attributes)
    rows = table.rows
    codes = np.full(rows, -1, np.int32)
    if strict or target in table.names:
        codes = _coded(table, target, tuple(classes), strict=strict)
    return Records(
        attributes=tuple(attributes), columns=read_values, target=target, classes=tuple(classes), codes=codes
    )


def read_columns(frame: object, attributes: Sequence[Attribute]) -> tuple[NDArray[Any], ...]:
    """The columns of a frame over known domains; a value outside is refused."""
    table = from_frame(frame)
    return tuple(_read(table, attribute, strict=True) for attribute in attributes)


def _refuse_missing(table: Table, names: Sequence[str]) -> None:
    if not table.rows:
        raise DataError(f"{table.source} has no rows; there is nothing to learn from")
    for name in names:
        absent = int(table.is_missing(name).sum())
        if absent:
            raise DataError(
                f"{table.source}, column {name!r}: {absent} of {table.rows} rows have no value; leave them out, or "
                "give the missing value a name of its own"
            )


def _attribute(table: Table, name: str, declared: Domain | None, kind: Kind | None) -> Attribute:
    if declared is not None:
        return Attribute(name=name, domain=declared, declared=True, date=kind == "date")
    cells = table.require(name)
    if kind in ("text", "category"):
        return Attribute(name=name, domain=Categories(values=table.column(name, kind).present))
    if cells.dtype.is_numeric() and kind in (None, "integer", "real"):
        numbers, whole = cells.cast(pl.Float64).to_numpy(), cells.dtype.is_integer()
    else:
        column = table.column(name, kind)
        kind = column.kind
        if kind not in ("integer", "real", "date"):
            return Attribute(name=name, domain=Categories(values=column.present))
        numbers, whole = column.numbers, kind != "real"
    low, high = float(numbers.min()), float(numbers.max())
    domain = Numbers(low=low, high=high if high > low else low + 1, grid=1 if whole and kind != "real" else None)
    return Attribute(name=name, domain=domain, date=kind == "date")


def _read(table: Table, attribute: Attribute, *, strict: bool) -> NDArray[Any]:
    domain = attribute.domain
    if isinstance(domain, Categories):
        return _coded(table, attribute.name, domain.values, strict=strict)
    if attribute.date:
        column = table.column(attribute.name, "date")
        return _within(attribute, column.numbers[column.codes], strict=strict)
    cells = table.require(attribute.name)
    numbers = (
        cells if cells.dtype.is_numeric() else cells.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    )
    values = numbers.cast(pl.Float64).fill_null(np.nan).to_numpy().astype(np.float64)
    return _within(attribute, values, strict=strict)


def _within(attribute: Attribute, numbers: NDArray[np.float64], *, strict: bool) -> NDArray[np.float64]:
    """The numbers, or a refusal of those outside the domain."""
    domain: Any = attribute.domain
    outside = int((~((numbers >= domain.low) & (numbers <= domain.high))).sum())
    if strict and outside:
        low, high = (day_text(end) if attribute.date else f"{end:g}" for end in (domain.low, domain.high))
        raise DataError(f"column {attribute.name!r}: {outside} rows lie outside the domain, {low} to {high}")
    return numbers


def _coded(table: Table, name: str, values: tuple[str, ...], *, strict: bool) -> Codes:
    column = table.column(name, "category")
    place = {value: code for code, value in enumerate(values)}
    moved = np.array([place.get(value, -1) for value in column.present] + [-1], np.int32)
    codes = moved[column.codes]
    if strict and (codes < 0).any():
        strange = sorted(set(column.present) - set(values))
        raise DataError(
            f"column {name!r}: {int((codes < 0).sum())} rows hold values outside the domain: {listed(strange)}"
        )
    return np.asarray(codes, np.int32)
