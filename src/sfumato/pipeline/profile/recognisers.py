"""Recognisers of columns, by name and by values with checksums and systems of codes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from sfumato.core.strict_parsing import read_toml
from sfumato.tables.code_hierarchies import SYSTEMS, above
from sfumato.tables.hierarchy_files import hierarchy_leaves
from sfumato.tables.schema import Role
from sfumato.tables.table import Column

# Tests that every value of a recognised column passes: checksums, systems of codes, and the look of free text.


_DIGITS = re.compile(r"\d+")
_MANY = 50
"""Fewer different whole numbers are taken for places or kinds, not for people."""
_LONG = 40
"""The average length, in characters, from which texts are taken for sentences."""


def iban(text: str) -> bool:
    """Whether a text is an IBAN with the right check digits.

    >>> iban("DE89 3704 0044 0532 0130 00"), iban("DE88370400440532013000")
    (True, False)
    """
    plain = text.replace(" ", "").upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", plain):
        return False
    return int("".join(str(int(character, 36)) for character in plain[4:] + plain[:4])) % 97 == 1


def luhn(text: str) -> bool:
    """Whether a text is a number of a payment card: 13 to 19 digits whose last one checks the others.

    >>> luhn("4539 1488 0343 6467"), luhn("4539148803436468")
    (True, False)
    """
    plain = text.replace(" ", "").replace("-", "")
    if not _DIGITS.fullmatch(plain) or not 13 <= len(plain) <= 19:
        return False
    twice = [2 * int(digit) for digit in plain[-2::-2]]
    return (sum(map(int, plain[-1::-2])) + sum(n // 10 + n % 10 for n in twice)) % 10 == 0


def _weighted(plain: str, weights: Sequence[int]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(plain, weights, strict=False))


def _pesel(plain: str) -> bool:
    return len(plain) == 11 and -_weighted(plain, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10 == int(plain[10])


def _bsn(plain: str) -> bool:
    return len(plain) == 9 and _weighted(plain, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0 and int(plain) > 0


def _nhs(plain: str) -> bool:
    return len(plain) == 10 and (11 - _weighted(plain, range(10, 1, -1)) % 11) % 11 == int(plain[9])


def _nir(plain: str) -> bool:
    return len(plain) == 15 and plain[0] in "12" and 97 - int(plain[:13]) % 97 == int(plain[13:])


def _cpf(plain: str) -> bool:
    def digit(many: int) -> int:
        return _weighted(plain, range(many + 1, 1, -1)) * 10 % 11 % 10

    return len(plain) == 11 and digit(9) == int(plain[9]) and digit(10) == int(plain[10])


def _dni(text: str) -> bool:
    match = re.fullmatch(r"([XYZ]|\d)(\d{7})-?([A-Z])", text.upper())
    if match is None:
        return False
    first = str("XYZ".index(match[1])) if match[1] in "XYZ" else match[1]
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(first + match[2]) % 23] == match[3]


_WRITTEN = re.compile(
    r"\d{3}-\d{2}-\d{4}"  # United States
    r"|[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]"  # Italy
    r"|[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]"  # United Kingdom
    r"|\d{8}[A-Z]\d{3}"  # Germany, pension insurance
    r"|\d{6}[-+A]\d{3}[0-9A-Y]"  # Finland, Sweden
)


def national_number(text: str) -> bool:
    """Whether a text is a national identity number of a larger country, with its check digits where it has some.

    >>> national_number("078-05-1120"), national_number("44051401359"), national_number("12345678Z")
    (True, True, True)
    """
    plain = re.sub(r"[ .-]", "", text)
    if _WRITTEN.fullmatch(text.upper()) or _dni(text):
        return True
    return bool(_DIGITS.fullmatch(plain)) and any(check(plain) for check in (_pesel, _bsn, _nhs, _nir, _cpf))


def free_text(texts: Sequence[str]) -> bool:
    """Whether texts are sentences that hardly repeat.

    >>> free_text(["He came in at night and said that his chest hurt.", "Nothing was found, and she went home again."])
    True
    """
    return long_text(texts) and sum(map(len, texts)) / len(texts) >= _LONG


def long_text(texts: Sequence[str]) -> bool:
    """Whether most texts have several words."""
    return bool(texts) and sum(text.strip().count(" ") >= 3 for text in texts) > len(texts) / 2


def _several_chapters(texts: Sequence[str]) -> bool:
    """Whether codes come from at least three letters of ICD-10: codes of one's own seldom do."""
    return len({text.strip()[:1].upper() for text in texts}) >= 3 and _each(_code("icd-10"))(texts)


def _each(check: Callable[[str], bool]) -> Callable[[Sequence[str]], bool]:
    return lambda texts: bool(texts) and all(map(check, texts))


def _code(system: str) -> Callable[[str], bool]:
    return lambda text: above(text, system) is not None


