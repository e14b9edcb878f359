"""The JSON Schema of plans: the records that read them, as editors understand them."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import Any

import msgspec

from sfumato.core.records import INTERNAL, Record, record_of
from sfumato.pipeline.catalog.catalog import catalog, first_line
from sfumato.pipeline.plan.hierarchies import (
    _KINDS,
    BundledHierarchy,
    FileHierarchy,
    NamedGroups,
    TreeHierarchy,
    hierarchy_record,
)
from sfumato.pipeline.plan.plan import PlanFile

Schema = dict[str, Any]
_TEMPLATE = "#/$defs/{name}"
_GIVEN_ELSEWHERE = ("epsilon", "rho", "k")
"""Fields of algorithms that a plan gives under [privacy]."""


def json_schema() -> Schema:
    """The JSON Schema of every plan of this version and of the plugins that are installed."""
    (plan,), definitions = msgspec.json.schema_components([PlanFile], ref_template=_TEMPLATE)
    for kind in _records_in(msgspec.inspect.type_info(PlanFile), set()):
        _describe(definitions[kind.__name__], kind, kind)
    definitions["AlgorithmPlan"] = _algorithms(definitions["AlgorithmPlan"])
    definitions["Hierarchy"] = _hierarchies()
    definitions["PlanFile"]["properties"]["privacy"] = _privacy()
    schema: Schema = _readable({"title": "sfumato plan", **plan, "$defs": definitions})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _records_in(kind: Any, seen: set[type[Any]]) -> set[type[Any]]:
    """Every record in a type."""
    if isinstance(kind, msgspec.inspect.StructType):
        if kind.cls in seen:
            return seen
        seen.add(kind.cls)
        members = [field.type for field in kind.fields]
    else:
        inner = [getattr(kind, name) for name in ("type", "item_type", "value_type") if hasattr(kind, name)]
        members = [*inner, *getattr(kind, "types", ()), *getattr(kind, "item_types", ())]
    for member in members:
        _records_in(member, seen)
    return seen


def _privacy() -> Schema:
    """The keys of [privacy]: what they take is read by the models, and is not described here."""
    keys: dict[str, list[str]] = {}
    for part in catalog().models.values():
        keys.setdefault(part.key, []).append(f"{part.make.name}: {first_line(part.make)}")
    return {
        "type": "object",
        "description": "What must hold: keys of models with their parameters.",
        "properties": {key: {"description": "\n".join(words)} for key, words in keys.items()},
    }


def _algorithms(common: Schema) -> Schema:
    """[algorithm]: the keys of all algorithms, and of every algorithm its own."""
    parts = catalog().algorithms
    kinds = [part.load() for part in catalog().methods.values()]
    shared = {key: value for key, value in common["properties"].items() if key != INTERNAL}
    shared["name"] = {**shared["name"], "enum": ["auto", *parts]}
    branches = []
    for name, part in parts.items():
        own: Schema = {"properties": {}}
        if isinstance(part.found, type):
            own = _own(record_of(part.found), part.found)
        more = [key for kind in kinds if kind.solves == part.solves for key in kind.options]
        allowed = dict.fromkeys((*shared, *more), True) | {
            key: value for key, value in own["properties"].items() if key not in _GIVEN_ELSEWHERE
        }
        needed = [key for key in own.get("required", []) if key not in _GIVEN_ELSEWHERE]
        branches.append(
            _if_is("name", name, {"properties": allowed, "required": needed, "additionalProperties": False})
        )
    rest = {key: value for key, value in common.items() if key not in ("additionalProperties", "required")}
    return rest | {"properties": shared, "allOf": branches}


def _hierarchies() -> Schema:
    """A hierarchy: of a kind, with the keys of that kind, or written out."""
    branches = []
    for name, make in _KINDS.items():
        options = [_with_kind(name, _own(hierarchy_record(name), make))]
        if name == "groups":
            options.append(_with_kind(name, _own(NamedGroups, NamedGroups)))
        if name == "intervals":
            levels = options[0]["properties"]["cuts"]
            options[0]["properties"]["cuts"] = {**levels, "items": {"anyOf": [levels["items"], {"type": "number"}]}}
        branches.append(_if_is("kind", name, options[0] if len(options) == 1 else {"anyOf": options}))
    written_out = [_own(record, record) for record in (FileHierarchy, BundledHierarchy, TreeHierarchy)]
    return {
        "type": "object",
        "properties": {"kind": {"enum": list(_KINDS), "description": "How labels are made from values."}},
        "allOf": branches,
        "if": {"not": {"required": ["kind"]}},
        "then": {"anyOf": written_out},
    }


def _with_kind(name: str, schema: Schema) -> Schema:
    return {**schema, "properties": {"kind": {"const": name}, **schema["properties"]}}


def _if_is(key: str, value: str, then: Schema) -> Schema:
    return {"if": {"properties": {key: {"const": value}}, "required": [key]}, "then": then}


def _own(record: type[Record], documented: Any) -> Schema:
    """The schema of a record that needs no other one, with the words of the class that documents it."""
    _, definitions = msgspec.json.schema_components([record], ref_template=_TEMPLATE)
    schema: Schema = definitions[record.__name__]
    _describe(schema, record, documented)
    return schema


def _describe(schema: Schema, record: type[Record], documented: Any) -> None:
    """What the docstrings of fields say, where an editor shows it."""
    names = dict(zip(record.__struct_fields__, record.__struct_encode_fields__, strict=True))
    for field, words in field_docs(documented).items():
        key = names.get(field)
        if key in schema["properties"]:
            schema["properties"][key] = {"description": words} | schema["properties"][key]


@cache
def field_docs(record: Any) -> dict[str, str]:
    """The docstrings below the fields of a class and of those that it extends.

    >>> field_docs(NamedGroups)["groups"]
    'The values of every group.'
    """
    docs: dict[str, str] = {}
    for cls in reversed(record.__mro__):
        try:
            body = ast.parse(dedent(inspect.getsource(cls))).body[0]
        except (OSError, TypeError, SyntaxError):
            continue  # built in, or without its source: fields then have no description
        statements = body.body if isinstance(body, ast.ClassDef) else []
        for field, words in pairwise(statements):
            match field, words:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    docs[name] = " ".join(text.split()).replace("``", "`")
    return docs


def _readable(schema: Any) -> Any:
    """Without what TOML does not have (null), and without fields that a file cannot set."""
    if isinstance(schema, list | tuple):
        return [_readable(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: _readable(value) for key, value in schema.items() if not (key == "default" and value is None)}
    if isinstance(result.get("properties"), dict):
        result["properties"] = {key: value for key, value in result["properties"].items() if key != INTERNAL}
    choices = [choice for choice in result.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1 and len(result["anyOf"]) > 1:
        del result["anyOf"]
        return choices[0] | result
    return result | ({"anyOf": choices} if choices else {})
