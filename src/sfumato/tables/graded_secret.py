"""The secret of sites that agreed on graded grouping: a key and the terms; every table of aliases follows from both."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.core.errors import BundleError, DataError, ParameterError, listed
from sfumato.core.input_files import read_text
from sfumato.core.randomness import fresh_key
from sfumato.core.staging import write_secret
from sfumato.core.strict_parsing import read_json
from sfumato.tables.graded_grouping import CategoryTerm, GradedGrouping, NumberTerm, Terms, read_terms, terms_json
from sfumato.tables.table import as_text

DOCUMENT, SCHEMA = "sfumato-graded-secret", 1
KEY_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedNumbers:
    """A numeric column under graded grouping."""

    name: str
    """The column."""
    grouping: GradedGrouping
    """Its ranges and their values."""

    def shown(self, value: str) -> str:
        """The code of a number."""
        return self.grouping.code(value)

    def behind(self, code: str) -> str:
        """The number of a code, to the last digit; of a number that is no code, what it stands for on the scale."""
        try:
            return self.grouping.number(code)
        except ParameterError:
            return nine_digits(float(self.grouping.behind(code)))


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasTable:
    """A column of categories under a mapping table."""

    name: str
    """The column."""
    aliases: Mapping[str, str]
    """The alias of every declared value."""
    values: Mapping[str, str]
    """The value of every alias."""

    def shown(self, value: str) -> str:
        """The alias of a value."""
        if value not in self.aliases:
            raise ParameterError(f"{value[:60]!r} is not declared; declared are {listed(self.aliases)}")
        return self.aliases[value]

    def behind(self, code: str) -> str:
        """The value of an alias."""
        if code not in self.values:
            raise ParameterError(f"{code[:60]!r} is no alias of this agreement")
        return self.values[code]


GradedColumn = GradedNumbers | AliasTable


@dataclass(frozen=True, kw_only=True, repr=False)
class GradedSecret:
    """What only the sites hold: whoever has it reads everything back that was transformed with it."""

    key: bytes
    """32 random bytes."""
    terms: Terms
    """The columns that are transformed, with their declared ranges and values."""

    def __post_init__(self) -> None:
        if len(self.key) != KEY_BYTES:
            raise ParameterError(f"the key must have {KEY_BYTES} bytes, not {len(self.key)}")

    def __repr__(self) -> str:
        return f"GradedSecret({self.agreement[:16]}: {', '.join(self.terms)})"

    @classmethod
    def new(cls, terms: Terms) -> GradedSecret:
        """A secret of one site by itself, from the system's randomness."""
        return cls(key=fresh_key(KEY_BYTES), terms=terms)

    @classmethod
    def load(cls, path: Path) -> GradedSecret:
        """Read a secret, or refuse with what is wrong."""
        try:
            document = read_json(read_text(path))
        except OSError as error:
            raise BundleError(
                f"the secret {path} cannot be read: {error.strerror}; `sfumato graded new` makes one, and "
                "`sfumato party run` one of several sites"
            ) from error
        except (ValueError, RecursionError) as error:
            raise BundleError(f"{path} holds no secret of graded grouping: {error}") from error
        return cls._read(document, path)

    @classmethod
    def _read(cls, document: Any, path: Path) -> GradedSecret:
        if not isinstance(document, dict) or document.get("document") != DOCUMENT or document.get("schema") != SCHEMA:
            raise BundleError(f"{path} holds no secret of graded grouping that this version reads")
        try:
            secret = cls(key=bytes.fromhex(str(document.get("key"))), terms=read_terms(document.get("columns")))
        except ValueError as error:
            raise BundleError(f"{path}: the secret is broken: {error}") from None
        if document.get("agreement") != secret.agreement:
            raise BundleError(f"{path}: the secret was changed after it was made: key and terms are not as agreed on")
        return secret

    def write(self, path: Path) -> None:
        """Write it, readable by its owner only; nothing is written over."""
        write_secret(path, self.text())

    def text(self) -> str:
        """The secret as its file has it."""
        document = {
            "document": DOCUMENT,
            "schema": SCHEMA,
            "agreement": self.agreement,
            "key": self.key.hex(),
            "columns": terms_json(self.terms),
        }
        return json.dumps(document, ensure_ascii=False, indent=1) + "\n"

    @cached_property
    def agreement(self) -> str:
        """A public commitment to key and terms: two sites have the same secret if and only if it is the same."""
        terms_text = json.dumps(terms_json(self.terms), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hmac.digest(self._part("agreement"), terms_text.encode(), "sha256").hex()

    @cached_property
    def columns(self) -> Mapping[str, GradedColumn]:
        """How every column is transformed."""
        return {name: self._column(name, term) for name, term in self.terms.items()}

    def _column(self, name: str, term: NumberTerm | CategoryTerm) -> GradedColumn:
        secret = self._part(f"column {name}")
        if isinstance(term, CategoryTerm):
            return _mapped(name, term, secret)
        draws = (int.from_bytes(hmac.digest(secret, f"{place}".encode(), "sha256")) for place in range(2**31))
        drawn = 1 + next(draws) % 1000
        values = [drawn if term.first is None else term.first]
        for _ in range(len(term.limits) - 2):
            values.append(values[-1] + 1 + (next(draws) % (term.gap + 1)))
        grouping = GradedGrouping(limits=term.limits, values=tuple(values), decimals=term.decimals)
        return GradedNumbers(name=name, grouping=grouping)

    def _part(self, what: str) -> bytes:
        """A key of its own for one purpose (HKDF)."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        info = f"sfumato graded {what}".encode()
        return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(self.key)


def _mapped(name: str, term: CategoryTerm, secret: bytes) -> AliasTable:
    """Aliases numbered in an order that only the key knows."""
    order = sorted(term.values, key=lambda value: hmac.digest(secret, value.encode(), "sha256"))
    aliases = {value: f"{name}_{place}" for place, value in enumerate(order, 1)}
    return AliasTable(name=name, aliases=aliases, values={alias: value for value, alias in aliases.items()})


def translated(cells: pl.Series, translate: Callable[[str], str], missing: Iterable[str], where: str) -> pl.Series:
    """Every distinct cell through a translation; missing cells become null; the first that is refused is named."""
    texts = as_text(cells)
    distinct = [text for text in texts.drop_nulls().unique().to_list() if text not in set(missing)]
    translations = []
    for text in distinct:
        try:
            translations.append(translate(text))
        except ParameterError as error:
            rows = (texts == text).sum()
            n_rows = "1 row" if rows == 1 else f"{rows:,} rows"
            raise DataError(f"{where}, column {cells.name!r}: {error} ({n_rows})") from None
    out = pl.Series(translations, dtype=pl.String)
    keys = pl.Series(distinct, dtype=pl.String)
    return texts.replace_strict(keys, out, return_dtype=pl.String, default=None).alias(cells.name)


def nine_digits(number: float) -> str:
    """A number that was computed, to nine digits.

    >>> nine_digits(38.50000000001), nine_digits(2.0)
    ('38.5', '2')
    """
    return f"{number:.9g}"
