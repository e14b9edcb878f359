"""What sfumato itself brings; it comes in by the same door as plugins."""

from __future__ import annotations

from sfumato.attacks.answers.bayes_guess import BayesGuess
from sfumato.attacks.answers.noise_filter import NoiseFilter
from sfumato.attacks.disclosure.background import Background
from sfumato.attacks.disclosure.homogeneity import Homogeneity
from sfumato.attacks.disclosure.inference import Inference
from sfumato.attacks.disclosure.protected_values import ProtectedValues
from sfumato.attacks.disclosure.proximity import Divergence, Proximity
from sfumato.attacks.disclosure.similarity import Similarity, Skewness
from sfumato.attacks.identity.fellegi_sunter import FellegiSunter
from sfumato.attacks.identity.households import Households
from sfumato.attacks.identity.linkability import Linkability
from sfumato.attacks.identity.lkc_adversary import LkcAdversary
from sfumato.attacks.identity.nearest_record import NearestRecord
from sfumato.attacks.identity.prosecutor import Linkage
from sfumato.attacks.identity.singling_out import SinglingOut
from sfumato.attacks.identity.sparse_sets import SparseSets
from sfumato.attacks.membership.membership import Membership
from sfumato.attacks.method.definetti import DeFinetti
from sfumato.attacks.method.foreground import Foreground
from sfumato.attacks.method.minimality import Minimality
from sfumato.collect.published_estimates import Reconstruction
from sfumato.data.formats import FORMATS
from sfumato.publish.anatomy import Anatomy
from sfumato.publish.bottom_up import BottomUp
from sfumato.publish.condensation import Condense
from sfumato.publish.diffgen import DiffGen
from sfumato.publish.items import LocalSets, Sets, TopDownSets, Trajectory
from sfumato.publish.k_optimize.set_enumeration import KOptimize
from sfumato.publish.lattice.datafly import datafly
from sfumato.publish.lattice.greedy import greedy
from sfumato.publish.lattice.incognito import Incognito
from sfumato.publish.lattice.optimal import optimal
from sfumato.publish.lattice.samarati import samarati
from sfumato.publish.local import CellSuppression, Local
from sfumato.publish.marginals import Marginals
from sfumato.publish.microaggregation import Microaggregation
from sfumato.publish.mondrian import Mondrian
from sfumato.publish.one_dimensional import OneDimensional
from sfumato.publish.top_down import TopDown
from sfumato.publish.value_swapping import Swapping
from sfumato.utility.cell_metrics import NCP, Height, LossMetric, Precision
from sfumato.utility.class_metrics import AverageClassSize, ClassificationMetric, Discernibility, DiscernibilityRatio
from sfumato.utility.entropy import NonUniformEntropy
from sfumato.workflow.catalog.model_parts import MODELS
from sfumato.workflow.catalog.parts import AlgorithmPart, AttackPart, MetricPart, Parts

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
    AlgorithmPart(name="optimal", run=optimal, people=True),
    AlgorithmPart(name="samarati", run=samarati, people=True),
    AlgorithmPart(name="incognito", run=Incognito, people=True),
    AlgorithmPart(name="datafly", run=datafly, people=True),
    AlgorithmPart(name="greedy", run=greedy, anytime=True, people=True),
    AlgorithmPart(name="k-optimize", run=KOptimize, anytime=True),
    AlgorithmPart(name="mondrian", run=Mondrian, people=True),
    AlgorithmPart(name="local", run=Local, anytime=True, people=True),
    AlgorithmPart(name="cell-suppression", run=CellSuppression, people=True),
    AlgorithmPart(name="hilbert", run=OneDimensional),
    AlgorithmPart(name="top-down", run=TopDown),
    AlgorithmPart(name="bottom-up", run=BottomUp),
    AlgorithmPart(name="anatomy", run=Anatomy),
    AlgorithmPart(name="microaggregation", run=Microaggregation),
    AlgorithmPart(name="swapping", run=Swapping, solves="swapped", needs=("rows",)),
    AlgorithmPart(name="reconstruct", run=Reconstruction, solves="collected", needs=("rows",)),
    AlgorithmPart(name="condense", run=Condense, solves="condensed", needs=("rows",)),
    AlgorithmPart(name="trajectory", run=Trajectory, solves="items"),
    AlgorithmPart(name="sets", run=Sets, solves="items"),
    AlgorithmPart(name="local-sets", run=LocalSets, solves="items"),
    AlgorithmPart(name="top-down-sets", run=TopDownSets, solves="items"),
    AlgorithmPart(name="diffgen", run=DiffGen, solves="private", needs=("integers",)),
    AlgorithmPart(name="marginals", run=Marginals, solves="private", needs=("integers",)),
)

ATTACKS = (
    AttackPart(name=Linkage.name, make=lambda trials: Linkage(trials=trials), quick=True),
    AttackPart(
        name=LkcAdversary.name,
        make=lambda trials: LkcAdversary(trials=trials, l=KNOWN_VALUES, choice="worst"),
        quick=True,
    ),
    AttackPart(name=Households.name, make=lambda trials: Households(trials=trials)),
    AttackPart(name=FellegiSunter.name, make=lambda trials: FellegiSunter(trials=trials)),
    AttackPart(
        name=SinglingOut.name,
        make=lambda trials: SinglingOut(trials=trials, columns=SPOKEN_OF),
        also=("condensed",),
    ),
    AttackPart(
        name=Linkability.name, make=lambda trials: Linkability(trials=trials), by_distance=True, also=("condensed",)
    ),
    AttackPart(name=Homogeneity.name, make=lambda trials: Homogeneity(trials=trials), quick=True),
    AttackPart(name=Background.name, make=lambda trials: Background(trials=trials), quick=True),
    AttackPart(name=Skewness.name, make=lambda trials: Skewness(trials=trials)),
    AttackPart(name=Similarity.name, make=lambda trials: Similarity(trials=trials), quick=True),
    AttackPart(name=Proximity.name, make=lambda trials: Proximity(trials=trials), quick=True),
    AttackPart(name=Divergence.name, make=lambda trials: Divergence(trials=trials)),
    AttackPart(name=Inference.name, make=lambda trials: Inference(trials=trials), by_distance=True),
    AttackPart(
        name=Membership.name, make=lambda trials: Membership(trials=trials), by_distance=True, also=("condensed",)
    ),
    AttackPart(name=ProtectedValues.name, make=lambda trials: ProtectedValues(trials=trials), quick=True),
    AttackPart(name=Minimality.name, make=lambda trials: Minimality(trials=trials, classes=REASONED), quick=True),
    AttackPart(
        name=DeFinetti.name,
        make=lambda trials: DeFinetti(trials=trials, rows=LEARNED_FROM, rounds=ROUNDS),
        quick=True,
    ),
    AttackPart(name=Foreground.name, make=lambda trials: Foreground(trials=trials, rows=LEARNED_FROM), quick=True),
    AttackPart(name=SparseSets.name, make=lambda trials: SparseSets(trials=trials), quick=True, attacks="items"),
    AttackPart(
        name=NearestRecord.name, make=lambda trials: NearestRecord(trials=trials), quick=True, attacks="swapped"
    ),
    AttackPart(name=NoiseFilter.name, make=lambda trials: NoiseFilter(trials=trials), quick=True, attacks="collected"),
    AttackPart(name=BayesGuess.name, make=lambda trials: BayesGuess(trials=trials), quick=True, attacks="collected"),
)

BUILT_IN = Parts(models=MODELS, metrics=METRICS, algorithms=ALGORITHMS, attacks=ATTACKS, formats=FORMATS)
