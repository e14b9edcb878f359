"""Keyed pseudonyms for identifiers, and keyed shifts of dates."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import polars as pl

from sfumato.core.errors import DataError, PlanError
from sfumato.core.input_files import MOST_KEY, read_whole
from sfumato.tables.table import Table, as_text

# Keyed pseudonyms for identifiers: equal names stay equal, and only the holder of the key can make them again.
#
# A pseudonymized column is not anonymous: whoever has the key, or can watch the same person in several releases made
# with it, links records. Without a key (a plain hash) anybody can do so by hashing a list of names; that is refused.


_LEAST_KEY = 16
DIGITS = 32
"""How long a pseudonym is, in hexadecimal digits."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Pseudonyms:
    """HMAC-SHA-256 under a secret key, bound to the column's name, or to a name that columns share."""

    key: bytes
    """The secret; never written anywhere."""
    bound: str | None = None
    """The name that columns of several tables share, so that equal values have equal pseudonyms in all of them."""

    @classmethod
    def load(cls, path: Path, *, where: str, bound: str | None = None) -> Pseudonyms:
        """Read the key from a file."""
        return cls(key=read_key(path, where=where), bound=bound)

    def replace(self, cells: pl.Series) -> pl.Series:
        """The column with every distinct value replaced by its pseudonym; missing stays missing."""
        names = cells.cast(pl.String)
        distinct = names.drop_nulls().unique()
        pseudonyms = pl.Series([self._pseudonym(self.bound or cells.name, name) for name in distinct], dtype=pl.String)
        return names.replace_strict(distinct, pseudonyms, return_dtype=pl.String, default=None).alias(cells.name)

    def _pseudonym(self, column: str, name: str) -> str:
        message = f"{len(column)}:{column}{name}".encode()
        return hmac.new(self.key, message, hashlib.sha256).hexdigest()[:DIGITS]


def read_key(path: Path, *, where: str) -> bytes:
    """The secret key in a file, or a refusal of a file that holds none."""
    try:
        key = read_whole(path, most=MOST_KEY).strip()
    except OSError as error:
        raise PlanError(
            f"{where}: the key file {path} cannot be read ({error.strerror}); make one with "
            f"`head -c 32 /dev/urandom > {path.name}` and keep it apart from the release"
        ) from error
    if len(key) < _LEAST_KEY:
        raise PlanError(f"{where}: the key in {path} has {len(key)} bytes; at least {_LEAST_KEY} are needed")
    return key


# Dates moved by a keyed number of days, the same for all dates of one person: intervals between them stay.
#
# This is pseudonymization. Whoever holds the key moves every date back, and whoever knows one true date of a person
# moves back all others of the same person. An attacker who knows the period that the records are from strikes out
# every shift that would put a date outside it; where the period is declared, dates near its ends are left out, so that
# every shift remains possible for every date that is published.


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
    period: tuple[date, date] | None = None
    """The first and last day of the records, where the plan declares them: moved dates that are less than ``days`` from
    its ends are left out."""
    weeks: bool = False
    """Whether dates move by whole weeks, so that weekdays stay and rule out no shift."""

    def offset(self, person: str) -> int:
        """How many days the dates of a person move: every number of days is equally likely, over all keys.

        A draw beyond the largest multiple of the number of possible shifts is drawn again.
        """
        step = 7 if self.weeks else 1
        most = self.days // step
        span = 2 * most + 1
        usable = _RANGE - _RANGE % span
        draws = (self._draw(person, place) for place in range(2**31))
        return (next(draw for draw in draws if draw < usable) % span - most) * step

    def _draw(self, person: str, place: int) -> int:
        unit = "weeks:" if self.weeks else ""
        message = f"date shift:{unit}{self.days}:{place}:{person}".encode()
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
        matches = pairs.join(moved, on=["person", "day", "absent"], how="left", maintain_order="left", nulls_equal=True)
        return self._typed(cells, matches["moved"].zip_with(~absent, pairs["day"])).alias(name)

    def _day(self, table: Table, name: str, text: str, offset: int) -> str | None:
        try:
            true = date.fromisoformat(text[:10])
            return self._inside(table, name, true, true + timedelta(days=offset))
        except ValueError:
            would = "declare how the dates are written with format, or values that are none in [input] missing"
        except OverflowError:
            would = "no calendar goes that far; declare such values in [input] missing"
        raise DataError(f"{table.source}, column {name!r}: {text!r} cannot be moved by a number of days; {would}")

    def _inside(self, table: Table, name: str, true: date, moved: date) -> str | None:
        """The moved day; None where it is so near to an end of the declared period that some shift is impossible."""
        if self.period is None:
            return moved.isoformat()
        first, last = self.period
        if not first <= true <= last:
            raise DataError(
                f"{table.source}, column {name!r}: {true} is outside shift.period, {first} to {last}; declare the "
                "whole period of the records, or leave such rows out"
            )
        most = timedelta(days=self.days)
        return moved.isoformat() if first + most <= moved <= last - most else None

    @staticmethod
    def _typed(cells: pl.Series, moved: pl.Series) -> pl.Series:
        return moved.str.to_date("%Y-%m-%d") if cells.dtype.is_temporal() else moved
