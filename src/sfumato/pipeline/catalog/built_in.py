"""What sfumato itself brings; it comes in by the same door as plugins.

Methods, algorithms, attacks and protocols are imported when they are asked for: a release pays for its own only.
"""

# ruff: noqa: N811, N813, PLR0912, PLR0915  imports by name, in one place: classes and functions are called alike

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sfumato.bundles.manifest.sections import CONDENSED_KEY
from sfumato.metrics.information_loss import (
    NCP,
    AverageClassSize,
    ClassificationMetric,
    Discernibility,
    DiscernibilityRatio,
    Height,
    LossMetric,
    NonUniformEntropy,
    Precision,
)
from sfumato.pipeline.catalog.models import MODELS
from sfumato.pipeline.catalog.parts import (
    AlgorithmPart,
    AttackPart,
    MethodPart,
    MetricPart,
    Parts,
    ProtocolPart,
    SectionPart,
)
from sfumato.tables.files import FORMATS

SPOKEN_OF = 6
"""About how many columns a statement speaks of that is to be true of one person only."""
KNOWN_VALUES = 2
"""How many quasi-identifiers the adversary with little knowledge has."""

LEARNED_FROM = 20_000
"""From how many rows an attack that learns does so, in an audit."""
ROUNDS = 15
"""How often deFinetti learns and assigns, in an audit."""
REASONED = 2_000
"""About how many classes minimality reasons, in an audit."""


def _noisy(plan: Any) -> bool:
    return "epsilon" in plan.privacy or "rho" in plan.privacy


METHODS: list[MethodPart] = []
"""In the order in which they are asked whether a plan is theirs; ``table`` takes every plan that is left."""


def _method(
    requested: Callable[[Any], bool] = lambda plan: False, **parts: tuple[str, ...]
) -> Callable[[Callable[[], Any]], None]:
    """List the method that a function imports, under the name of the function."""
    return lambda load: METHODS.append(
        MethodPart(name=load.__name__.removeprefix("_"), load=load, requested=requested, **parts)
    )


@_method()
def _joint() -> Any:
    from sfumato.pipeline.methods.joint import METHOD

    return METHOD


@_method(lambda plan: plan.collection is not None)
def _collected() -> Any:
    from sfumato.pipeline.methods.collected import METHOD

    return METHOD


@_method(lambda plan: plan.tree is not None)
def _tree() -> Any:
    from sfumato.pipeline.methods.tree.method import METHOD

    return METHOD


@_method(lambda plan: _noisy(plan) and plan.privacy.get("domains") == "observed")
def _observed() -> Any:
    from sfumato.pipeline.methods.observed import METHOD

    return METHOD


@_method(_noisy)
def _private() -> Any:
    from sfumato.pipeline.methods.private.method import METHOD

    return METHOD


@_method(lambda plan: plan.algorithm.name == "swapping", algorithms=("swapping",), attacks=("nearest-record",))
def _swapped() -> Any:
    from sfumato.pipeline.methods.swapped import METHOD

    return METHOD


@_method(lambda plan: plan.algorithm.name == "graded", algorithms=("graded",), attacks=("known-plaintext", "frequency"))
def _graded() -> Any:
    from sfumato.pipeline.methods.graded import METHOD

    return METHOD


@_method(lambda plan: plan.algorithm.name == "condense" or CONDENSED_KEY in plan.privacy)
def _condensed() -> Any:
    from sfumato.pipeline.methods.condensed.method import METHOD

    return METHOD


@_method(lambda plan: "hidden_rules" in plan.privacy)
def _sanitized() -> Any:
    from sfumato.pipeline.methods.sanitized import METHOD

    return METHOD


@_method(lambda plan: bool(plan.itemized))
def _items() -> Any:
    from sfumato.pipeline.methods.items.method import METHOD

    return METHOD


@_method()
def _table() -> Any:
    from sfumato.pipeline.methods.table.method import METHOD

    return METHOD


