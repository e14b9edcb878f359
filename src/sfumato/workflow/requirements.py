"""From the plan's [privacy] table to privacy models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.ground.errors import ParameterError, PlanError, listed, nearest
from sfumato.models.alpha_k import AlphaKAnonymity
from sfumato.models.confidence import ConfidenceBounding, Template
from sfumato.models.e_m_anonymity import EMAnonymity
from sfumato.models.judge import READINGS
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity, SimpleLDiversity
from sfumato.models.lkc import LKCPrivacy
from sfumato.models.personalized import PersonalizedPrivacy
from sfumato.models.presence import DeltaPresence, KMap
from sfumato.models.t_closeness import TCloseness
from sfumato.models.verdict import Model
from sfumato.workflow.keys import Keys

Ancestors = Mapping[str, tuple[str, ...]]
Costs = tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]
DISTANCES = ("variational", "kl", "emd-equal", "emd-ordered", "emd-hierarchical", "emd-matrix")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a requirement may refer to."""

    quasi: tuple[str, ...]
    """The quasi-identifiers."""
    sensitive: tuple[str, ...]
    """The sensitive columns."""
    published: tuple[str, ...]
    """Every column that is published."""
    paths: Callable[[str], Ancestors]
    """The hierarchy of a sensitive column, as value to labels above it."""
    costs: Callable[[str, str | None], Costs]
    """The cost matrix of a sensitive column, from a named file."""


def requirement(privacy: Mapping[str, Any], context: Context) -> tuple[Model, ...]:
    """Every model that the [privacy] table asks for, k-anonymity first."""
    keys = Keys.of(privacy, "privacy")
    keys.only(*BUILDERS, "reading", "epsilon")
    keys.one_of("reading", READINGS, "strict")
    if "epsilon" in privacy:
        raise PlanError(
            "privacy.epsilon: differential privacy is made by other algorithms than these models; use "
            "sfumato.release or `sfumato release`, which choose by this key"
        )
    models: list[Model] = []
    for key, build in BUILDERS.items():
        for spec, path in _several(privacy.get(key), keys.at(key)):
            try:
                models.extend(build(spec, path, context))
            except ParameterError as error:
                raise PlanError(f"{path}: {error}") from error
    if not models:
        raise PlanError(f"privacy: no requirement is named; use one or more of {listed(BUILDERS, most=20)}")
    return tuple(models)


def _several(value: Any, path: str) -> list[tuple[Any, str]]:
    """One specification, or each of a list."""
    if value is None:
        return []
    if isinstance(value, list):
        return [(item, f"{path}[{place}]") for place, item in enumerate(value)]
    return [(value, path)]


def _columns(keys: Keys, context: Context) -> tuple[str, ...]:
    """The sensitive column that is named, or all of them."""
    named = keys.text("column")
    if named is not None and named not in context.sensitive:
        raise PlanError(
            f"{keys.at('column')}: {named!r} is not a sensitive column{nearest(named, context.sensitive)} "
            f"Sensitive are {listed(context.sensitive)}"
        )
    found = context.sensitive if named is None else (named,)
    if not found:
        raise PlanError(f"{keys.path} needs a sensitive column; give one the role 'sensitive'")
    return found


def _table(spec: Any, path: str, *known: str) -> Keys:
    keys = Keys.of(spec, path)
    keys.only(*known)
    return keys


def _k_anonymity(spec: Any, path: str, context: Context) -> list[Model]:
    if not context.quasi:
        raise PlanError(f"{path} needs a column with role 'quasi'")
    return [KAnonymity(k=spec)]


def _l_diversity(spec: Any, path: str, context: Context) -> list[Model]:
    keys = _table(spec if isinstance(spec, Mapping) else {"l": spec}, path, "kind", "l", "c", "column")
    kind = keys.one_of("kind", ("distinct", "entropy", "recursive", "simple"), "distinct")
    if (kind == "recursive") != ("c" in keys.table):
        raise PlanError(f"{keys.at('c')}: c belongs to kind = 'recursive', and there it is needed")
    l: Any = keys.table.get("l")
    made: list[Model] = []
    for column in _columns(keys, context):
        if kind == "distinct":
            made.append(DistinctLDiversity(l=l, column=column))
        elif kind == "entropy":
            made.append(EntropyLDiversity(l=l, column=column))
        elif kind == "simple":
            made.append(SimpleLDiversity(l=l, column=column))
        else:
            made.append(RecursiveLDiversity(c=keys.table["c"], l=l, column=column))
    return made


