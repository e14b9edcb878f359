"""The language of a page. English texts stand in the code and the templates; other languages in one file each.

A text is looked up as it stands, with its places in braces; a text that a language does not have stays English. The
tests compare every file with every text that can be looked up, so none is missing.

Attacks and manifests tell finished English texts, with values in them. The sections of a file whose names begin with
``told`` have these texts with places: whatever fits one is said in the language, and the values stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from sfumato.ground.errors import PlanError, listed
from sfumato.ground.strict_toml import read_toml

LANGUAGES: Mapping[str, str] = {"en": "English", "de": "Deutsch"}
"""The languages that pages speak, each with its own name."""
PLACE = Path(__file__).parents[1] / "languages"
"""Where the texts of languages other than English are."""
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
    ...     said("yes")
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


def said(text: str, /, **values: Any) -> str:
    """A text in the language that is spoken now, with its places filled.

    >>> said("{rows} rows", rows=3)
    '3 rows'
    """
    words = texts(_SPOKEN.get()).get(text.replace("\n", " "), text)
    return words.format(**values) if values else words


def figured(shown: str) -> str:
    """A figure in English marks, with the marks of the language that is spoken now.

    >>> with speaking("de"):
    ...     figured("30,162.5")
    '30.162,5'
    """
    return shown.translate(_MARKS.get(_SPOKEN.get(), {}))


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
    for pattern, other in told(language):
        found = pattern.fullmatch(text)
        if found is not None:
            return other.format(**{name: _placed(name, value, language) for name, value in found.groupdict().items()})
    parts = _SENTENCE.split(text)
    if len(parts) > 1:
        return " ".join(_retold(one, language) or one for one in parts)
    clauses = [_retold(one, language) for one in text.split("; ")] if "; " in text else []
    return "; ".join(clauses) if all(clauses) else ""


def _placed(name: str, value: str, language: str) -> str:
    """A value as it stands; in a place called n, n2, ... a figure, and in told, told2, ... a text of its own."""
    if name.startswith("told"):
        return _retold(value, language) or value
    return value.translate(_MARKS.get(language, {})) if _FIGURE.fullmatch(name) else value


@cache
def told(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """The finished texts that a language has, as patterns; those with most words of their own come first."""
    found = _texts(language, told=True)
    ordered = sorted(found, key=lambda text: -len(_PLACE.sub("", text)))
    return tuple((_pattern(text), found[text]) for text in ordered)


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
def texts(language: str) -> Mapping[str, str]:
    """English texts with what they are in a language; nothing for English itself."""
    return _texts(language, told=False)


def _texts(language: str, *, told: bool) -> dict[str, str]:
    """The texts of the sections whose names begin with ``told``, or of the others."""
    if language == "en":
        return {}
    parts = read_toml((PLACE / f"{language}.toml").read_text(encoding="utf-8"))
    return {k: v for name, part in parts.items() if name.startswith("told") == told for k, v in part.items()}