METRICS = (
    MetricPart(make=LossMetric, meaning="the share of each domain that a cell no longer tells apart (LM)"),
    MetricPart(make=NCP, meaning="the share of each domain that a cell's label covers (normalized certainty penalty)"),
    MetricPart(
        make=Discernibility, meaning="every row pays the size of its group, a suppressed row the size of the table"
    ),
    MetricPart(make=DiscernibilityRatio, meaning="discernibility as a share of its largest value"),
    MetricPart(
        make=ClassificationMetric,
        meaning="the share of rows that are suppressed or not of their group's majority class",
    ),
    MetricPart(make=Height, meaning="how many levels the columns climbed together"),
    MetricPart(make=Precision, meaning="one minus the average share of its hierarchy that a cell climbed"),
    MetricPart(
        make=NonUniformEntropy, meaning="the share of bits about the original cells that is gone (non-uniform entropy)"
    ),
    MetricPart(make=AverageClassSize, meaning="the average group, in units of k"),
)


def _algorithm(name: str) -> Any:
    """One of our algorithms; it is imported when a plan asks for it."""
    run: Any
    match name:
        case "optimal":
            from sfumato.algorithms.lattice.optimal import optimal as run
        case "levels":
            from sfumato.algorithms.lattice.nodes import NamedLevels as run
        case "samarati":
            from sfumato.algorithms.lattice.samarati import samarati as run
        case "incognito":
            from sfumato.algorithms.lattice.incognito import Incognito as run
        case "datafly":
            from sfumato.algorithms.lattice.datafly import datafly as run
        case "greedy":
            from sfumato.algorithms.lattice.greedy import greedy as run
        case "k-optimize":
            from sfumato.algorithms.k_optimize.set_enumeration import KOptimize as run
        case "mondrian":
            from sfumato.algorithms.mondrian import Mondrian as run
        case "local":
            from sfumato.algorithms.local import Local as run
        case "cell-suppression":
            from sfumato.algorithms.local import CellSuppression as run
        case "hilbert":
            from sfumato.algorithms.one_dimensional import OneDimensional as run
        case "top-down":
            from sfumato.algorithms.top_down import TopDown as run
        case "bottom-up":
            from sfumato.algorithms.bottom_up import BottomUp as run
        case "anatomy":
            from sfumato.algorithms.anatomy import Anatomy as run
        case "microaggregation":
            from sfumato.algorithms.microaggregation import Microaggregation as run
        case "reconstruct":
            from sfumato.collection.estimates import Reconstruction as run
        case "condense":
            from sfumato.algorithms.condensation import Condense as run
        case "atp":
            from sfumato.mining.tree_publishing import PrunedTrees as run
        case "ldm":
            from sfumato.mining.tree_publishing import GrownTrees as run
        case "noisy-leaves":
            from sfumato.mining.tree_publishing import NoisyLeaves as run
        case "trajectory":
            from sfumato.algorithms.items import Trajectory as run
        case "sets":
            from sfumato.algorithms.items import Sets as run
        case "local-sets":
            from sfumato.algorithms.items import LocalSets as run
        case "top-down-sets":
            from sfumato.algorithms.items import TopDownSets as run
        case "hide-items":
            from sfumato.algorithms.sanitize.removal import ItemRemoval as run
        case "hide-transactions":
            from sfumato.algorithms.sanitize.removal import TransactionRemoval as run
        case "hide-unknowns":
            from sfumato.algorithms.sanitize.removal import Blocking as run
        case "hide-border":
            from sfumato.algorithms.sanitize.border_hiding import BorderHiding as run
        case "hide-exact":
            from sfumato.algorithms.sanitize.exact_hiding import ExactHiding as run
        case "diffgen":
            from sfumato.algorithms.diffgen import DiffGen as run
        case _:
            from sfumato.algorithms.marginals import Marginals as run
    return run


def _of(name: str, **more: Any) -> AlgorithmPart:
    return AlgorithmPart(name=name, load=lambda: _algorithm(name), **more)


