"""The attacks on a whole release by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Protocol

from sfumato.attacks.disclosure.background import Background
from sfumato.attacks.disclosure.homogeneity import Homogeneity
from sfumato.attacks.disclosure.inference import Inference
from sfumato.attacks.disclosure.proximity import Divergence, Proximity
from sfumato.attacks.disclosure.similarity import Similarity, Skewness
from sfumato.attacks.frame.subject import Subject
from sfumato.attacks.frame.trials import Finding, Limit
from sfumato.attacks.identity.fellegi_sunter import FellegiSunter
from sfumato.attacks.identity.linkability import Linkability
from sfumato.attacks.identity.lkc_adversary import LkcAdversary
from sfumato.attacks.identity.prosecutor import Linkage
from sfumato.attacks.identity.singling_out import SinglingOut
from sfumato.attacks.membership.membership import Membership
from sfumato.attacks.method.definetti import DeFinetti
from sfumato.attacks.method.minimality import Minimality
from sfumato.ground.chance import Chance
from sfumato.ground.errors import PlanError, listed, nearest


class Attack(Protocol):
    """An attack on a release."""

    name: ClassVar[str]
    """As the catalog lists it."""
    threat: ClassVar[str]
    """What it threatens."""

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Make it."""


SPOKEN_OF = 6
"""About how many columns a statement speaks of that is to be true of one person only."""
KNOWN_VALUES = 2
"""How many quasi-identifiers the adversary with little knowledge has."""
ATTACKS: Mapping[str, Callable[[int], Attack]] = {
    Linkage.name: lambda trials: Linkage(trials=trials),
    LkcAdversary.name: lambda trials: LkcAdversary(trials=trials, l=KNOWN_VALUES, choice="worst"),
    FellegiSunter.name: lambda trials: FellegiSunter(trials=trials),
    SinglingOut.name: lambda trials: SinglingOut(trials=trials, columns=SPOKEN_OF),
    Linkability.name: lambda trials: Linkability(trials=trials),
    Homogeneity.name: lambda trials: Homogeneity(trials=trials),
    Background.name: lambda trials: Background(trials=trials),
    Skewness.name: lambda trials: Skewness(trials=trials),
    Similarity.name: lambda trials: Similarity(trials=trials),
    Proximity.name: lambda trials: Proximity(trials=trials),
    Divergence.name: lambda trials: Divergence(trials=trials),
    Inference.name: lambda trials: Inference(trials=trials),
    Membership.name: lambda trials: Membership(trials=trials),
    Minimality.name: lambda trials: Minimality(trials=trials),
    DeFinetti.name: lambda trials: DeFinetti(trials=trials),
}
"""What makes each attack, given how many people are to be attacked."""
QUICK = (Linkage.name, LkcAdversary.name, Homogeneity.name, Background.name, Similarity.name, Proximity.name)
"""The attacks that every release is put through where the plan names none."""
BY_DISTANCE = (Linkability.name, Inference.name, Membership.name)
"""The attacks that look for the nearest rows, and need not know whom a label covers."""


def refuse_unknown(names: Iterable[str]) -> None:
    """Refuse names that the catalog does not have; ``all`` stands for every attack."""
    for name in names:
        if name not in (*ATTACKS, "all"):
            known = listed(("all", *ATTACKS), most=30)
            raise PlanError(f"attack.attacks: {name!r} is not known{nearest(name, ATTACKS)} Known: {known}")
