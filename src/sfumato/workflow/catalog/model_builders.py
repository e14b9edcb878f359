"""From what a plan says under a key of [privacy] to models; every refusal names the key's path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.ground.errors import PlanError, listed, nearest
from sfumato.models.alpha_k import AlphaKAnonymity
from sfumato.models.confidence import ConfidenceBounding, Template
from sfumato.models.divergence import DivergenceBounding
from sfumato.models.e_m_anonymity import EMAnonymity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.km_anonymity import KMAnonymity
from sfumato.models.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity, SimpleLDiversity
from sfumato.models.lkc import CERTAIN, LKCPrivacy
from sfumato.models.personalized import PersonalizedPrivacy
from sfumato.models.presence import DeltaPresence, KMap
from sfumato.models.rho_uncertainty import RhoUncertainty
from sfumato.models.t_closeness import TCloseness
from sfumato.workflow.catalog.parts import Context
from sfumato.workflow.plan.plan_table import Keys

DISTANCES = ("variational", "kl", "emd-equal", "emd-ordered", "emd-hierarchical", "emd-matrix")


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


def k_anonymity(spec: Any, path: str, context: Context) -> list[Any]:
    """k-anonymity from a number."""
    if not context.quasi:
        raise PlanError(f"{path} needs a column with role 'quasi'")
    return [KAnonymity(k=spec)]


def l_diversity(spec: Any, path: str, context: Context) -> list[Any]:
    """One of the four kinds of l-diversity, for each sensitive column."""
    keys = _table(spec if isinstance(spec, Mapping) else {"l": spec}, path, "kind", "l", "c", "column")
    kind = keys.one_of("kind", ("distinct", "entropy", "recursive", "simple"), "distinct")
    if (kind == "recursive") != ("c" in keys.table):
        raise PlanError(f"{keys.at('c')}: c belongs to kind = 'recursive', and there it is needed")
    l: Any = keys.table.get("l")
    made: list[Any] = []
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


def t_closeness(spec: Any, path: str, context: Context) -> list[Any]:
    """t-closeness, for each sensitive column."""
    keys = _table(
        spec if isinstance(spec, Mapping) else {"t": spec},
        path,
        "t",
        "distance",
        "reference",
        "order",
        "file",
        "costs",
        "column",
    )
    distance = keys.one_of("distance", DISTANCES, "emd-equal")
    made: list[Any] = []
    for column in _columns(keys, context):
        order, costs = keys.texts("order"), ()
        if distance == "emd-matrix" and "costs" in keys.table:
            costs = _matrix(keys)  # type: ignore[assignment]
        elif distance == "emd-matrix":
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


def _matrix(keys: Keys) -> tuple[tuple[float, ...], ...]:
    """A cost matrix that stands in the plan itself."""
    lines = keys.table["costs"]
    if not isinstance(lines, list | tuple):
        raise PlanError(f"{keys.at('costs')} must be a list of lists of numbers, not {lines!r}")
    return tuple(Keys(table={"costs": line}, path=keys.path).numbers("costs") for line in lines)


def lkc(spec: Any, path: str, context: Context) -> list[Any]:
    """LKC-privacy, for each sensitive column; without c no confidence is bounded."""
    keys = _table(spec, path, "l", "k", "c", "values", "column")
    get: Any = keys.table.get
    return [
        LKCPrivacy(l=get("l"), k=get("k"), c=get("c", CERTAIN), column=column, values=keys.texts("values"))
        for column in _columns(keys, context)
    ]


def alpha_k(spec: Any, path: str, context: Context) -> list[Any]:
    """(alpha, k)-anonymity, for each sensitive column."""
    keys = _table(spec, path, "alpha", "k", "values", "column")
    get: Any = keys.table.get
    return [
        AlphaKAnonymity(alpha=get("alpha"), k=get("k"), column=column, values=keys.texts("values"))
        for column in _columns(keys, context)
    ]


def confidence(spec: Any, path: str, context: Context) -> list[Any]:
    """One template of confidence bounding."""
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


def e_m(spec: Any, path: str, context: Context) -> list[Any]:
    """(e, m)-anonymity, for each sensitive column."""
    keys = _table(spec, path, "e", "m", "relative", "column")
    get: Any = keys.table.get
    relative = keys.flag("relative", default=False)
    return [EMAnonymity(e=get("e"), m=get("m"), column=column, relative=relative) for column in _columns(keys, context)]


def divergence(spec: Any, path: str, context: Context) -> list[Any]:
    """A bound on divergence breaches, for each sensitive column; far is another value, or one in another branch."""
    keys = _table(spec if isinstance(spec, Mapping) else {"confidence": spec}, path, "confidence", "far", "column")
    far, confidence = keys.one_of("far", ("value", "branch"), "value"), keys.table.get("confidence")
    return [
        DivergenceBounding(
            confidence=confidence,  # type: ignore[arg-type]
            column=column,
            far=far,  # type: ignore[arg-type]
            paths=context.paths(column) if far == "branch" else {},
        )
        for column in _columns(keys, context)
    ]


def delta_presence(spec: Any, path: str, context: Context) -> list[Any]:
    """delta-presence between two shares."""
    keys = _table(spec, path, "low", "high")
    get: Any = keys.table.get
    return [DeltaPresence(low=get("low", 0.0), high=get("high", 1.0))]


def k_map(spec: Any, path: str, context: Context) -> list[Any]:
    """k-map from a number."""
    return [KMap(k=spec)]


def personalized(spec: Any, path: str, context: Context) -> list[Any]:
    """Personalized privacy, for each sensitive column."""
    keys = _table(spec, path, "p", "guards", "guard_column", "column")
    guard = keys.text("guard_column")
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


def km(spec: Any, path: str, context: Context) -> list[Any]:
    """k^m-anonymity."""
    keys = _table(spec, path, "k", "m")
    get: Any = keys.table.get
    return [KMAnonymity(k=get("k"), m=get("m"))]


def rho(spec: Any, path: str, context: Context) -> list[Any]:
    """rho-uncertainty of named items."""
    keys = _table(spec, path, "rho", "sensitive", "l")
    get: Any = keys.table.get
    return [RhoUncertainty(rho=get("rho"), sensitive=keys.texts("sensitive"), l=get("l"))]
