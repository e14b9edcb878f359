"""The privacy models as a plan asks for them: key, builder, words, and what each promises about an adversary."""

from __future__ import annotations

from sfumato.attacks.frame.promises import READERS
from sfumato.models.alpha_k import AlphaKAnonymity
from sfumato.models.confidence import ConfidenceBounding
from sfumato.models.divergence import DivergenceBounding
from sfumato.models.e_m_anonymity import EMAnonymity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.km_anonymity import KMAnonymity
from sfumato.models.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity, SimpleLDiversity
from sfumato.models.lkc import LKCPrivacy
from sfumato.models.personalized import PersonalizedPrivacy
from sfumato.models.presence import DeltaPresence, KMap
from sfumato.models.rho_uncertainty import RhoUncertainty
from sfumato.models.t_closeness import TCloseness
from sfumato.workflow.catalog import model_builders as build
from sfumato.workflow.catalog.parts import ModelPart

MODELS = (
    ModelPart(
        make=KAnonymity,
        key="k_anonymity",
        build=build.k_anonymity,
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
        build=build.l_diversity,
        plan='l_diversity = { kind = "distinct", l = 3 }',
        meaning="Every group shows at least {l} different values of {column}.",
        limits="It does not stop good guesses: one of the values may be far more frequent than the others.",
        promises=READERS[DistinctLDiversity.name],
    ),
    ModelPart(
        make=EntropyLDiversity,
        key="l_diversity",
        build=build.l_diversity,
        plan='l_diversity = { kind = "entropy", l = 3 }',
        meaning="In every group, {column} is as uncertain as if {l} values were equally likely.",
        limits="It does not see that different values can mean the same to an outsider, such as two kinds of ulcer.",
        promises=READERS[EntropyLDiversity.name],
    ),
    ModelPart(
        make=RecursiveLDiversity,
        key="l_diversity",
        build=build.l_diversity,
        plan='l_diversity = { kind = "recursive", c = 2, l = 3 }',
        meaning="In every group, the most frequent {column} is rarer than {c} times the tail from the {l}-th value on.",
        limits="It does not protect values that are rare in the whole table but frequent in one group.",
        promises=READERS[RecursiveLDiversity.name],
    ),
    ModelPart(
        make=SimpleLDiversity,
        key="l_diversity",
        build=build.l_diversity,
        plan='l_diversity = { kind = "simple", l = 2 }',
        meaning="In every group, no {column} is more frequent than 1 in {l}.",
        limits="It does not see that different values can mean the same to an outsider.",
        promises=READERS[SimpleLDiversity.name],
    ),
    ModelPart(
        make=TCloseness,
        key="t_closeness",
        build=build.t_closeness,
        plan='t_closeness = { t = 0.2, distance = "emd-equal" }',
        meaning="In every group, the distribution of {column} is within {t} ({distance}) of that of the whole table.",
        limits="It does not hide what the whole table says, nor who is in it.",
        promises=READERS[TCloseness.name],
    ),
    ModelPart(
        make=AlphaKAnonymity,
        key="alpha_k",
        build=build.alpha_k,
        plan="alpha_k = { alpha = 0.5, k = 5 }",
        meaning="Every group has at least {k} rows, and no protected value of {column} is more frequent than {alpha}.",
        limits="It does not protect values that were not named, nor meanings that several values share.",
        promises=READERS[AlphaKAnonymity.name],
    ),
    ModelPart(
        make=ConfidenceBounding,
        key="confidence",
        build=build.confidence,
        plan='confidence = [{ quasi = ["job"], value = "HIV", limit = 0.5 }]',
        meaning="Nobody can conclude a protected value from the named columns with more than the stated confidence.",
        limits="It protects only the named values, and only against the named columns.",
        promises=READERS[ConfidenceBounding.name],
    ),
    ModelPart(
        make=LKCPrivacy,
        key="lkc",
        build=build.lkc,
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
        build=build.e_m,
        plan="e_m = { e = 1000, m = 2 }",
        meaning="In every group, at most 1 in {m} rows has a {column} close (within {e}) to any one value.",
        limits="It does not protect against guesses of a wider range than {e}.",
    ),
    ModelPart(
        make=DivergenceBounding,
        key="divergence",
        build=build.divergence,
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
        build=build.delta_presence,
        plan="delta_presence = { low = 0.0, high = 0.5 }",
        meaning="For every person of the population, the chance to be in this table lies between {low} and {high}.",
        limits="It does not protect the sensitive values of those who are known to be in the table.",
        needs=("population",),
    ),
    ModelPart(
        make=KMap,
        key="k_map",
        build=build.k_map,
        plan="k_map = 5",
        meaning="Every released combination of quasi-identifiers fits at least {k} people of the population.",
        limits="It does not protect people who are known to be in the table: there the class may be smaller.",
        promises=READERS[KMap.name],
        needs=("population",),
    ),
    ModelPart(
        make=PersonalizedPrivacy,
        key="personalized",
        build=build.personalized,
        plan='personalized = { p = 0.5, guards = { "HIV" = "infection" } }',
        meaning="Nobody's sensitive value can be placed below the node that the person guards with a chance above {p}.",
        limits="It does not protect people who guard nothing, and guarding itself may say something.",
        promises=READERS[PersonalizedPrivacy.name],
    ),
    ModelPart(
        make=KMAnonymity,
        key="km",
        build=build.km,
        plan="km = { k = 5, m = 2 }",
        meaning="Whoever knows up to {m} items of a person finds at least {k} records.",
        limits="It does not protect against somebody who knows more than {m} items, nor hide what these records share.",
        promises=READERS[KMAnonymity.name],
        judges=("items",),
    ),
    ModelPart(
        make=RhoUncertainty,
        key="rho_uncertainty",
        build=build.rho,
        plan='rho_uncertainty = { rho = 0.3, sensitive = ["pregnancy test"], l = 2 }',
        meaning="No items of a person tell a sensitive item with a confidence above {rho}.",
        limits="It does not hide who has a record: somebody with a few known items may be found.",
        promises=READERS[RhoUncertainty.name],
        judges=("items",),
    ),
)
"""Our models, in the order in which a requirement is judged."""
