"""Tests that every value of a recognised column passes: checksums, systems of codes, and the look of free text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from sfumato.data.code_chapters import SYSTEMS, above

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
    return int("".join(str(int(one, 36)) for one in plain[4:] + plain[:4])) % 97 == 1


def luhn(text: str) -> bool:
    """Whether a text is a number of a payment card: 13 to 19 digits whose last one checks the others.

    >>> luhn("4539 1488 0343 6467"), luhn("4539148803436468")
    (True, False)
    """
    plain = text.replace(" ", "").replace("-", "")
    if not _DIGITS.fullmatch(plain) or not 13 <= len(plain) <= 19:
        return False
    twice = [2 * int(one) for one in plain[-2::-2]]
    return (sum(map(int, plain[-1::-2])) + sum(n // 10 + n % 10 for n in twice)) % 10 == 0


def _weighted(plain: str, weights: Sequence[int]) -> int:
    return sum(int(one) * weight for one, weight in zip(plain, weights, strict=False))


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
    found = re.fullmatch(r"([XYZ]|\d)(\d{7})-?([A-Z])", text.upper())
    if found is None:
        return False
    first = str("XYZ".index(found[1])) if found[1] in "XYZ" else found[1]
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(first + found[2]) % 23] == found[3]


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
