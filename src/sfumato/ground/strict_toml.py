"""TOML from strangers: limits on size, depth and digits."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from sfumato.ground.limits import MOST_DEPTH, MOST_DIGITS, MOST_TOML

_STRING = r"""\"{3}(?:[^\\]|\\.)*?(?:\"{3}|\Z)|'{3}.*?(?:'{3}|\Z)|"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?"""
_TOKEN = re.compile(rf"({_STRING})|#[^\n]*+|([\[\]{{}}\n])", re.DOTALL)
_HALF = re.compile(r"[\ud800-\udfff]")
_DOTTED = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MOST_DEPTH}}}")


def read_toml(text: str) -> dict[str, Any]:
    r"""What a TOML text says, or a ``ValueError`` that says in which way it is not acceptable.

    >>> read_toml("[a.b]\nk = [1, 2.5]")
    {'a': {'b': {'k': [1, 2.5]}}}
    >>> read_toml("k = " + "9" * 5000)
    Traceback (most recent call last):
    ValueError: a number has more than 40 digits
    """
    if len(text) > MOST_TOML:
        raise ValueError(f"it has {len(text):,} characters; at most {MOST_TOML:,} are read")
    if not text.isascii() and _HALF.search(text):
        raise ValueError("a text holds half a character")
    _refuse_nested(text)
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except (ValueError, OverflowError) as error:
        raise ValueError(_why(error)) from None
    _refuse_values(found)
    return found


def _refuse_nested(text: str) -> None:
    """Refuse brackets and dotted names that are nested too deep, before anybody follows them."""
    deep, bare = 0, []
    at = 0
    for token in _TOKEN.finditer(text):
        bare += [text[at : token.start()], "s" if token[1] else (token[2] or "")]
        at, mark = token.end(), token[2] or ""
        if mark and mark in "[{":
            deep += 1
            if deep > MOST_DEPTH:
                raise ValueError(_deep())
        elif mark and mark in "]}":
            deep = max(deep - 1, 0)
    if _DOTTED.search("".join([*bare, text[at:]])):
        raise ValueError(_deep())


def _refuse_values(found: Mapping[str, Any]) -> None:
    """Refuse numbers that are too long, and depth that headers add up to."""
    level: list[Any] = [found]
    for _ in range(MOST_DEPTH + 1):
        level = [part for one in level for part in _parts(one)]
        for value in level:
            if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
                raise ValueError(_long())
        if not level:
            return
    raise ValueError(_deep())


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _why(error: Exception) -> str:
    return _long() if "digits" in str(error) else str(error)


def _long() -> str:
    return f"a number has more than {MOST_DIGITS} digits"


def _deep() -> str:
    return f"tables and lists are nested more than {MOST_DEPTH} deep"