ALGORITHMS = (
    _of("optimal", people=True),
    _of("levels", people=True),
    _of("samarati", people=True),
    _of("incognito", people=True),
    _of("datafly", people=True),
    _of("greedy", anytime=True, people=True),
    _of("k-optimize", anytime=True),
    _of("mondrian", people=True),
    _of("local", anytime=True, people=True),
    _of("cell-suppression", people=True),
    _of("hilbert"),
    _of("top-down"),
    _of("bottom-up"),
    _of("anatomy"),
    _of("microaggregation"),
    _of("reconstruct", solves="collected", needs=("rows",)),
    _of("condense", solves="condensed", needs=("rows",)),
    _of("atp", solves="tree", needs=("rows",)),
    _of("ldm", solves="tree", needs=("rows",)),
    _of("noisy-leaves", solves="tree", needs=("rows",)),
    _of("trajectory", solves="items"),
    _of("sets", solves="items"),
    _of("local-sets", solves="items"),
    _of("top-down-sets", solves="items"),
    _of("hide-items", solves="sanitized", needs=("rows",)),
    _of("hide-transactions", solves="sanitized", needs=("rows",)),
    _of("hide-unknowns", solves="sanitized", needs=("rows",)),
    _of("hide-border", solves="sanitized", needs=("rows",)),
    _of("hide-exact", solves="sanitized", anytime=True, needs=("rows",)),
    _of("diffgen", solves="private", needs=("integers",)),
    _of("marginals", solves="private", needs=("integers",)),
)


def _attack(name: str) -> Any:
    """One of our attacks; it is imported when it is made."""
    attack: Any
    match name:
        case "linkage":
            from sfumato.attacks.linkage import Linkage as attack
        case "lkc-adversary":
            from sfumato.attacks.lkc import LkcAdversary as attack
        case "households":
            from sfumato.attacks.linkage import Households as attack
        case "fellegi-sunter":
            from sfumato.attacks.fellegi_sunter import FellegiSunter as attack
        case "singling-out":
            from sfumato.attacks.singling_out import SinglingOut as attack
        case "linkability":
            from sfumato.attacks.linkability import Linkability as attack
        case "homogeneity":
            from sfumato.attacks.homogeneity import Homogeneity as attack
        case "background":
            from sfumato.attacks.homogeneity import Background as attack
        case "skewness":
            from sfumato.attacks.similarity import Skewness as attack
        case "similarity":
            from sfumato.attacks.similarity import Similarity as attack
        case "proximity":
            from sfumato.attacks.similarity import Proximity as attack
        case "date-shift":
            from sfumato.attacks.date_shift import ShiftedDates as attack
        case "divergence":
            from sfumato.attacks.similarity import Divergence as attack
        case "inference":
            from sfumato.attacks.inference import Inference as attack
        case "membership":
            from sfumato.attacks.membership import Membership as attack
        case "nearest-neighbour":
            from sfumato.attacks.membership import NearestNeighbour as attack
        case "protected-values":
            from sfumato.attacks.lkc import ProtectedValues as attack
        case "minimality":
            from sfumato.attacks.minimality import Minimality as attack
        case "definetti":
            from sfumato.attacks.definetti import DeFinetti as attack
        case "foreground":
            from sfumato.attacks.foreground import Foreground as attack
        case "sparse":
            from sfumato.attacks.sparse_sets import SparseSets as attack
        case "lowered-thresholds":
            from sfumato.attacks.lowered_thresholds import LoweredThresholds as attack
        case "spectral":
            from sfumato.attacks.spectral_filter import NoiseFilter as attack
        case "bayes-guess":
            from sfumato.attacks.randomized_answers import BayesGuess as attack
        case "tree-inference":
            from sfumato.attacks.trees import TreeInference as attack
        case "tree-membership":
            from sfumato.attacks.trees import TreeMembership as attack
        case "tree-combination":
            from sfumato.attacks.trees import TreeCombination as attack
        case _:
            from sfumato.attacks.trees import TreeMinimality as attack
    return attack


def _by(name: str, options: Mapping[str, Any] | None = None, **more: Any) -> AttackPart:
    return AttackPart(name=name, make=lambda trials: _attack(name)(trials=trials, **(options or {})), **more)


