"""What sfumato itself brings; it comes in by the same door as plugins.

Algorithms and attacks are named by their place and imported when a plan asks for them: a release pays for its own only.
"""

from __future__ import annotations

from collections.abc import Callable
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
from sfumato.pipeline.catalog.parts import AlgorithmPart, AttackPart, MethodPart, MetricPart, Parts, imported
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


def attack(place: str, **options: Any) -> Callable[[int], Any]:
    """What makes an attack for a number of trials; it is imported when it is made."""
    return lambda trials: imported(place)(trials=trials, **options)


# Methods, in the order in which they are asked whether a plan is theirs; ``table`` takes every plan that is left.


def _condensed(plan: Any) -> bool:
    return plan.algorithm.name == "condense" or CONDENSED_KEY in plan.privacy


def _observed(plan: Any) -> bool:
    return _noisy(plan) and plan.privacy.get("domains") == "observed"


def _noisy(plan: Any) -> bool:
    return "epsilon" in plan.privacy or "rho" in plan.privacy


def _load_joint() -> Any:
    from sfumato.pipeline.methods.joint import METHOD

    return METHOD


def _load_collected() -> Any:
    from sfumato.pipeline.methods.collected import METHOD

    return METHOD


def _load_tree() -> Any:
    from sfumato.pipeline.methods.tree.method import METHOD

    return METHOD


def _load_private() -> Any:
    from sfumato.pipeline.methods.private.method import METHOD

    return METHOD


def _load_observed() -> Any:
    from sfumato.pipeline.methods.observed import METHOD

    return METHOD


def _load_swapped() -> Any:
    from sfumato.pipeline.methods.swapped import METHOD

    return METHOD


def _load_graded() -> Any:
    from sfumato.pipeline.methods.graded import METHOD

    return METHOD


def _load_condensed() -> Any:
    from sfumato.pipeline.methods.condensed.method import METHOD

    return METHOD


def _load_sanitized() -> Any:
    from sfumato.pipeline.methods.sanitized import METHOD

    return METHOD


def _load_items() -> Any:
    from sfumato.pipeline.methods.items.method import METHOD

    return METHOD


def _load_table() -> Any:
    from sfumato.pipeline.methods.table.method import METHOD

    return METHOD


METHODS = (
    MethodPart(name="joint", load=_load_joint),
    MethodPart(name="collected", load=_load_collected, requested=lambda plan: plan.collection is not None),
    MethodPart(name="tree", load=_load_tree, requested=lambda plan: plan.tree is not None),
    MethodPart(name="observed", load=_load_observed, requested=_observed),
    MethodPart(name="private", load=_load_private, requested=_noisy),
    MethodPart(name="swapped", load=_load_swapped, requested=lambda plan: plan.algorithm.name == "swapping"),
    MethodPart(name="graded", load=_load_graded, requested=lambda plan: plan.algorithm.name == "graded"),
    MethodPart(name="condensed", load=_load_condensed, requested=_condensed),
    MethodPart(name="sanitized", load=_load_sanitized, requested=lambda plan: "hidden_rules" in plan.privacy),
    MethodPart(name="items", load=_load_items, requested=lambda plan: bool(plan.itemized)),
    MethodPart(name="table", load=_load_table),
)

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

