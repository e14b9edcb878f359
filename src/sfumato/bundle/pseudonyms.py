"""Keyed pseudonyms for identifiers: equal names stay equal, and only the holder of the key can make them again.

A pseudonymized column is not anonymous: whoever has the key, or can watch the same person in several releases made with
it, links records. Without a key (a plain hash) anybody can do so by hashing a list of names; that is refused.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sfumato.ground.errors import PlanError
from sfumato.ground.limits import MOST_KEY
from sfumato.ground.opening import read_whole

_LEAST_KEY = 16
DIGITS = 32
"""How long a pseudonym is, in hexadecimal digits."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Pseudonyms:
    """HMAC-SHA-256 under a secret key, bound to the column's name."""

    key: bytes
    """The secret; never written anywhere."""

    @classmethod
    def load(cls, path: Path, *, where: str) -> Pseudonyms:
        """Read the key from a file."""
        return cls(key=read_key(path, where=where))

    def replace(self, cells: pl.Series) -> pl.Series:
        """The column with every distinct value replaced by its pseudonym; missing stays missing."""
        names = cells.cast(pl.String)
        distinct = names.drop_nulls().unique()
        made = pl.Series([self._pseudonym(cells.name, name) for name in distinct], dtype=pl.String)
        return names.replace_strict(distinct, made, return_dtype=pl.String, default=None).alias(cells.name)

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
