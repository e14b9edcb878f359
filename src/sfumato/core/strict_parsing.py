"""Parse JSON and TOML from untrusted sources, with limits on size, depth and digits."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NoReturn

from sfumato.core.input_files import MOST_DEPTH, MOST_DIGITS, MOST_JSON, MOST_TOML

# JSON from strangers: limits on size, depth and digits; every key once; finite numbers.


_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
"""A string that is never closed takes the rest of the text: looking for its end again and again would take for ever."""
_JSON_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def read_json(text: str, *, depth: int = MOST_DEPTH) -> Any:
    """What a JSON text says, or a ``ValueError`` that says in which way it is not acceptable.

    >>> read_json('{"k": [1, 2.5]}')
    {'k': [1, 2.5]}
    >>> read_json('{"k": 5, "k": 2}')
    Traceback (most recent call last):
    ValueError: the key 'k' stands twice in one object
    """
    if len(text) > MOST_JSON:
        raise ValueError(f"it has {len(text):,} characters; at most {MOST_JSON:,} are read")
    _refuse_deep(text, depth)
    document = json.loads(
        text, object_pairs_hook=_once, parse_int=_integer, parse_float=_real, parse_constant=_no_constant
    )
    if _JSON_SURROGATE.search(text):
        _refuse_halves(document)
    return document


def _refuse_deep(text: str, most: int) -> None:
    deep = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        mark = token[0]
        if mark in "[{":
            deep += 1
            if deep > most:
                raise ValueError(f"lists and objects are nested more than {most} deep")
        elif mark in "]}":
            deep -= 1


def _refuse_halves(document: Any) -> None:
    """Refuse texts that no file can hold: halves of characters, which JSON can spell."""
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a text holds half a character") from None


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return mapping


def _integer(digits: str) -> int:
    _refuse_long(digits)
    return int(digits)


def _real(digits: str) -> float:
    _refuse_long(digits)
    number = float(digits)
    if not isfinite(number):
        raise ValueError(f"the number {digits} is too large")
    return number


def _refuse_long(digits: str) -> None:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number has {len(digits):,} characters; at most {MOST_DIGITS} are read")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


# TOML from strangers: limits on size, depth and digits.


_STRING = r"""\"{3}(?:[^\\]|\\.)*?(?:\"{3}|\Z)|'{3}.*?(?:'{3}|\Z)|"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?"""
_TOKEN = re.compile(rf"({_STRING})|#[^\n]*+|([\[\]{{}}\n])", re.DOTALL)
_TOML_SURROGATE = re.compile(r"[\ud800-\udfff]")
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
    if not text.isascii() and _TOML_SURROGATE.search(text):
        raise ValueError("a text holds half a character")
    _refuse_nested(text)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except (ValueError, OverflowError) as error:
        raise ValueError(_why(error)) from None
    _refuse_values(document)
    return document


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


def _refuse_values(document: Mapping[str, Any]) -> None:
    """Refuse numbers that are too long, and depth that headers add up to."""
    level: list[Any] = [document]
    for _ in range(MOST_DEPTH + 1):
        level = [part for item in level for part in _parts(item)]
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
