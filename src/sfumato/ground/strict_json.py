"""JSON from strangers: limits on size, depth and digits; every key once; finite numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import isfinite
from typing import Any, NoReturn

from sfumato.ground.limits import MOST_DEPTH, MOST_DIGITS, MOST_JSON

_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
"""A string that is never closed takes the rest of the text: looking for its end again and again would take for ever."""
_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


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
    found = json.loads(
        text, object_pairs_hook=_once, parse_int=_integer, parse_float=_real, parse_constant=_no_constant
    )
    if _HALF.search(text):
        _refuse_halves(found)
    return found


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


def _refuse_halves(found: Any) -> None:
    """Refuse texts that no file can hold: halves of characters, which JSON can spell."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a text holds half a character") from None


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found


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
