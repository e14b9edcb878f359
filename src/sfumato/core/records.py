"""Typed records of JSON that may come from a stranger: limits in the types, and the first error in plain words.

A record is a frozen ``msgspec`` struct that refuses unknown keys. ``error_in`` says where plain JSON differs from a
record and what was found there. ``strict_parsing.read_json`` comes first: it refuses duplicate keys, long numbers and
deep nesting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

__all__ = ["UNSET", "UnsetType"]

T = TypeVar("T")
SHORT, LONG = 1_000, 4_000
"""Characters of a name or label, and of a sentence that a person wrote or reads."""
_END = r"(?![\s\S])"
"""The end of a text: ``$`` would allow a line break after it, and JSON Schema does not know \\Z."""


def like(pattern: str, *, most: int = SHORT) -> Meta:
    """A text that matches a pattern from its beginning to its end."""
    return Meta(pattern=f"^(?:{pattern}){_END}", max_length=most)


Name = Annotated[str, Meta(max_length=SHORT)]
Sentence = Annotated[str, Meta(max_length=LONG)]
Digest = Annotated[str, like("[0-9a-f]{64}")]
Date = Annotated[str, like(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Positive = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Number = int | float
Names = Annotated[list[Name], Meta(max_length=SHORT)]
"""At most a thousand names."""
Listed = Annotated[list[T], Meta(max_length=10_000_000)]
Mapped = dict[Name, T]

# A parameter: a number, a text, yes or no, nothing, or lists and tables of these. Structs know no recursive aliases, so
# the nesting is written out.
_Plain = None | bool | int | float | Sentence
_Value1 = _Plain | list[_Plain] | dict[Name, _Plain]
_Value2 = _Plain | list[_Value1] | dict[Name, _Value1]
_Value3 = _Plain | list[_Value2] | dict[Name, _Value2]
_Value4 = _Plain | list[_Value3] | dict[Name, _Value3]
Value = _Plain | list[_Value4] | dict[Name, _Value4]
ShallowValue = _Value2


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Known keys, and no others."""


_WORDS = {
    "`int`": "a whole number",
    "`float`": "a number",
    "`int | float`": "a number",
    "`str`": "a text",
    "`bool`": "true or false",
    "`array`": "a list",
    "`object`": "a table",
    "`null`": "nothing",
}
_STEP = re.compile(r"\.([^.\[\]`]+)|\[(\d+|\.\.\.)\]")


def error_in(content: Any, record: Any, path: str = "") -> str | None:
    """The first difference between a JSON value and the type of a record, with its path; None where there is none.

    >>> class Point(Record, frozen=True, kw_only=True):
    ...     x: Count
    ...     names: Mapped[Count] = {}
    >>> error_in({"x": 3}, Point), error_in({"x": -1}, Point)
    (None, 'x must be a whole number >= 0, not -1')
    >>> error_in({"x": 3, "names": {"a": 1, "b": "two"}}, Point)
    "names/b must be a whole number, not 'two'"
    """
    try:
        msgspec.convert(content, record)
    except msgspec.ValidationError as error:
        return _in_words(str(error), content, record, path)
    except RecursionError:
        return f"{path or 'the content'} is nested too deep"
    return None


def _in_words(error: str, content: Any, record: Any, path: str) -> str:
    what, _, where = error.rpartition(" - at ") if " - at " in error else (error, "", "`$`")
    of_key = where.startswith("`key` in ")
    steps = [name or index for name, index in _STEP.findall(where.removeprefix("`key` in "))]
    keys, value = _followed(content, record, steps, error, of_key=of_key)
    place = "/".join([*([path] if path else []), *keys]) or "the content"
    if of_key:
        place = f"a key of {place}"
    if match := re.fullmatch(r"Object missing required field `(.*)`", what):
        return f"{place} has no {match[1]!r}"
    if match := re.fullmatch(r"Object contains unknown field `(.*)`", what, re.DOTALL):
        return f"{place} has an unknown key {match[1][:60]!r}"
    if match := re.match(r"Expected (`[^`]*`)(.*?)(?:, got .*)?$", what, re.DOTALL):
        kinds = [_WORDS.get(f"`{kind}`", kind) for kind in match[1].strip("`").split(" | ")]
        wanted = _WORDS.get(match[1]) or " or ".join(dict.fromkeys(kinds))
        rest = match[2].replace(_END, "").replace(" matching regex ", " of the form ")
        return f"{place} must be {wanted}{rest}, not {_shown(value)}"
    if what.startswith("Invalid "):
        return f"{place} must be one of the values that this version knows, not {_shown(value)}"
    return f"{place} {what}"


def _shown(value: Any) -> str:
    text = {dict: "a table", list: "a list", type(None): "nothing"}.get(type(value)) or repr(value)
    return text if len(text) < 60 else text[:57] + "..."


def _followed(content: Any, record: Any, steps: list[str], error: str, *, of_key: bool) -> tuple[list[str], Any]:
    """The keys on the way to an error, and the value there; the error names no key of a free table, so it is tried."""
    keys: list[str] = []
    here = content
    for step in steps:
        if step == "...":
            for key, single in _one_left(content, keys, here):
                try:
                    msgspec.convert(single, record)
                except msgspec.ValidationError as again:
                    if str(again) == error:
                        keys.append(str(key))
                        here = here[key]
                        break
            else:
                return keys, here
        elif isinstance(here, list):
            keys.append(step)
            here = here[int(step)]
        elif isinstance(here, Mapping) and step in here:
            keys.append(step)
            here = here[step]
        else:
            return keys, here
    if of_key and isinstance(here, Mapping):
        return keys, next((key for key in here if not isinstance(key, str) or len(key) > SHORT), here)
    return keys, here


def _one_left(content: Any, keys: list[str], table: Any) -> Iterator[tuple[Any, Any]]:
    """The content with one entry left of the table to which the keys lead, for each of its entries."""
    for key, value in table.items() if isinstance(table, Mapping) else ():
        yield key, _replaced(content, keys, {key: value})


def _replaced(content: Any, keys: list[str], value: Any) -> Any:
    if not keys:
        return value
    if isinstance(content, list):
        index = int(keys[0])
        return [*content[:index], _replaced(content[index], keys[1:], value), *content[index + 1 :]]
    return {**content, keys[0]: _replaced(content[keys[0]], keys[1:], value)}