def _t_closeness(spec: Any, path: str, context: Context) -> list[Model]:
    keys = _table(
        spec if isinstance(spec, Mapping) else {"t": spec},
        path,
        "t",
        "distance",
        "reference",
        "order",
        "file",
        "column",
    )
    distance = keys.one_of("distance", DISTANCES, "emd-equal")
    made: list[Model] = []
    for column in _columns(keys, context):
        order, costs = keys.texts("order"), ()
        if distance == "emd-matrix":
            order, costs = context.costs(column, keys.text("file"))  # type: ignore[assignment]
        made.append(
            TCloseness(
                t=keys.table.get("t"),  # type: ignore[arg-type]
                column=column,
                distance=distance,  # type: ignore[arg-type]
                reference=keys.one_of("reference", ("released", "original"), "released"),  # type: ignore[arg-type]
                order=order,
                paths=context.paths(column) if distance == "emd-hierarchical" else {},
                costs=costs,
            )
        )
    return made


def _lkc(spec: Any, path: str, context: Context) -> list[Model]:
    keys = _table(spec, path, "l", "k", "c", "values", "column")
    get: Any = keys.table.get
    return [
        LKCPrivacy(l=get("l"), k=get("k"), c=get("c"), column=column, values=keys.texts("values"))
        for column in _columns(keys, context)
    ]


def _alpha_k(spec: Any, path: str, context: Context) -> list[Model]:
    keys = _table(spec, path, "alpha", "k", "values", "column")
    get: Any = keys.table.get
    return [
        AlphaKAnonymity(alpha=get("alpha"), k=get("k"), column=column, values=keys.texts("values"))
        for column in _columns(keys, context)
    ]


def _confidence(spec: Any, path: str, context: Context) -> list[Model]:
    keys = _table(spec, path, "quasi", "column", "value", "limit")
    quasi = keys.texts("quasi")
    for name in quasi:
        if name not in context.quasi:
            raise PlanError(
                f"{keys.at('quasi')}: {name!r} is not a quasi-identifier{nearest(name, context.quasi)} "
                f"Quasi-identifiers are {listed(context.quasi)}"
            )
    columns = _columns(keys, context)
    if len(columns) > 1:
        raise PlanError(f"{keys.at('column')}: which of the sensitive columns {listed(columns)}?")
    limit: Any = keys.table.get("limit")
    template = Template(quasi=quasi, column=columns[0], value=keys.required_text("value"), limit=limit)
    return [ConfidenceBounding(templates=(template,))]


def _e_m(spec: Any, path: str, context: Context) -> list[Model]:
    keys = _table(spec, path, "e", "m", "relative", "column")
    get: Any = keys.table.get
    relative = keys.flag("relative", default=False)
    return [EMAnonymity(e=get("e"), m=get("m"), column=column, relative=relative) for column in _columns(keys, context)]


def _delta_presence(spec: Any, path: str, context: Context) -> list[Model]:
    keys = _table(spec, path, "low", "high")
    get: Any = keys.table.get
    return [DeltaPresence(low=get("low", 0.0), high=get("high", 1.0))]


def _k_map(spec: Any, path: str, context: Context) -> list[Model]:
    return [KMap(k=spec)]


def _personalized(spec: Any, path: str, context: Context) -> list[Model]:
    keys = _table(spec, path, "p", "guards", "guard_column", "column")
    guard = keys.text("guard_column")
    if guard is not None and guard not in context.published:
        raise PlanError(
            f"{keys.at('guard_column')}: {guard!r} must be published (role 'keep'), or nobody could verify the claim; "
            "to keep wishes private, map sensitive values to guarding nodes with guards"
        )
    guards = Keys.of(keys.table.get("guards", {}), keys.at("guards"))
    p: Any = keys.table.get("p")
    return [
        PersonalizedPrivacy(
            p=p,
            column=column,
            paths=context.paths(column),
            guards={value: guards.required_text(value) for value in guards.table},
            guard_column=guard,
        )
        for column in _columns(keys, context)
    ]


BUILDERS: Mapping[str, Callable[[Any, str, Context], list[Model]]] = {
    "k_anonymity": _k_anonymity,
    "l_diversity": _l_diversity,
    "t_closeness": _t_closeness,
    "alpha_k": _alpha_k,
    "confidence": _confidence,
    "lkc": _lkc,
    "e_m": _e_m,
    "delta_presence": _delta_presence,
    "k_map": _k_map,
    "personalized": _personalized,
}
