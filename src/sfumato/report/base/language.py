"""The language of a page. English texts stand in the code and the templates; other languages in one file each.

A text is looked up as it stands, with its places in braces; a text that a language does not have stays English. The
tests compare every file with every text that can be looked up, so none is missing.
"""

from __future__ import annotations

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
    words = texts(_SPOKEN.get()).get(text, text)
    return words.format(**values) if values else words


@cache
def texts(language: str) -> Mapping[str, str]:
    """English texts with what they are in a language; nothing for English itself."""
    if language == "en":
        return {}
    tree = read_toml((PLACE / f"{language}.toml").read_text(encoding="utf-8"))
    return {english: other for part in tree.values() for english, other in part.items()}
