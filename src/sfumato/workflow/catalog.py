"""Everything that a plan can name: models, metrics, algorithms; ours and those of plugins alike.

A plugin offers a ``Parts`` record under the entry point group ``sfumato.parts``; ours come in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from sfumato.attacks.identity.risk import risk
from sfumato.bundle.manifest import plain
from sfumato.ground.errors import ParameterError, PlanError, listed, nearest
from sfumato.ground.work import Work
from sfumato.group.classes import Classes
from sfumato.models.alpha_k import AlphaKAnonymity
from sfumato.models.confidence import ConfidenceBounding, Template
from sfumato.models.e_m_anonymity import EMAnonymity
from sfumato.models.item_model import ItemModel
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity, SimpleLDiversity
from sfumato.models.lkc import LKCPrivacy
from sfumato.models.personalized import PersonalizedPrivacy
from sfumato.models.presence import DeltaPresence, KMap
from sfumato.models.t_closeness import TCloseness
from sfumato.models.verdict import Model
from sfumato.publish.anatomy import Anatomy
from sfumato.publish.bottom_up import BottomUp
from sfumato.publish.k_optimize.set_enumeration import KOptimize
from sfumato.publish.lattice.datafly import datafly
from sfumato.publish.lattice.greedy import greedy
from sfumato.publish.lattice.incognito import incognito
from sfumato.publish.lattice.optimal import optimal
from sfumato.publish.lattice.samarati import samarati
from sfumato.publish.lattice.space import MOST_NODES
from sfumato.publish.local import CellSuppression, Local
from sfumato.publish.microaggregation import Microaggregation
from sfumato.publish.mondrian import Mondrian
from sfumato.publish.one_dimensional import OneDimensional
from sfumato.publish.problem import Grain, Outcome, Problem
from sfumato.publish.top_down import TopDown
from sfumato.utility.cell_metrics import NCP, Height, LossMetric, Precision
from sfumato.utility.class_metrics import AverageClassSize, ClassificationMetric, Discernibility, DiscernibilityRatio
from sfumato.utility.entropy import NonUniformEntropy
from sfumato.utility.view import Metric
from sfumato.workflow.item_requirements import item_model, item_requirement
from sfumato.workflow.parts import ModelPart

Algorithm = Callable[[Problem, Work], Outcome]
Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a package brings."""

    models: tuple[ModelPart, ...] = ()
    """Privacy models."""
    metrics: tuple[type[Any], ...] = ()
    """Utility metrics."""
    algorithms: Mapping[str, Algorithm | type[Any]] = field(default_factory=dict)
    """Algorithms by name: functions, or records of options that can be called."""


BUILT_IN = Parts(
    models=(
        ModelPart(make=KAnonymity, plan="k_anonymity = 5"),
        ModelPart(make=DistinctLDiversity, plan='l_diversity = { kind = "distinct", l = 3 }'),
        ModelPart(make=EntropyLDiversity, plan='l_diversity = { kind = "entropy", l = 3 }'),
        ModelPart(make=RecursiveLDiversity, plan='l_diversity = { kind = "recursive", c = 2, l = 3 }'),
        ModelPart(make=SimpleLDiversity, plan='l_diversity = { kind = "simple", l = 2 }'),
        ModelPart(make=TCloseness, plan='t_closeness = { t = 0.2, distance = "emd-equal" }'),
        ModelPart(make=AlphaKAnonymity, plan="alpha_k = { alpha = 0.5, k = 5 }"),
        ModelPart(make=ConfidenceBounding, plan='confidence = [{ quasi = ["job"], value = "HIV", limit = 0.5 }]'),
        ModelPart(make=LKCPrivacy, plan='lkc = { l = 2, k = 5, c = 0.5, values = ["HIV"] }'),
        ModelPart(make=EMAnonymity, plan="e_m = { e = 1000, m = 2 }"),
        ModelPart(make=DeltaPresence, plan="delta_presence = { low = 0.0, high = 0.5 }"),
        ModelPart(make=KMap, plan="k_map = 5"),
        ModelPart(make=PersonalizedPrivacy, plan='personalized = { p = 0.5, guards = { "HIV" = "infection" } }'),
    ),
    metrics=(
        LossMetric,
        NCP,
        Discernibility,
        DiscernibilityRatio,
        ClassificationMetric,
        Height,
        Precision,
        NonUniformEntropy,
        AverageClassSize,
    ),
    algorithms={
        "optimal": optimal,
        "samarati": samarati,
        "incognito": incognito,
        "datafly": datafly,
        "greedy": greedy,
        "k-optimize": KOptimize,
        "mondrian": Mondrian,
        "local": Local,
        "cell-suppression": CellSuppression,
        "hilbert": OneDimensional,
        "top-down": TopDown,
        "bottom-up": BottomUp,
        "anatomy": Anatomy,
        "microaggregation": Microaggregation,
    },
)


