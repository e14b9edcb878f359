"""The published JSON Schema of plans: it accepts what `Plan.parse` reads, and refuses wrong keys and values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.metrics.learners import LEARNERS
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.plan_schema import json_schema
from sfumato.reports.language import LANGUAGES
from tests.golden.releases.plans import PLANS

SCHEMA = json_schema()
TYPES: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
}  # fmt: skip
HANDLED = {
    "$ref", "$schema", "$defs", "title", "description", "default", "type", "enum", "const", "anyOf", "allOf", "if",
    "then", "not", "required", "properties", "additionalProperties", "items", "prefixItems", "minItems", "maxItems",
    "minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum",
}  # fmt: skip


def errors(value: Any, schema: Any, path: str = "$") -> Iterator[str]:
    """Where a value breaks a schema: the keywords that the published schema uses, by their definition."""
    if schema is True:
        return
    if schema is False or not fits(value, schema):
        yield path
        return
    assert schema.keys() <= HANDLED, schema.keys() - HANDLED
    if "$ref" in schema:
        yield from errors(value, SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")], path)
    if "anyOf" in schema and all(any(errors(value, part, path)) for part in schema["anyOf"]):
        yield path
    for part in schema.get("allOf", ()):
        yield from errors(value, part, path)
    if "not" in schema and not any(errors(value, schema["not"], path)):
        yield path
    if "if" in schema and not any(errors(value, schema["if"], path)):
        yield from errors(value, schema.get("then", True), path)
    yield from errors_inside(value, schema, path)


def errors_inside(value: Any, schema: Any, path: str) -> Iterator[str]:
    """Errors in the entries of a table or a list."""
    if isinstance(value, dict):
        yield from (f"{path}.{key}" for key in schema.get("required", ()) if key not in value)
        rest = schema.get("additionalProperties", True)
        for key, inner in value.items():
            yield from errors(inner, schema.get("properties", {}).get(key, rest), f"{path}.{key}")
    if isinstance(value, list):
        first = schema.get("prefixItems", [])
        for index, inner in enumerate(value):
            part = first[index] if index < len(first) else schema.get("items", True)
            yield from errors(inner, part, f"{path}[{index}]")


def fits(value: Any, schema: Any) -> bool:
    """Whether a value itself keeps type, choices and limits."""
    kind = TYPES.get(schema.get("type", ""), object)
    good = isinstance(value, kind) and (not isinstance(value, bool) or kind in (bool, object))
    good = good and value in schema.get("enum", [value]) and value == schema.get("const", value)
    if not good or isinstance(value, bool):
        return good
    if isinstance(value, int | float):
        inside = schema.get("minimum", value) <= value <= schema.get("maximum", value)
        return bool(inside and value > schema.get("exclusiveMinimum", float("-inf")))
    if isinstance(value, str):
        inside = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
        return bool(inside and re.search(schema.get("pattern", ""), value))
    if isinstance(value, list):
        return bool(schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)))
    return True


@pytest.mark.parametrize("name", PLANS)
def test_every_golden_plan_fits(name: str):
    assert list(errors(PLANS[name], SCHEMA)) == []


QUASI = {"role": "quasi", "hierarchy": {"kind": "flat"}}


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({"colums": {}}, "colums"),
        ({"columns": {"a": {"role": "quas"}}}, "columns.a.role"),
        ({"columns": {"a": {}}}, "columns.a.role"),
        ({"columns": {"a": {"role": "quasi", "hierarchy": {"kind": "mask", "form": "right"}}}}, "columns.a.hierarchy"),
        ({"columns": {"a": {"role": "quasi", "hierarchy": {"kind": "masks"}}}}, "columns.a.hierarchy.kind"),
        ({"columns": {"a": {"role": "keep", "guarded": True}}}, "columns.a.guarded"),
        ({"columns": {"a": {"role": "keep", "type": "date", "shift": {"days": 3}}}}, "columns.a.shift.key_file"),
        ({"columns": {"a": {"role": "identifier", "pseudonym": "hash"}}}, "columns.a.pseudonym"),
        ({"columns": {"a": QUASI}, "algorithm": {"name": "mondrian", "outpt": "boxes"}}, "algorithm.outpt"),
        ({"columns": {"a": QUASI}, "algorithm": {"name": "mondrian", "output": "box"}}, "algorithm.output"),
        ({"columns": {"a": QUASI}, "algorithm": {"name": "mondrian", "strict": "yes"}}, "algorithm.strict"),
        ({"columns": {"a": QUASI}, "algorithm": {"max_suppressed": 2}}, "algorithm.max_suppressed"),
        ({"columns": {"a": QUASI}, "algorithm": {"seed": -1}}, "algorithm.seed"),
        ({"columns": {"a": QUASI}, "attack": {"trials": 3}}, "attack.trials"),
        ({"columns": {"a": QUASI}, "about": {"language": "fr"}}, "about.language"),
        ({"columns": {"a": QUASI}, "input": {"password": "x"}}, "input.password"),
        ({"columns": {"a": QUASI}, "input": {"rows_per_unit": 0}}, "input.rows_per_unit"),
        ({"columns": {"a": QUASI}, "stream": {"block": 0}}, "stream.block"),
        ({"columns": {"a": QUASI}, "audit": {}}, "audit.values"),
    ],
)
def test_what_the_schema_refuses_is_refused_by_its_path(wrong: dict[str, Any], path: str):
    assert any(error.startswith(f"$.{path}") for error in errors(wrong, SCHEMA))
    with pytest.raises(sf.PlanError, match=re.escape(path)):
        sf.Plan.parse({"privacy": {"k_anonymity": 2}, **wrong})


def test_choices_and_names_are_those_of_the_program():
    defined = SCHEMA["$defs"]
    assert defined["AboutPlan"]["properties"]["language"]["enum"] == sorted(LANGUAGES)
    assert sorted(defined["UtilityPlan"]["properties"]["learner"]["enum"]) == sorted(LEARNERS)
    assert defined["AlgorithmPlan"]["properties"]["name"]["enum"] == ["auto", *catalog().algorithms]
    assert set(defined["PlanFile"]["properties"]["privacy"]["properties"]) == {
        part.key for part in catalog().models.values()
    }


def test_every_key_is_explained():
    for name, schema in SCHEMA["$defs"].items():
        for key, value in schema.get("properties", {}).items():
            assert key, name
            assert "description" in value, f"{name}.{key}"


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_written_as_it_was_read(name: str, monkeypatch: pytest.MonkeyPatch):
    folder = Path(__file__).parents[1] / "golden" / "releases"
    monkeypatch.chdir(folder)
    plan = sf.Plan.parse(PLANS[name], folder=folder)
    assert sf.Plan.parse(plan.tables(), folder=folder) == plan
    assert list(errors(plan.tables(), SCHEMA)) == []
