"""The language of a page: translated texts, and numbers as people read them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import NullTranslations, translation
from itertools import accumulate
from math import isfinite, isinf, isnan
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

from sfumato.core.errors import PlanError, listed

# The language of a page. English texts are in the code and the templates; every other language has a gettext catalog,
# ``locale/LANGUAGE/LC_MESSAGES/sfumato.po``, compiled to ``.mo`` by ``make catalogs``. A text is looked up with its
# places in braces; without a translation it stays English. The tests compare the catalogs with every text in use.
#
# Attacks and manifests give finished English sentences with values in them. Messages of the context ``finished`` are
# these sentences with places: a sentence that fits one is translated, and the values stay. Those of the context
# ``attack`` are the titles of attacks.


LANGUAGES: Mapping[str, str] = {"en": "English", "de": "Deutsch"}
"""The languages that pages speak, each with its own name."""
LOCALE = Path(__file__).parent / "locale"
"""Where the catalogs of languages other than English are."""
_CONTEXT = re.compile("([^\x04]*)\x04")
"""How gettext marks the context of a message in a catalog."""
_SPOKEN: ContextVar[str] = ContextVar("language", default="en")
_MARKS: Mapping[str, Mapping[int, str]] = {"de": {ord(","): ".", ord("."): ","}}
"""What stands for the marks of thousands and of decimals."""
_PLACE = re.compile(r"{\w+}")
_PIECES = re.compile(r"([^{]*)(?:{(\w+)})?")
_FIGURE = re.compile(r"n\d*")
_SENTENCE = re.compile(r"(?<=\.) ")


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """While a page is made, whatever is said is said in this language.

    >>> with speaking("de"):
    ...     translated("yes")
    'ja'
    """
    if language not in LANGUAGES:
        raise PlanError(f"about.language: reports speak {listed(LANGUAGES)}, not {language!r}")
    before = _SPOKEN.set(language)
    try:
        yield
    finally:
        _SPOKEN.reset(before)


def spoken() -> str:
    """The language that is spoken now."""
    return _SPOKEN.get()


def translated(text: str, /, **values: Any) -> str:
    """A text in the language that is spoken now, with its places filled.

    >>> translated("{rows} rows", rows=3)
    '3 rows'
    """
    key = text.replace("\n", " ")
    words = catalog(_SPOKEN.get()).gettext(key) if key else text
    words = text if words == key else words
    return words.format(**values) if values else words


def figured(figure: str) -> str:
    """A figure in English marks, with the marks of the language that is spoken now.

    >>> with speaking("de"):
    ...     figured("30,162.5")
    '30.162,5'
    """
    return figure.translate(_MARKS.get(_SPOKEN.get(), {}))


def retold(text: str) -> str:
    """A finished English text, of an attack or of a manifest, in the language that is spoken now.

    >>> with speaking("de"):
    ...     retold("name their income")
    'income dieser Person zu nennen'
    """
    return _retold(text, _SPOKEN.get()) or text


def _retold(text: str, language: str) -> str:
    """What a text is in a language, whole or sentence by sentence; nothing where no sentence is known.

    A sentence of several parts is known if all of them are.
    """
    for pattern, other in patterns(language, "finished"):
        match = pattern.fullmatch(text)
        if match is not None:
            return other.format(**{name: _placed(name, value, language) for name, value in match.groupdict().items()})
    parts = _SENTENCE.split(text)
    if len(parts) > 1:
        return " ".join(_retold(sentence, language) or sentence for sentence in parts)
    clauses = [_retold(clause, language) for clause in text.split("; ")] if "; " in text else []
    return "; ".join(clauses) if all(clauses) else ""


def _placed(name: str, value: str, language: str) -> str:
    """A value as it stands; in a place called n, n2, ... a figure, and in told, told2, ... a text of its own."""
    if name.startswith("told"):
        return _retold(value, language) or value
    return value.translate(_MARKS.get(language, {})) if _FIGURE.fullmatch(name) else value


def attack_title(title: str) -> str:
    """The title of an attack, with what it was made for, in the language that is spoken now.

    >>> with speaking("de"):
    ...     attack_title("lkc-adversary of income, 2 known, worst"), attack_title("definetti, foreground")
    ('LKC-Angreifer von income, 2 bekannt, schlimmste', 'deFinetti, Vordergrundwissen')
    """
    return _attack_title(title, _SPOKEN.get()) or title


def _attack_title(title: str, language: str) -> str:
    """A title in a language: its places called told hold shorter titles; nothing where no attack has this title."""
    for pattern, other in patterns(language, "attack"):
        match = pattern.fullmatch(title)
        if match is not None:
            parts = match.groupdict()
            titles = {name: _attack_title(part, language) for name, part in parts.items() if name.startswith("told")}
            if all(titles.values()):
                return other.format(**(parts | titles))
    return ""


@cache
def patterns(language: str, context: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """The texts that a language has in a context, as patterns; those with most words of their own come first.

    Of two with as many words, the one with fewer free names comes first.
    """
    texts = messages(language, context)
    ordered = sorted(texts, key=lambda text: (-len(_PLACE.sub("", text)), text.count("{name")))
    return tuple((_pattern(text), texts[text]) for text in ordered)


def _pattern(text: str) -> re.Pattern[str]:
    """What fits a text with places; a place that comes again has the same value."""
    parts, seen = [], set[str]()
    for words, name in _PIECES.findall(text):
        parts.append(re.escape(words))
        if name:
            parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>.+?)")
            seen.add(name)
    return re.compile("".join(parts), re.DOTALL)


@cache
def catalog(language: str) -> NullTranslations:
    """The translations of a language; English needs none."""
    return translation("sfumato", LOCALE, languages=[language], fallback=language == "en")


@cache
def messages(language: str, context: str = "") -> Mapping[str, str]:
    """English texts of a context with their translations."""
    entries: Mapping[str, str] = getattr(catalog(language), "_catalog", {})  # gettext offers no other way to list them
    texts = {}
    for key, words in entries.items():
        match = _CONTEXT.match(key)
        if key and (match[1] if match else "") == context:
            texts[key[match.end() :] if match else key] = words
    return texts


# Numbers as people read them: 30,162; 0.4 %; 1 in 5; in German 30.162; 0,4 %; 1 von 5.


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
        return translated("none")
    among = 1 / value
    return one_in(figured(f"{among:,.1f}".removesuffix(".0")) if among < 10 else count(among))


def one_in(many: str) -> str:
    """A chance of one in so many, where no line breaks."""
    return translated("1 in {n}", n=many).replace(" ", GAP)


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
    text = _trimmed(f"{value:,.{min(places, 14)}f}") if abs(value) >= 1e-6 else f"{value:.2e}"
    return figured(text).replace("-", _MINUS)


def apart(value: float, limit: float) -> str:
    """A number in as many digits as it takes to tell it from a limit that it does not equal.

    >>> apart(0.2000001, 0.2), apart(0.15, 0.2)
    ('0.2000001', '0.15')
    """
    for digits in range(4, 13):
        text = number(value, digits=digits)
        if value == limit or text != number(limit, digits=digits):
            return text
    return text


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
    return (line if not ends or ends[-1] <= most else line[: bisect_right(ends, most - 1)] + "…") or translated(
        "(empty)"
    )


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _magnitude(value: float) -> int:
    return int(f"{abs(value):e}".rpartition("e")[2])