class ItemCatalog:
    """The models of paths and sets, as a verifier needs them."""

    def model(self, name: str, given: Mapping[str, Any]) -> ItemModel:
        """A model from its name and its parameters as the manifest has them."""
        return item_model(name, given)

    def asked(self, plan: Mapping[str, Any], sensitive: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
        """The models that a manifest's plan asks for."""
        return [(model.name, parameters(model)) for model in item_requirement(plan["privacy"], sensitive)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """All parts by name."""

    models: Mapping[str, ModelPart]
    """Privacy models."""
    metrics: Mapping[str, type[Any]]
    """Utility metrics."""
    algorithms: Mapping[str, Algorithm | type[Any]]
    """Algorithms."""

    def model(self, name: str, parameters: Mapping[str, Any]) -> Model:
        """A model from its name and its parameters as the manifest has them."""
        part = _named(name, self.models, "model")
        known = {one.name for one in fields(part.make)}
        if set(parameters) - known:
            raise ParameterError(f"{name} has no parameter {listed(sorted(set(parameters) - known))}")
        try:
            model: Model = part.make(**{key: _revived(key, value) for key, value in parameters.items()})
        except TypeError as error:
            raise ParameterError(f"{name}: {error}") from error
        return model

    def metric(self, name: str, *, k: int = 1) -> Metric:
        """A metric by name."""
        make = _named(name, self.metrics, "utility.metric")
        metric: Metric = make(k=k) if any(one.name == "k" for one in fields(make)) else make()
        return metric

    def stated(self, *, target: bool) -> list[str]:
        """The built-in metrics, which every manifest states."""
        return [make.name for make in BUILT_IN.metrics if target or "target" not in make.needs]

    def risk(self, classes: Classes) -> dict[str, Any]:
        """Re-identification risks of classes, with their population where there is one."""
        return risk(classes.sizes, classes.population_sizes()[0] if classes.population else None).to_json()

    @property
    def items(self) -> ItemCatalog:
        """The models of paths and sets."""
        return ItemCatalog()

    def named_algorithm(self, name: str, options: Options) -> Algorithm:
        """An algorithm with its options; one that it does not have is refused by its path."""
        part = _named(name, {"auto": auto, **self.algorithms}, "algorithm.name")
        known = tuple(one.name for one in fields(part)) if isinstance(part, type) else ()
        for key in options:
            if key not in known:
                hint, every = nearest(key, (*known, *_KEYS)), listed((*known, *_KEYS), most=20)
                raise PlanError(f"algorithm.{key}: unknown key{hint} Known here, with {name}: {every}")
        try:
            made: Algorithm = part(**options) if isinstance(part, type) else part
        except ParameterError as error:
            raise PlanError(f"algorithm.{error}") from error
        return made

    def algorithm(self, name: str, problem: Problem, options: Options) -> tuple[str, Algorithm, str]:
        """The algorithm that a name stands for, with its options, and why."""
        why = "Named in the plan."
        if name == "auto":
            name, why = chosen(problem)
        return name, self.named_algorithm(name, options), why


_KEYS = ("name", "max_suppressed", "suppressed", "exempt_suppressed", "seconds", "seed")


_UNBOUNDED = 200_000
"""The most nodes for an optimum by a metric whose loss is not a sum over columns: most of them must be judged."""


def chosen(problem: Problem) -> tuple[str, str]:
    """What ``auto`` stands for by size, metric and models, and why.

    The optimum comes first: it is proven, and a value reads the same in every row. Where it cannot be had, Mondrian
    loses least in seconds, if the models judge groups one by one; for the others there is the greedy search.
    """
    name = problem.metric.name
    most = MOST_NODES if problem.floors() is not None else _UNBOUNDED
    if problem.nodes <= most:
        return "optimal", (
            f"Chosen by auto: the optimal search can prove its result, for {name} and these models, on a lattice of "
            f"{problem.nodes:,} nodes, and a value reads the same in every row."
        )
    why = f"Chosen by auto: the lattice has {problem.nodes:,} nodes, more than the {most:,} that an optimum by {name} "
    whole = [m.name for m in problem.models if m.counts_anew or not m.kept_by_merging]
    if whole or problem.cells.population is not None:
        asks = f"{whole[0]} judges" if whole else "a population is counted with"
        return "greedy", f"{why}can be proven for; {asks} the whole table, which a full-domain search keeps."
    return "mondrian", f"{why}can be proven for, and the models judge groups one by one."


def auto(problem: Problem, work: Work) -> Outcome:
    """Choose by size, models and metric."""
    _, run, _ = catalog().algorithm("auto", problem, {})
    return run(problem, work)


def grain(run: Algorithm, problem: Problem) -> Grain:
    """Whether an algorithm works on cells or, for this problem, tells single rows apart."""
    found: Any = getattr(run, "grain", "cells")
    told: Grain = found(problem) if callable(found) else found
    return told


def parameters(model: Model | ItemModel) -> dict[str, Any]:
    """A model's parameters as the manifest has them."""
    found: dict[str, Any] = plain(asdict(model))  # type: ignore[call-overload]
    return found


@cache
def catalog() -> Catalog:
    """The built-in parts and those of installed plugins."""
    every = [BUILT_IN, *(entry.load() for entry in entry_points(group="sfumato.parts"))]
    return Catalog(
        models={part.make.name: part for parts in every for part in parts.models},
        metrics={make.name: make for parts in every for make in parts.metrics},
        algorithms={name: run for parts in every for name, run in parts.algorithms.items()},
    )


def _named(name: str, known: Mapping[str, Any], where: str) -> Any:
    if name not in known:
        raise PlanError(f"{where}: {name!r} is not known{nearest(name, known)} Known: {listed(known, most=30)}")
    return known[name]


def _revived(key: str, value: Any) -> Any:
    """A parameter from JSON: lists become tuples, templates become records."""
    if key == "templates" and isinstance(value, list):
        return tuple(Template(**{name: _revived(name, item) for name, item in spec.items()}) for spec in value)
    if isinstance(value, list):
        return tuple(_revived("", item) for item in value)
    if isinstance(value, dict):
        return {name: _revived("", item) for name, item in value.items()}
    return value
