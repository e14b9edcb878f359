"""Numbers as people read them: 30,162; 0.4 %; 1 in 5; in German 30.162; 0,4 %; 1 von 5."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from math import isfinite, isinf, isnan
from unicodedata import east_asian_width

from sfumato.report.base.language import figured, said

NONE = "\u2013"
"""Where there is no number."""
GAP = "\u00a0"
"""The space between a number and its unit, where a line never breaks."""
_MINUS = "\u2212"


def count(value: float) -> str:
    """A whole number with its thousands set apart.

    >>> count(30162)
    '30,162'
    """
    return figured(f"{value:,.0f}") if isfinite(value) else number(value)


def share(value: float) -> str:
    """A share as a percentage that never rounds to none or to all.

    >>> [share(each).replace(GAP, " ") for each in (0, 0.0001, 0.004, 0.5, 0.99999, 1)]
    ['0 %', '< 0.1 %', '0.4 %', '50 %', '> 99.9 %', '100 %']
    """
    if not isfinite(value):
        return number(value)
    if 0 < value < 0.001:
        return figured(f"<{GAP}0.1{GAP}%")
    if 0.999 < value < 1:
        return figured(f">{GAP}99.9{GAP}%")
    return figured(f"{value * 100:.1f}".removesuffix(".0")) + f"{GAP}%"


def odds(value: float) -> str:
    """A chance as one in so many.

    >>> [odds(each).replace(GAP, " ") for each in (0.2, 1, 0.3, 0)]
    ['1 in 5', '1 in 1', '1 in 3.3', 'none']
    """
    if not isfinite(value) or value <= 0:
        return said("none")
    among = 1 / value
    return one_in(figured(f"{among:,.1f}".removesuffix(".0")) if among < 10 else count(among))


def one_in(many: str) -> str:
    """A chance of one in so many, where no line breaks."""
    return said("1 in {n}", n=many).replace(" ", GAP)


def number(value: float, *, digits: int = 4) -> str:
    """Any number in a few digits; whole numbers in full.

    >>> number(7.0), number(0.123456), number(float("inf")), number(1234567)
    ('7', '0.1235', '∞', '1,234,567')
    """
    if isnan(value):
        return NONE
    if isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    if abs(value) < 1e15 and value == round(value):
        return figured(f"{value:,.0f}").replace("-", _MINUS)
    places = max(0, digits - 1 - _magnitude(value))
    shown = _trimmed(f"{value:,.{min(places, 14)}f}") if abs(value) >= 1e-6 else f"{value:.2e}"
    return figured(shown).replace("-", _MINUS)


def apart(value: float, limit: float) -> str:
    """A number in as many digits as it takes to tell it from a limit that it does not equal.

    >>> apart(0.2000001, 0.2), apart(0.15, 0.2)
    ('0.2000001', '0.15')
    """
    for digits in range(4, 13):
        shown = number(value, digits=digits)
        if value == limit or shown != number(limit, digits=digits):
            return shown
    return shown


_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufdd0-\ufdef\ufffe\uffff]"
)
"""Characters that are not there for a reader: controls, marks that turn the direction of writing, and no characters."""


def seen(text: str) -> str:
    r"""A text with a blank for every character that nobody sees but that changes how the others read.

    >>> seen("a\0b"), seen("1\u202e23"), seen("böse")
    ('a b', '1 23', 'böse')
    """
    return _UNSEEN.sub(" ", text)


def label(text: str, *, most: int = 60) -> str:
    r"""A name or a value in one printable line of bounded width; an empty one is said to be so.

    >>> label("a\nb"), label(""), label("x" * 9, most=4)
    ('a b', '(empty)', 'xxx…')
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * most]).split())
    ends = list(accumulate(2 if east_asian_width(c) in "WF" else 1 for c in line))
    return (line if not ends or ends[-1] <= most else line[: bisect_right(ends, most - 1)] + "…") or said("(empty)")


def _trimmed(shown: str) -> str:
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def _magnitude(value: float) -> int:
    return int(f"{abs(value):e}".rpartition("e")[2])
