"""Typed records of JSON and TOML: limits in the types, and the first error in plain words.

A record is a frozen ``msgspec`` struct that refuses unknown keys. ``error_in`` says where plain JSON, which may come
from a stranger, differs from a record; ``decoded`` reads the tables of a plan, and says what its author can do.
``strict_parsing`` comes first: it refuses duplicate keys, long numbers and deep nesting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from enum import Enum
from functools import cache
from numbers import Integral
from types import GenericAlias, UnionType
from typing import Annotated, Any, ClassVar, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, inspect

from sfumato.core.errors import PlanError, listed, nearest

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

    REFUSED: ClassVar[Mapping[str, str]] = {}
    """Keys that are refused for a reason of their own."""


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


def _located(error: str, content: Any, record: Any) -> tuple[str, list[str], Any, bool]:
    """What is wrong, the keys that lead there, the value there, and whether a key is meant."""
    what, _, where = error.rpartition(" - at ") if " - at " in error else (error, "", "`$`")
    of_key = where.startswith("`key` in ")
    steps = [name or index for name, index in _STEP.findall(where.removeprefix("`key` in "))]
    keys, value = _followed(content, record, steps, error, of_key=of_key)
    return what, keys, value, of_key


def _in_words(error: str, content: Any, record: Any, path: str) -> str:
    what, keys, value, of_key = _located(error, content, record)
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
        elif isinstance(here, list | tuple):
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
    if isinstance(content, list | tuple):
        index = int(keys[0])
        return [*content[:index], _replaced(content[index], keys[1:], value), *content[index + 1 :]]
    return {**content, keys[0]: _replaced(content[keys[0]], keys[1:], value)}


# Tables of a plan: the same records, with advice for whoever wrote the plan.


INTERNAL = ""
"""The encoded name of a field that a file cannot set: ``rename={"field": INTERNAL}``."""
R = TypeVar("R")
_LIMITS = {">=": "at least", "<=": "at most", ">": "above", "<": "below"}


def must(words: str, *, hint: str = "", **limits: Any) -> Meta:
    """Limits of a value, and how a refusal puts them: what the value must be, and what to do."""
    return Meta(extra={"must": words, "hint": f"; {hint}" if hint else ""}, **limits)


def missing(words: str) -> Meta:
    """What a refusal adds where the key is missing."""
    return Meta(extra={"missing": words})


def decoded(content: Any, record: type[R], path: str = "") -> R:
    """A table of a plan as a record; a refusal names the key's path, what stands there, and the nearest valid key.

    >>> class Point(Record, frozen=True, kw_only=True):
    ...     x: Annotated[int, must("a whole number from 0 to 9", ge=0, le=9)]
    >>> decoded({"x": 3}, Point).x
    3
    >>> decoded({"x": 10}, Point, "point")
    Traceback (most recent call last):
    sfumato.core.errors.PlanError: point.x must be a whole number from 0 to 9, not 10
    >>> decoded({"xs": 1}, Point, "point")
    Traceback (most recent call last):
    sfumato.core.errors.PlanError: point.xs: unknown key; did you mean 'x'? Known here: 'x'
    """
    try:
        try:
            return msgspec.convert(content, record)
        except msgspec.ValidationError:
            return msgspec.convert(_built_in(content), record)
    except msgspec.ValidationError as error:
        refusal = _advice(str(error), content, record, path)
    except RecursionError:
        refusal = f"{path or 'the plan'} is nested too deep"
    raise PlanError(refusal)


def _built_in(content: Any) -> Any:
    """Tables from Python in the types of files: numbers of NumPy become plain ones."""
    if isinstance(content, Mapping):
        return {key: _built_in(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_built_in(value) for value in content]
    if isinstance(content, Integral) and not isinstance(content, bool | int):
        return int(content)
    return float(content) if isinstance(content, float) and type(content) is not float else content


def validated(record: R, path: str) -> R:
    """A record that was built in Python, with the limits that a file would have to keep."""
    kind: Any = type(record)
    values = {name: getattr(record, field) for field, name in _encoded_names(kind).items()}
    return cast("R", decoded(values, kind, path))


def written(record: Any) -> Any:
    """A record as tables and lists: what differs from its defaults. ``decoded`` gives the same record again.

    >>> class Point(Record, frozen=True, kw_only=True):
    ...     x: Count
    ...     names: tuple[str, ...] = ()
    ...     scale: int = 1
    >>> written(Point(x=3, names=("a",)))
    {'x': 3, 'names': ['a']}
    """
    if isinstance(record, Struct):
        names, defaults = _encoded_names(type(record)), _defaults(type(record))
        values = {name: getattr(record, field) for field, name in names.items()}
        return {name: written(value) for name, value in values.items() if defaults.get(name, UNSET) != value}
    if isinstance(record, Mapping):
        return {key: written(value) for key, value in record.items()}
    if isinstance(record, list | tuple):
        return [written(value) for value in record]
    return record.value if isinstance(record, Enum) else record


@cache
def _defaults(record: Any) -> dict[str, Any]:
    kinds = [field for field in msgspec.structs.fields(record) if not field.required]
    return {
        field.encode_name: field.default_factory() if field.default is msgspec.NODEFAULT else field.default
        for field in kinds
    }


@cache
def _encoded_names(record: Any) -> dict[str, str]:
    return dict(zip(record.__struct_fields__, record.__struct_encode_fields__, strict=True))


def known_keys(record: Any) -> list[str]:
    """The keys that a file can set."""
    return [name for name in _encoded_names(record).values() if name != INTERNAL]


def dotted(path: str, keys: Sequence[str]) -> str:
    """The path of a key as a plan writes it.

    >>> dotted("frontier", ["algorithms", "0", "name"])
    'frontier.algorithms[0].name'
    """
    for key in keys:
        path = f"{path}[{key}]" if key.isdigit() and path else f"{path}.{key}" if path else key
    return path


def _advice(error: str, content: Any, record: Any, path: str) -> str:
    what, keys, value, _ = _located(error, content, record)
    kind, extra = _type_at(record, content, keys)
    place = dotted(path, keys)
    if match := re.fullmatch(r"Object missing required field `(.*)`", what):
        field = next(field for field in kind.fields if field.encode_name == match[1])
        more = _bare(field.type, None)[1].get("missing")
        return f"{dotted(path, [*keys, match[1]])} is missing{f'; {more}' if more else ''}"
    if match := re.fullmatch(r"Object contains unknown field `(.*)`", what, re.DOTALL):
        at = dotted(path, [*keys, match[1]])
        if match[1] in kind.cls.REFUSED:
            return f"{at}: {kind.cls.REFUSED[match[1]]}"
        known = known_keys(kind.cls)
        return f"{at}: unknown key{nearest(match[1], known)} Known here: {listed(known, most=30)}"
    if not what.startswith(("Expected ", "Invalid ")):
        own = isinstance(kind, inspect.StructType) and re.split("[ :.]", what)[0] in known_keys(kind.cls)
        return f"{place}{'.' if own else ': '}{what}"
    if "must" in extra:
        return f"{place} must be {extra['must']}, not {_shown(value)}{extra['hint']}"
    if match := re.match(r"Expected `(str|array)` of length (<=|>=|>|<)?\s*(\d+)", what):
        limit = f"{_LIMITS[match[2]]} {int(match[3]):,}" if match[2] else match[3]
        if match[1] == "str" and value:
            return f"{place} has {len(value):,} characters; it must have {limit}"
        return f"{place} must not be empty" if not value else f"{place} must have {limit} entries, not {len(value):,}"
    return f"{place} must be {_wanted(what, kind)}, not {_shown(value)}{_hint(value, kind)}"


def _wanted(what: str, kind: Any) -> str:
    """What a value must be: a limit where its type is right, else its type."""
    match = re.fullmatch(r"Expected `(?:int|float)` (<=|>=|>|<) (\S+)", what)
    return f"{_LIMITS[match[1]]} {float(match[2]):g}" if match else _type_words(kind)


def _choices(kind: Any) -> list[str]:
    if isinstance(kind, inspect.UnionType):
        return [choice for member in kind.types for choice in _choices(_bare(member, None)[0])]
    if isinstance(kind, inspect.EnumType):
        return [str(member.value) for member in kind.cls]
    return [str(value) for value in kind.values] if isinstance(kind, inspect.LiteralType) else []


def _hint(value: Any, kind: Any) -> str:
    return nearest(value, choices).rstrip(".") if isinstance(value, str) and (choices := _choices(kind)) else ""


_SINGULAR: Mapping[Any, str] = {
    inspect.StrType: "a text",
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number",
    inspect.BoolType: "true or false",
    inspect.DictType: "a table",
    inspect.StructType: "a table",
}
_PLURAL = {"a text": "texts", "a whole number": "whole numbers", "a number": "numbers", "a table": "tables"}


def _type_words(kind: Any) -> str:
    if choices := _choices(kind):
        return f"one of {listed(choices)}"
    if isinstance(kind, inspect.UnionType):
        words = [_type_words(_bare(member, None)[0]) for member in kind.types if type(member) is not inspect.NoneType]
        return " or ".join(word for word in dict.fromkeys(words) if (word, "a number") != ("a whole number", words[-1]))
    if isinstance(kind, inspect.ListType | inspect.VarTupleType):
        item = _type_words(_bare(kind.item_type, None)[0])
        return f"a list of {_PLURAL[item]}" if item in _PLURAL else item if item.startswith("a list") else "a list"
    if isinstance(kind, inspect.TupleType):
        return f"a list of {len(kind.item_types)} entries"
    return _SINGULAR.get(type(kind), "another value")


def _type_at(record: Any, content: Any, keys: Sequence[str]) -> tuple[Any, dict[str, Any]]:
    """The type at a path of keys, without its limits, and what its annotations say beside them."""
    kind, extra = _bare(inspect.type_info(record), content)
    for key in keys:
        content = content[int(key)] if isinstance(content, list | tuple) else content[key]
        if isinstance(kind, inspect.StructType):
            inner = next(field.type for field in kind.fields if field.encode_name == key)
        elif isinstance(kind, inspect.DictType):
            inner = kind.value_type
        else:
            inner = kind.item_types[int(key)] if isinstance(kind, inspect.TupleType) else kind.item_type
        kind, extra = _bare(inner, content)
    return kind, extra


def _bare(kind: Any, content: Any) -> tuple[Any, dict[str, Any]]:
    """A type without its limits; of a union that content of lists or tables decides, the member that it decides for."""
    extra: dict[str, Any] = {}
    while isinstance(kind, inspect.Metadata):
        extra = (kind.extra or {}) | extra
        kind = kind.type
    if isinstance(kind, inspect.UnionType):
        members = [_bare(member, None) for member in kind.types if type(member) is not inspect.NoneType]
        wanted: tuple[type, ...] = ()
        if isinstance(content, Mapping):
            wanted = (inspect.StructType, inspect.DictType)
        elif isinstance(content, list | tuple):
            wanted = (inspect.ListType, inspect.VarTupleType, inspect.TupleType)
        fitting = [member for member in members if isinstance(member[0], wanted)]
        if len(members) == 1 or fitting:
            kind, more = (fitting or members)[0]
            extra = more | extra
    return kind, extra


# Records of options: from the fields of a dataclass, which stays the one definition.


@cache
def record_of(options: Any, *, without: tuple[str, ...] = (), rename: tuple[tuple[str, str], ...] = ()) -> type[Record]:
    """The record of a dataclass's fields: a plan's keys are read, checked and listed by it.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Cut:
    ...     widths: tuple[float, ...]
    >>> decoded({"widths": [5, 2.5]}, record_of(Cut)).widths
    (5, 2.5)
    """
    hints = get_type_hints(options, include_extras=True)
    entries: list[Any] = []
    for field in fields(options):
        if field.name in without:
            continue
        entry = (field.name, _readable(hints[field.name]))
        if field.default is not MISSING:
            entries.append((*entry, field.default))
        elif field.default_factory is not MISSING:
            entries.append((*entry, msgspec.field(default_factory=field.default_factory)))
        else:
            entries.append(entry)
    record: Any = msgspec.defstruct(
        options.__name__, entries, bases=(Record,), frozen=True, kw_only=True, rename=dict(rename) or None,
        namespace={"__doc__": options.__doc__},
    )  # fmt: skip
    return cast("type[Record]", record)


def _readable(hint: Any) -> Any:
    """A type as files have it: a number may be whole, and what no file can have is not checked here."""
    if hint is float:
        return Number
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is None:
        return hint if hint in (str, int, bool, type(None), Any, ...) else Any
    if origin is Literal:
        return hint
    inner = tuple(_readable(argument) for argument in arguments)
    if origin in (Union, UnionType):
        return Any if Any in inner else Union[inner]  # noqa: UP007  members are values here
    plain = {Sequence: list, list: list, Mapping: dict, dict: dict, tuple: tuple}.get(origin)
    return Any if plain is None else GenericAlias(plain, inner)
