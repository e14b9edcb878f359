"""Dates moved by a keyed number of days, the same for all dates of one person: intervals between them stay.

This is pseudonymization. Whoever holds the key moves every date back, and whoever knows one true date of a person
moves back all others of the same person.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from datetime import date, timedelta

import polars as pl

from sfumato.data.table import Table, as_text
from sfumato.ground.errors import DataError

MOST_DAYS = 36_525
"""No date is moved by more than a century."""
_RANGE = 2**64


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DateShift:
    """HMAC-SHA-256 under a secret key says by how many days, between -days and days, a person's dates move."""

    key: bytes
    """The secret; never written anywhere."""
    days: int
    """The most days that a date moves, either way."""
    by: str
    """The column that tells people apart."""

    def offset(self, person: str) -> int:
        """How many days the dates of a person move: every number of days is equally likely, over all keys.

        A draw beyond the largest multiple of the number of possible shifts is drawn again.
        """
        span = 2 * self.days + 1
        usable = _RANGE - _RANGE % span
        draws = (self._draw(person, place) for place in range(2**31))
        return next(draw for draw in draws if draw < usable) % span - self.days

    def _draw(self, person: str, place: int) -> int:
        message = f"date shift:{self.days}:{place}:{person}".encode()
        return int.from_bytes(hmac.digest(self.key, message, "sha256")[:8])

    def moved(self, table: Table, name: str) -> pl.Series:
        """The column of days with every date moved; missing ones stay missing, and a date of nobody is refused."""
        cells, people = table.frame[name], as_text(table.require(self.by, where="shift.by"))
        absent, nobody = table.is_missing(name), table.is_missing(self.by)
        alone = nobody & ~absent
        if alone.any():
            row = int(alone.arg_max() or 0) + 1
            raise DataError(
                f"{table.source}, column {name!r}, row {row}: the date belongs to nobody, for {self.by!r} is missing "
                "there; complete it, or leave out the row"
            )
        pairs = pl.DataFrame({"person": people, "day": cells.cast(pl.String), "absent": absent})
        known = pairs.filter(~pl.col("absent")).unique(maintain_order=True)
        offsets = {person: self.offset(person) for person in known["person"].unique()}
        days = [self._day(table, name, day, offsets[person]) for person, day, _ in known.iter_rows()]
        moved = known.with_columns(moved=pl.Series(days, dtype=pl.String))
        found = pairs.join(moved, on=["person", "day", "absent"], how="left", maintain_order="left", nulls_equal=True)
        return self._typed(cells, found["moved"].zip_with(~absent, pairs["day"])).alias(name)

    def _day(self, table: Table, name: str, text: str, offset: int) -> str:
        try:
            return (date.fromisoformat(text[:10]) + timedelta(days=offset)).isoformat()
        except ValueError:
            would = "declare how the dates are written with format, or values that are none in [input] missing"
        except OverflowError:
            would = "no calendar goes that far; declare such values in [input] missing"
        raise DataError(f"{table.source}, column {name!r}: {text!r} cannot be moved by a number of days; {would}")

    @staticmethod
    def _typed(cells: pl.Series, moved: pl.Series) -> pl.Series:
        return moved.str.to_date("%Y-%m-%d") if cells.dtype.is_temporal() else moved