ATTACKS = (
    _by("linkage", quick=True),
    _by("lkc-adversary", {"l": KNOWN_VALUES, "choice": "worst"}, quick=True),
    _by("households"),
    _by("fellegi-sunter"),
    _by("singling-out", {"columns": SPOKEN_OF}, also=("condensed",)),
    _by("linkability", by_distance=True, also=("condensed",)),
    _by("homogeneity", quick=True),
    _by("background", quick=True),
    _by("skewness"),
    _by("similarity", quick=True),
    _by("proximity", quick=True),
    _by("date-shift"),
    _by("divergence"),
    _by("inference", by_distance=True),
    _by("membership", by_distance=True, also=("condensed",)),
    _by("nearest-neighbour", by_distance=True, also=("condensed",)),
    _by("protected-values", quick=True),
    _by("minimality", {"classes": REASONED}, quick=True),
    _by("definetti", {"rows": LEARNED_FROM, "rounds": ROUNDS}, quick=True),
    _by("foreground", {"rows": LEARNED_FROM}, quick=True),
    _by("sparse", quick=True, attacks="items"),
    _by("lowered-thresholds", quick=True, attacks="sanitized"),
    _by("spectral", quick=True, attacks="collected"),
    _by("bayes-guess", quick=True, attacks="collected"),
    _by("tree-inference", quick=True, attacks="tree"),
    _by("tree-membership", quick=True, attacks="tree"),
    _by("tree-combination", quick=True, attacks="tree"),
    _by("tree-minimality", quick=True, attacks="tree"),
)


def _session_checks() -> Any:
    from sfumato.pipeline.methods.joint import session_checks

    return session_checks


def _batch_checks() -> Any:
    from sfumato.bundles.checks.condensed import batch_checks

    return batch_checks


SECTIONS = (SectionPart(name="session", load=_session_checks), SectionPart(name="stream", load=_batch_checks))


def _protocol(name: str) -> Any:
    """One of our protocols; it is imported when a session names it."""
    protocol: Any
    match name:
        case "counts":
            from sfumato.parties.summed_counts import COUNTS as protocol
        case "rules":
            from sfumato.parties.mining.rules import RULES as protocol
        case "naive-bayes":
            from sfumato.parties.mining.classifiers import BAYES as protocol
        case "tree":
            from sfumato.parties.mining.classifiers import TREE as protocol
        case "vertical-rules":
            from sfumato.parties.mining.vertical import VERTICAL_RULES as protocol
        case "vertical-naive-bayes":
            from sfumato.parties.mining.vertical import VERTICAL_BAYES as protocol
        case "k-means":
            from sfumato.parties.mining.clusters import MEANS as protocol
        case "graded":
            from sfumato.parties.mining.graded import GRADED as protocol
        case "vertical-release":
            from sfumato.pipeline.joint.vertical import VERTICAL_RELEASE as protocol
        case "private-release":
            from sfumato.pipeline.joint.private import PRIVATE_RELEASE as protocol
        case "vertical-private-release":
            from sfumato.pipeline.joint.private import VERTICAL_PRIVATE as protocol
        case _:
            from sfumato.pipeline.joint.horizontal import RELEASE as protocol
    return protocol


def _in(name: str, version: int) -> ProtocolPart:
    return ProtocolPart(name=name, version=version, load=lambda: _protocol(name))


PROTOCOLS = (
    _in("counts", 1),
    _in("rules", 2),
    _in("naive-bayes", 1),
    _in("tree", 1),
    _in("vertical-rules", 2),
    _in("vertical-naive-bayes", 2),
    _in("k-means", 1),
    _in("graded", 1),
    _in("vertical-release", 2),
    _in("private-release", 1),
    _in("vertical-private-release", 2),
    _in("release", 1),
)

PARTS = Parts(
    methods=tuple(METHODS),
    models=MODELS,
    metrics=METRICS,
    algorithms=ALGORITHMS,
    attacks=ATTACKS,
    formats=FORMATS,
    sections=SECTIONS,
    protocols=PROTOCOLS,
)
