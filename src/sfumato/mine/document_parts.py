"""The parts that the JSON of trees and of rules share: attributes, target, labels and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.describe.domains import Categories, Numbers
from sfumato.ground.errors import DataError, ParameterError, listed
from sfumato.ground.limits import MOST_NAME
from sfumato.ground.strict_json import read_json
from sfumato.mine.edge_labels import Attribute, Label
from sfumato.mine.tree_checks import MOST_COUNT

SCHEMA = 1
"""The version of the schema of both documents."""
MOST_DOCUMENT = 64_000_000
"""How many characters a document may have."""


def parsed(text: str, kind: str) -> dict[str, Any]:
    """The object in a JSON text of our schema."""
    if len(text) > MOST_DOCUMENT:
        raise DataError(f"the document has {len(text):,} characters; at most {MOST_DOCUMENT:,} are read")
    try:
        found = read_json(text)
    except (ValueError, RecursionError) as fault:
        raise DataError(f"the document is not acceptable JSON: {fault}") from None
    return opened(found, kind)


def opened(found: Any, kind: str) -> dict[str, Any]:
    """The same of an object that was read already."""
    if not isinstance(found, dict) or found.get("document") != kind:
        raise DataError(
            f"this is no document of the kind {kind!r}; such a document is an object that says so in 'document'"
        )
    if type(found.get("schema")) is not int or found["schema"] != SCHEMA:
        raise DataError(f"the document has schema {found.get('schema')!r}; this version reads schema {SCHEMA}")
    return found


def keyed(part: Any, where: str, needed: Sequence[str], allowed: Sequence[str] = ()) -> dict[str, Any]:
    """An object with the keys that it must have, and no others than it may."""
    if not isinstance(part, dict):
        raise DataError(f"{where} must be an object, not {type(part).__name__}")
    absent = [key for key in needed if key not in part]
    if absent:
        raise DataError(f"{where} has no {absent[0]!r}; it needs {listed(needed)}")
    strange = [key for key in part if key not in needed and key not in allowed]
    if strange:
        raise DataError(
            f"{where} has the unknown key {strange[0][:MOST_NAME]!r}; it may have {listed([*needed, *allowed])}"
        )
    return part


def many(part: Any, where: str) -> list[Any]:
    """A list."""
    if not isinstance(part, list):
        raise DataError(f"{where} must be a list, not {type(part).__name__}")
    return part


def texts(part: Any, where: str) -> tuple[str, ...]:
    """A list of texts."""
    found = many(part, where)
    for one in found:
        if not isinstance(one, str) or len(one) > MOST_NAME:
            raise DataError(f"{where} must be texts of at most {MOST_NAME:,} characters")
    return tuple(found)


def count_of(part: Any, where: str) -> int:
    """A number of records."""
    if type(part) is not int or not 0 <= part <= MOST_COUNT:
        raise DataError(f"{where} must be a whole number from 0 to {MOST_COUNT:,}, not {str(part)[:60]}")
    return part


def real_of(part: Any, where: str) -> float:
    """A number."""
    if type(part) not in (int, float):
        raise DataError(f"{where} must be a number, not {str(part)[:60]}")
    try:
        return float(part)
    except OverflowError:
        raise DataError(f"{where} is too large a number") from None


def attributes_of(part: Any) -> tuple[Attribute, ...]:
    """The attributes with their domains."""
    return tuple(_attribute(one, f"attribute {place}") for place, one in enumerate(many(part, "attributes")))


def _attribute(part: Any, where: str) -> Attribute:
    keyed(part, where, ("name",), ("values", "low", "high", "grid", "declared", "date"))
    (name,) = texts([part["name"]], f"{where}, name")
    declared = part.get("declared", False)
    if not isinstance(declared, bool):
        raise DataError(f"{where}, declared must be true or false")
    dated = part.get("date", False)
    if not isinstance(dated, bool) or (dated and "values" in part):
        raise DataError(f"{where}, date must be true or false, and is for numbers of days only")
    listed_, bounds = "values" in part, {"low", "high"} <= set(part)
    if listed_ == bounds or (listed_ and {"low", "high", "grid"} & set(part)):
        raise DataError(f"{where}, {name!r}: its domain is missing or said twice; give either values, or low and high")
    try:
        if listed_:
            return Attribute(
                name=name, domain=Categories(values=texts(part["values"], f"{where}, values")), declared=declared
            )
        low, high = (real_of(part[key], f"{where}, {key}") for key in ("low", "high"))
        grid = None if "grid" not in part else real_of(part["grid"], f"{where}, grid")
        return Attribute(name=name, domain=Numbers(low=low, high=high, grid=grid), declared=declared, date=dated)
    except ParameterError as fault:
        raise DataError(f"{where}, {name!r}: {fault}") from None


def target_of(part: Any) -> tuple[str, tuple[str, ...]]:
    """The name of the class column, and the classes."""
    keyed(part, "target", ("name", "values"))
    (name,) = texts([part["name"]], "target, name")
    return name, texts(part["values"], "target, values")


def head_json(attributes: Sequence[Attribute], target: str, classes: Sequence[str]) -> dict[str, Any]:
    """Attributes and target as JSON."""
    return {
        "target": {"name": target, "values": list(classes)},
        "attributes": [_attribute_json(one) for one in attributes],
    }


def _attribute_json(one: Attribute) -> dict[str, Any]:
    found: dict[str, Any] = {"name": one.name, "declared": one.declared}
    if isinstance(one.domain, Categories):
        return {**found, "values": list(one.domain.values)}
    dated = {"date": True} if one.date else {}
    grid = {} if one.domain.grid is None else {"grid": _plain(one.domain.grid)}
    return {**found, "low": _plain(one.domain.low), "high": _plain(one.domain.high), **grid, **dated}


def _plain(x: float) -> float | int:
    return int(x) if float(x).is_integer() and abs(x) < MOST_COUNT else float(x)


def label_json(attribute: Attribute, label: Label) -> list[Any]:
    """A label as JSON: names of values, or pairs of numbers."""
    if isinstance(attribute.domain, Numbers):
        return [[_plain(low), _plain(high)] for low, high in label]  # type: ignore[misc]
    return [attribute.domain.values[code] for code in label]  # type: ignore[index]


def label_of(attribute: Attribute, places: Mapping[str, int], part: Any, where: str) -> Label:
    """A label from JSON, in order; what it says is checked with the tree."""
    if not attribute.numeric:
        names = texts(part, where)
        strange = [name for name in names if name not in places]
        if strange:
            raise DataError(f"{where}: {attribute.name!r} has no value {strange[0]!r}")
        return tuple(sorted(places[name] for name in names))
    spans = []
    for span in many(part, where):
        ends = many(span, f"{where}, an interval")
        if len(ends) != 2:
            raise DataError(f"{where}: an interval has two ends, not {len(ends)}")
        spans.append((real_of(ends[0], where), real_of(ends[1], where)))
    return tuple(sorted(spans))


def places_of(attributes: Sequence[Attribute]) -> list[dict[str, int]]:
    """For each attribute its values with their codes."""
    return [
        {value: code for code, value in enumerate(one.domain.values)} if isinstance(one.domain, Categories) else {}
        for one in attributes
    ]


Figures = tuple[int, int, int, "np.ndarray[Any, np.dtype[np.int64]] | None"]


def figures_of(part: dict[str, Any], classes: Sequence[str], places: Mapping[str, int], where: str) -> Figures:
    """What a leaf or a rule says: class, hit, miss, and the counts of all classes where they are given."""
    if not isinstance(part.get("class"), str) or part["class"] not in places:
        raise DataError(f"{where} must name its class, one of {listed(classes)}")
    says = places[part["class"]]
    if "counts" not in part:
        keyed(part, where, ("class", "hit", "miss"), tuple(part))
        return says, count_of(part["hit"], f"{where}, hit"), count_of(part["miss"], f"{where}, miss"), None
    if {"hit", "miss"} & set(part):
        raise DataError(f"{where} has counts and hit or miss; give one of them")
    counts = [count_of(one, f"{where}, counts") for one in many(part["counts"], f"{where}, counts")]
    if len(counts) != len(classes):
        raise DataError(f"{where} has {len(counts)} counts for {len(classes)} classes")
    if sum(counts) > MOST_COUNT:
        raise DataError(f"{where} counts more than {MOST_COUNT:,} records")
    return says, counts[says], sum(counts) - counts[says], np.array(counts, np.int64)
