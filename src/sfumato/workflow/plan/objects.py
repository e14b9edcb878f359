"""Models and algorithms as objects in a plan: turned into what a plan file would say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, fields, is_dataclass
from typing import Any

from sfumato.describe.paths import Paths
from sfumato.ground.errors import PlanError, listed
from sfumato.workflow.plan.column_plan import ColumnPlan, column_plan
from sfumato.workflow.plan.plan_table import Keys
from sfumato.workflow.plan.sections import AlgorithmPlan, Tree

_PLAIN = {"k-anonymity": "k", "k-map": "k"}
"""Models whose key takes a number alone."""
_KIND = {
    "distinct-l-diversity": "distinct",
    "entropy-l-diversity": "entropy",
    "recursive-l-diversity": "recursive",
    "simple-l-diversity": "simple",
}


def as_column(column: Any, name: str) -> ColumnPlan:
    """A column's record, from itself or from a table as in TOML."""
    return column if isinstance(column, ColumnPlan) else column_plan(Keys.of(column, f"columns.{name}"), name)


def privacy_tree(asked: Any) -> Tree:
    """The [privacy] table, from itself, from one model or from several.

    >>> from sfumato.models import DistinctLDiversity, KAnonymity
    >>> privacy_tree([KAnonymity(k=5), DistinctLDiversity(l=3, column="ill")])
    {'k_anonymity': 5, 'l_diversity': {'kind': 'distinct', 'l': 3, 'column': 'ill'}}
    """
    if isinstance(asked, Mapping):
        return asked
    models = asked if isinstance(asked, list | tuple) else [asked]
    found: dict[str, list[Any]] = {}
    for model in models:
        key, spec = _said(model)
        found.setdefault(key, []).append(spec)
    return {key: specs[0] if len(specs) == 1 else specs for key, specs in found.items()}


def _said(model: Any) -> tuple[str, Any]:
    """The key and what stands there for a model."""
    from sfumato.workflow.catalog.lookup import catalog

    name = str(getattr(model, "name", ""))
    if name not in catalog().models or not isinstance(model, catalog().models[name].make):
        raise PlanError(f"privacy: {model!r} is no model; known are {listed(catalog().models, most=30)}")
    key = catalog().models[name].key
    if name in _PLAIN:
        return key, getattr(model, _PLAIN[name])
    spec = {one.name: _plain(getattr(model, one.name)) for one in fields(model) if _differs(model, one)}
    if name == "confidence-bounding":
        return key, _template(model)
    spec.pop("paths", None)
    return key, ({"kind": _KIND[name]} if name in _KIND else {}) | spec


def _template(model: Any) -> Any:
    specs = [_plain(asdict(one)) for one in model.templates]
    return specs[0] if len(specs) == 1 else specs


def sensitive_trees(asked: Any) -> dict[str, Paths]:
    """The trees over sensitive values that models bring; in a plan they are the hierarchies of their columns."""
    if isinstance(asked, Mapping):
        return {}
    models = asked if isinstance(asked, list | tuple) else [asked]
    return {one.column: Paths(paths=one.paths) for one in models if getattr(one, "paths", None)}


def _differs(model: Any, one: Field[Any]) -> bool:
    """Whether a field differs from its default."""
    default = one.default if one.default_factory is MISSING else one.default_factory()
    return bool(default is MISSING or getattr(model, one.name) != default)


def algorithm_tree(asked: Any) -> AlgorithmPlan:
    """The [algorithm] section, from itself, from a name or from an algorithm.

    >>> from sfumato.publish.mondrian import Mondrian
    >>> algorithm_tree(Mondrian(output="boxes")).options
    {'output': 'boxes'}
    """
    if isinstance(asked, AlgorithmPlan):
        return asked
    if isinstance(asked, str):
        return AlgorithmPlan(name=asked)
    if isinstance(asked, Mapping):
        return AlgorithmPlan.of(Keys.of(asked, "algorithm"))
    from sfumato.workflow.catalog.lookup import catalog

    for name, part in catalog().algorithms.items():
        if asked is part.found:
            return AlgorithmPlan(name=name)
        if isinstance(part.found, type) and is_dataclass(asked) and isinstance(asked, part.found):
            said = {one.name: _plain(getattr(asked, one.name)) for one in fields(asked) if _differs(asked, one)}
            return AlgorithmPlan(
                name=name, options={key: value for key, value in said.items() if key not in ("epsilon", "rho")}
            )
    raise PlanError(f"algorithm: {asked!r} is no algorithm; known are {listed(catalog().algorithms, most=30)}")


def _plain(value: Any) -> Any:
    """A value as TOML has it."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value