ALGORITHMS = (
    AlgorithmPart(name="optimal", run="sfumato.algorithms.lattice.optimal:optimal", people=True),
    AlgorithmPart(name="levels", run="sfumato.algorithms.lattice.nodes:NamedLevels", people=True),
    AlgorithmPart(name="samarati", run="sfumato.algorithms.lattice.samarati:samarati", people=True),
    AlgorithmPart(name="incognito", run="sfumato.algorithms.lattice.incognito:Incognito", people=True),
    AlgorithmPart(name="datafly", run="sfumato.algorithms.lattice.datafly:datafly", people=True),
    AlgorithmPart(name="greedy", run="sfumato.algorithms.lattice.greedy:greedy", anytime=True, people=True),
    AlgorithmPart(name="k-optimize", run="sfumato.algorithms.k_optimize.set_enumeration:KOptimize", anytime=True),
    AlgorithmPart(name="mondrian", run="sfumato.algorithms.mondrian:Mondrian", people=True),
    AlgorithmPart(name="local", run="sfumato.algorithms.local:Local", anytime=True, people=True),
    AlgorithmPart(name="cell-suppression", run="sfumato.algorithms.local:CellSuppression", people=True),
    AlgorithmPart(name="hilbert", run="sfumato.algorithms.one_dimensional:OneDimensional"),
    AlgorithmPart(name="top-down", run="sfumato.algorithms.top_down:TopDown"),
    AlgorithmPart(name="bottom-up", run="sfumato.algorithms.bottom_up:BottomUp"),
    AlgorithmPart(name="anatomy", run="sfumato.algorithms.anatomy:Anatomy"),
    AlgorithmPart(name="microaggregation", run="sfumato.algorithms.microaggregation:Microaggregation"),
    AlgorithmPart(name="swapping", run="sfumato.algorithms.value_swapping:Swapping", solves="swapped", needs=("rows",)),
    AlgorithmPart(
        name="graded", run="sfumato.algorithms.graded_pseudonyms:GradedPseudonyms", solves="graded", needs=("rows",)
    ),
    AlgorithmPart(
        name="reconstruct",
        run="sfumato.collection.estimates:Reconstruction",
        solves="collected",
        needs=("rows",),
    ),
    AlgorithmPart(name="condense", run="sfumato.algorithms.condensation:Condense", solves="condensed", needs=("rows",)),
    AlgorithmPart(name="atp", run="sfumato.mining.tree_publishing:PrunedTrees", solves="tree", needs=("rows",)),
    AlgorithmPart(name="ldm", run="sfumato.mining.tree_publishing:GrownTrees", solves="tree", needs=("rows",)),
    AlgorithmPart(
        name="noisy-leaves", run="sfumato.mining.tree_publishing:NoisyLeaves", solves="tree", needs=("rows",)
    ),
    AlgorithmPart(name="trajectory", run="sfumato.algorithms.items:Trajectory", solves="items"),
    AlgorithmPart(name="sets", run="sfumato.algorithms.items:Sets", solves="items"),
    AlgorithmPart(name="local-sets", run="sfumato.algorithms.items:LocalSets", solves="items"),
    AlgorithmPart(name="top-down-sets", run="sfumato.algorithms.items:TopDownSets", solves="items"),
    AlgorithmPart(
        name="hide-items",
        run="sfumato.algorithms.sanitize.removal:ItemRemoval",
        solves="sanitized",
        needs=("rows",),
    ),
    AlgorithmPart(
        name="hide-transactions",
        run="sfumato.algorithms.sanitize.removal:TransactionRemoval",
        solves="sanitized",
        needs=("rows",),
    ),
    AlgorithmPart(
        name="hide-unknowns",
        run="sfumato.algorithms.sanitize.removal:Blocking",
        solves="sanitized",
        needs=("rows",),
    ),
    AlgorithmPart(
        name="hide-border",
        run="sfumato.algorithms.sanitize.border_hiding:BorderHiding",
        solves="sanitized",
        needs=("rows",),
    ),
    AlgorithmPart(
        name="hide-exact",
        run="sfumato.algorithms.sanitize.exact_hiding:ExactHiding",
        solves="sanitized",
        anytime=True,
        needs=("rows",),
    ),
    AlgorithmPart(name="diffgen", run="sfumato.algorithms.diffgen:DiffGen", solves="private", needs=("integers",)),
    AlgorithmPart(
        name="marginals", run="sfumato.algorithms.marginals:Marginals", solves="private", needs=("integers",)
    ),
)

