"""The privacy models that a plan can name: their keys, builders, words and guarantees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.attacks.guarantees import READERS
from sfumato.core.errors import PlanError, listed, nearest
from sfumato.models.confidence import ConfidenceBounding, DivergenceBounding, Template
from sfumato.models.e_m_anonymity import EMAnonymity
from sfumato.models.item_models import KMAnonymity, RhoUncertainty
from sfumato.models.k_anonymity import AlphaKAnonymity, KAnonymity
from sfumato.models.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity, SimpleLDiversity
from sfumato.models.lkc import CERTAIN, LKCPrivacy
from sfumato.models.personalized import PersonalizedPrivacy
from sfumato.models.presence import DeltaPresence, KMap
from sfumato.models.t_closeness import TCloseness
from sfumato.pipeline.catalog.parts import Context, ModelPart
from sfumato.pipeline.plan.keys import Keys

# From what a plan says under a key of [privacy] to models; every refusal names the key's path.


DISTANCES = ("variational", "kl", "emd-equal", "emd-ordered", "emd-hierarchical", "emd-matrix")


def _columns(keys: Keys, context: Context) -> tuple[str, ...]:
    """The sensitive column that is named, or all of them."""
    named = keys.text("column")
    if named is not None and named not in context.sensitive:
        raise PlanError(
            f"{keys.at('column')}: {named!r} is not a sensitive column{nearest(named, context.sensitive)} "
            f"Sensitive are {listed(context.sensitive)}"
        )
    columns = context.sensitive if named is None else (named,)
    if not columns:
        raise PlanError(f"{keys.path} needs a sensitive column; give one the role 'sensitive'")
    return columns


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
    models: list[Any] = []
    for column in _columns(keys, context):
        if kind == "distinct":
            models.append(DistinctLDiversity(l=l, column=column))
        elif kind == "entropy":
            models.append(EntropyLDiversity(l=l, column=column))
        elif kind == "simple":
            models.append(SimpleLDiversity(l=l, column=column))
        else:
            models.append(RecursiveLDiversity(c=keys.table["c"], l=l, column=column))
    return models


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
    models: list[Any] = []
    for column in _columns(keys, context):
        order, costs = keys.texts("order"), ()
        if distance == "emd-matrix" and "costs" in keys.table:
            costs = _matrix(keys)  # type: ignore[assignment]
        elif distance == "emd-matrix":
            order, costs = context.costs(column, keys.text("file"))  # type: ignore[assignment]
        models.append(
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
    return models


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


# The privacy models as a plan asks for them: key, builder, words, and what each promises about an adversary.


MODELS = (
    ModelPart(
        make=KAnonymity,
        key="k_anonymity",
        build=k_anonymity,
        plan="k_anonymity = 5",
        meaning="Every combination of quasi-identifiers is shared by at least {k} rows.",
        limits=(
            "It does not hide what a whole group has in common: if all {k} rows show the same diagnosis, it is learnt."
        ),
        promises=READERS[KAnonymity.name],
    ),
    ModelPart(
        make=DistinctLDiversity,
        key="l_diversity",
        build=l_diversity,
        plan='l_diversity = { kind = "distinct", l = 3 }',
        meaning="Every group shows at least {l} different values of {column}.",
        limits="It does not stop good guesses: one of the values may be far more frequent than the others.",
        promises=READERS[DistinctLDiversity.name],
    ),
    ModelPart(
        make=EntropyLDiversity,
        key="l_diversity",
        build=l_diversity,
        plan='l_diversity = { kind = "entropy", l = 3 }',
        meaning="In every group, {column} is as uncertain as if {l} values were equally likely.",
        limits="It does not see that different values can mean the same to an outsider, such as two kinds of ulcer.",
        promises=READERS[EntropyLDiversity.name],
    ),
    ModelPart(
        make=RecursiveLDiversity,
        key="l_diversity",
        build=l_diversity,
        plan='l_diversity = { kind = "recursive", c = 2, l = 3 }',
        meaning="In every group, the most frequent {column} is rarer than {c} times the tail from the {l}-th value on.",
        limits="It does not protect values that are rare in the whole table but frequent in one group.",
        promises=READERS[RecursiveLDiversity.name],
    ),
    ModelPart(
        make=SimpleLDiversity,
        key="l_diversity",
        build=l_diversity,
        plan='l_diversity = { kind = "simple", l = 2 }',
        meaning="In every group, no {column} is more frequent than 1 in {l}.",
        limits="It does not see that different values can mean the same to an outsider.",
        promises=READERS[SimpleLDiversity.name],
    ),
    ModelPart(
        make=TCloseness,
        key="t_closeness",
        build=t_closeness,
        plan='t_closeness = { t = 0.2, distance = "emd-equal" }',
        meaning="In every group, the distribution of {column} is within {t} ({distance}) of that of the whole table.",
        limits="It does not hide what the whole table says, nor who is in it.",
        promises=READERS[TCloseness.name],
    ),
    ModelPart(
        make=AlphaKAnonymity,
        key="alpha_k",
        build=alpha_k,
        plan="alpha_k = { alpha = 0.5, k = 5 }",
        meaning="Every group has at least {k} rows, and no protected value of {column} is more frequent than {alpha}.",
        limits="It does not protect values that were not named, nor meanings that several values share.",
        promises=READERS[AlphaKAnonymity.name],
    ),
    ModelPart(
        make=ConfidenceBounding,
        key="confidence",
        build=confidence,
        plan='confidence = [{ quasi = ["job"], value = "HIV", limit = 0.5 }]',
        meaning="Nobody can conclude a protected value from the named columns with more than the stated confidence.",
        limits="It protects only the named values, and only against the named columns.",
        promises=READERS[ConfidenceBounding.name],
    ),
    ModelPart(
        make=LKCPrivacy,
        key="lkc",
        build=lkc,
        plan='lkc = { l = 2, k = 5, c = 0.5, values = ["HIV"] }',
        meaning=(
            "Whoever knows up to {l} quasi-identifiers of a person finds at least {k} rows, and infers a protected "
            "value of {column} with confidence at most {c}."
        ),
        limits="It does not protect against an adversary who knows more than {l} of the columns.",
        promises=READERS[LKCPrivacy.name],
        judges=("table", "items"),
    ),
    ModelPart(
        make=EMAnonymity,
        key="e_m",
        build=e_m,
        plan="e_m = { e = 1000, m = 2 }",
        meaning="In every group, at most 1 in {m} rows has a {column} close (within {e}) to any one value.",
        limits="It does not protect against guesses of a wider range than {e}.",
    ),
    ModelPart(
        make=DivergenceBounding,
        key="divergence",
        build=divergence,
        plan='divergence = { confidence = 0.5, far = "branch" }',
        meaning=(
            "In no group do {confidence} or more of the rows have a {column} that is far from somebody's own: whoever "
            "needs that much confidence takes nobody for somebody else."
        ),
        limits="It does not hide a value from somebody who finds the group: all rows of a group may have the same.",
        promises=READERS[DivergenceBounding.name],
    ),
    ModelPart(
        make=DeltaPresence,
        key="delta_presence",
        build=delta_presence,
        plan="delta_presence = { low = 0.0, high = 0.5 }",
        meaning="For every person of the population, the chance to be in this table lies between {low} and {high}.",
        limits="It does not protect the sensitive values of those who are known to be in the table.",
        needs=("population",),
    ),
    ModelPart(
        make=KMap,
        key="k_map",
        build=k_map,
        plan="k_map = 5",
        meaning="Every released combination of quasi-identifiers fits at least {k} people of the population.",
        limits="It does not protect people who are known to be in the table: there the class may be smaller.",
        promises=READERS[KMap.name],
        needs=("population",),
    ),
    ModelPart(
        make=PersonalizedPrivacy,
        key="personalized",
        build=personalized,
        plan='personalized = { p = 0.5, guards = { "HIV" = "infection" } }',
        meaning="Nobody's sensitive value can be placed below the node that the person guards with a chance above {p}.",
        limits="It does not protect people who guard nothing, and guarding itself may say something.",
        promises=READERS[PersonalizedPrivacy.name],
    ),
    ModelPart(
        make=KMAnonymity,
        key="km",
        build=km,
        plan="km = { k = 5, m = 2 }",
        meaning="Whoever knows up to {m} items of a person finds at least {k} records.",
        limits="It does not protect against somebody who knows more than {m} items, nor hide what these records share.",
        promises=READERS[KMAnonymity.name],
        judges=("items",),
    ),
    ModelPart(
        make=RhoUncertainty,
        key="rho_uncertainty",
        build=rho,
        plan='rho_uncertainty = { rho = 0.3, sensitive = ["pregnancy test"], l = 2 }',
        meaning="No items of a person tell a sensitive item with a confidence above {rho}.",
        limits="It does not hide who has a record: somebody with a few known items may be found.",
        promises=READERS[RhoUncertainty.name],
        judges=("items",),
    ),
)
"""Our models, in the order in which a requirement is judged."""