CHECKS: Mapping[str, Callable[[Sequence[str]], bool]] = {
    "iban": _each(iban),
    "luhn": _each(luhn),
    "national number": _each(national_number),
    "free text": free_text,
    "long text": long_text,
    "many values": lambda texts: len(texts) >= _MANY,
    "icd-10 of several chapters": _several_chapters,
    **{system: _each(_code(system)) for system in SYSTEMS},
}
"""The tests by the name that a recogniser uses."""


# Which recogniser fits a column: by its name in the larger European languages, and by its values.


Hierarchy = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recogniser:
    """One sort of column: ``recognisers.toml`` says what each field means."""

    name: str
    """What drafts call it."""
    role: Role
    """The role that is proposed."""
    why: str
    """The reason, for a comment."""
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names of columns by language."""
    values: str | None = None
    """What every value looks like."""
    check: str | None = None
    """The test that all values pass."""
    known: Sequence[str] = ()
    """Bundled hierarchies, one of which has all values."""
    numbers: Sequence[float] = ()
    """The range of the values."""
    kinds: Sequence[str] = ()
    """How the values may read."""
    alone: bool = False
    """Whether values are enough."""
    least: int = 1
    """How many different values are needed where they are enough."""
    lenient: bool = False
    """Whether a name is enough where values do not fit."""
    type: str | None = None
    """How the values are to be read."""
    hierarchy: Hierarchy | str | None = None
    """What is proposed, or how it is fitted to the values."""
    pattern: re.Pattern[str] | None = None
    """All its words as one pattern."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """What a column was recognised as."""

    by: Recogniser
    """The record that fits."""
    hierarchy: Hierarchy | str | None
    """What is proposed for it."""


@cache
def recognisers() -> tuple[Recogniser, ...]:
    """All records, in the order in which they are tried."""
    text = files("sfumato.pipeline.profile").joinpath("recognisers.toml").read_text("utf-8")
    return tuple(
        Recogniser(**{**record, "role": Role(record["role"]), "pattern": _pattern(record.get("words", {}))})
        for record in read_toml(text)["recogniser"]
    )


def recognised(column: Column, kind: str) -> Recognised | None:
    """The first record that fits a column whose values read as ``kind``."""
    plain = plain_name(column.name)
    for recogniser in recognisers():
        if recogniser.kinds and kind not in recogniser.kinds:
            continue
        named = recogniser.pattern is not None and recogniser.pattern.search(plain) is not None
        if not named and not (recogniser.alone and len(column.present) >= recogniser.least):
            continue
        fits, tree = _fits(recogniser, column, kind)
        if fits or (named and recogniser.lenient):
            return Recognised(by=recogniser, hierarchy=tree if fits else None)
    return None


def plain_name(name: str) -> str:
    """A column's name in small letters without accents, its parts split by ``_``.

    >>> plain_name("Größe (cm)"), plain_name("dateOfBirth"), plain_name("Płeć"), plain_name("ICD9_CODE")
    ('grosse_cm', 'date_of_birth', 'plec', 'icd9_code')
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    folded = unicodedata.normalize("NFKD", parted.casefold().replace("ł", "l"))
    letters = "".join(character for character in folded if not unicodedata.combining(character))
    return re.sub(r"[^a-z0-9]+", "_", letters).strip("_")


def _pattern(words: Mapping[str, Sequence[str]]) -> re.Pattern[str] | None:
    """All words as one pattern; digits may follow a word."""
    every = sorted({word for language in words.values() for word in language})
    parts = [re.escape(word).replace(r"\*", "[a-z0-9]*").replace(r"\$", "$") for word in every]
    return re.compile(rf"(?:^|_)(?:{'|'.join(parts)})\d*(?:_|$)") if parts else None


def _fits(recogniser: Recogniser, column: Column, kind: str) -> tuple[bool, Hierarchy | str | None]:
    """Whether all values fit a record, and the hierarchy that is then proposed."""
    texts = column.present
    if not texts:
        return not (
            recogniser.values or recogniser.check or recogniser.known or recogniser.numbers
        ), recogniser.hierarchy
    if recogniser.numbers and not _within(column, kind, recogniser.numbers):
        return False, None
    if recogniser.values and not all(re.fullmatch(recogniser.values, text.strip()) for text in texts):
        return False, None
    if recogniser.check and not CHECKS[recogniser.check](texts):
        return False, None
    if not recogniser.known:
        return True, recogniser.hierarchy
    covering = next((name for name in recogniser.known if hierarchy_leaves(name).issuperset(texts)), None)
    return covering is not None, None if covering is None else {"bundled": covering}


def _within(column: Column, kind: str, ends: Sequence[float]) -> bool:
    if kind not in ("integer", "real"):
        return False
    numbers = column.numbers[: len(column.present)]
    return bool(numbers.min() >= ends[0] and numbers.max() <= ends[1])