ATTACKS = (
    AttackPart(name="linkage", make=attack("sfumato.attacks.linkage:Linkage"), quick=True),
    AttackPart(
        name="lkc-adversary",
        make=attack("sfumato.attacks.lkc:LkcAdversary", l=KNOWN_VALUES, choice="worst"),
        quick=True,
    ),
    AttackPart(name="households", make=attack("sfumato.attacks.linkage:Households")),
    AttackPart(name="fellegi-sunter", make=attack("sfumato.attacks.fellegi_sunter:FellegiSunter")),
    AttackPart(
        name="singling-out",
        make=attack("sfumato.attacks.singling_out:SinglingOut", columns=SPOKEN_OF),
        also=("condensed",),
    ),
    AttackPart(
        name="linkability",
        make=attack("sfumato.attacks.linkability:Linkability"),
        by_distance=True,
        also=("condensed",),
    ),
    AttackPart(name="homogeneity", make=attack("sfumato.attacks.homogeneity:Homogeneity"), quick=True),
    AttackPart(name="background", make=attack("sfumato.attacks.homogeneity:Background"), quick=True),
    AttackPart(name="skewness", make=attack("sfumato.attacks.similarity:Skewness")),
    AttackPart(name="similarity", make=attack("sfumato.attacks.similarity:Similarity"), quick=True),
    AttackPart(name="proximity", make=attack("sfumato.attacks.similarity:Proximity"), quick=True),
    AttackPart(name="date-shift", make=attack("sfumato.attacks.date_shift:ShiftedDates")),
    AttackPart(name="divergence", make=attack("sfumato.attacks.similarity:Divergence")),
    AttackPart(name="inference", make=attack("sfumato.attacks.inference:Inference"), by_distance=True),
    AttackPart(
        name="membership",
        make=attack("sfumato.attacks.membership:Membership"),
        by_distance=True,
        also=("condensed",),
    ),
    AttackPart(
        name="nearest-neighbour",
        make=attack("sfumato.attacks.membership:NearestNeighbour"),
        by_distance=True,
        also=("condensed",),
    ),
    AttackPart(name="protected-values", make=attack("sfumato.attacks.lkc:ProtectedValues"), quick=True),
    AttackPart(name="minimality", make=attack("sfumato.attacks.minimality:Minimality", classes=REASONED), quick=True),
    AttackPart(
        name="definetti",
        make=attack("sfumato.attacks.definetti:DeFinetti", rows=LEARNED_FROM, rounds=ROUNDS),
        quick=True,
    ),
    AttackPart(name="foreground", make=attack("sfumato.attacks.foreground:Foreground", rows=LEARNED_FROM), quick=True),
    AttackPart(name="sparse", make=attack("sfumato.attacks.sparse_sets:SparseSets"), quick=True, attacks="items"),
    AttackPart(
        name="nearest-record",
        make=attack("sfumato.attacks.neighbours:NearestRecord"),
        quick=True,
        attacks="swapped",
    ),
    AttackPart(
        name="known-plaintext",
        make=attack("sfumato.attacks.pseudonyms:KnownPlaintext"),
        quick=True,
        attacks="graded",
    ),
    AttackPart(name="frequency", make=attack("sfumato.attacks.pseudonyms:Frequencies"), quick=True, attacks="graded"),
    AttackPart(
        name="lowered-thresholds",
        make=attack("sfumato.attacks.lowered_thresholds:LoweredThresholds"),
        quick=True,
        attacks="sanitized",
    ),
    AttackPart(
        name="spectral",
        make=attack("sfumato.attacks.spectral_filter:NoiseFilter"),
        quick=True,
        attacks="collected",
    ),
    AttackPart(
        name="bayes-guess",
        make=attack("sfumato.attacks.randomized_answers:BayesGuess"),
        quick=True,
        attacks="collected",
    ),
    *(
        AttackPart(name=f"tree-{what}", make=attack(f"sfumato.attacks.trees:{class_name}"), quick=True, attacks="tree")
        for what, class_name in (
            ("inference", "TreeInference"),
            ("membership", "TreeMembership"),
            ("combination", "TreeCombination"),
            ("minimality", "TreeMinimality"),
        )
    ),
)

PARTS = Parts(methods=METHODS, models=MODELS, metrics=METRICS, algorithms=ALGORITHMS, attacks=ATTACKS, formats=FORMATS)
