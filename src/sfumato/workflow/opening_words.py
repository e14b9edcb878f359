"""The first paragraph of a report, from its manifest alone: done, holds, remains possible, next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.attacks.frame.trials import Finding, Outcome
from sfumato.bundle.claims import Claim
from sfumato.report.base.figures import count, share
from sfumato.report.base.language import said
from sfumato.report.base.page_opening import ABOUT, Opening

if TYPE_CHECKING:
    from sfumato.workflow.kinds.kind import Kind

Manifest = Mapping[str, Any]


def opening_of(kind: Kind, manifest: Manifest) -> Opening:
    """How the report of a bundle begins."""
    about = manifest.get("plan", {}).get("about", {})
    promises = list(kind.promises(manifest))
    meanings, limits = (list(dict.fromkeys(one[part] for one in promises if one[part])) for part in (0, 1))
    return Opening(
        about={key: about[key] for key in ABOUT if key in about},
        done=kind.done(manifest),
        holds=" ".join(meanings) or said("Nothing is promised about the people in the data."),
        possible=" ".join(one for one in (*limits, _attacked(manifest), _always()) if one),
        next=_next(manifest),
    )


def claims_explained(manifest: Manifest) -> list[tuple[str, str]]:
    """What each claim means and what it leaves open, in the words of the catalog."""
    from sfumato.workflow.catalog.lookup import catalog

    people = manifest.get("plan", {}).get("input", {}).get("unit") is not None
    claims = [Claim.from_json(one) for one in manifest["claims"]]
    return [catalog().explained(one.model, one.parameters, people=people) for one in claims]


def _attacked(manifest: Manifest) -> str:
    """What the attack that gains most can do; nothing where no attack was made."""
    found = [Finding.from_json(one) for one in manifest.get("attacks", ())]
    tried = [one for one in found if one.outcome is not Outcome.NOT_TRIED]
    if not tried:
        return ""
    best = max(tried, key=lambda one: one.risk)
    if best.risk <= 0:
        return said("Of {n} attacks, none did better than it would without the release.", n=count(len(tried)))
    return said(
        "Of {n} attacks, {attack} gained most: it works in {rate} of trials, and in {base} without the release.",
        n=count(len(tried)),
        attack=best.attack,
        rate=share(best.rate.value),
        base=share(best.baseline.value),
    )


def _always() -> str:
    return said("Whoever knows more about a person, or has another release about the same people, may learn more.")


def _next(manifest: Manifest) -> str:
    """What a reader should do, most urgent first."""
    steps = []
    if manifest.get("marks"):
        steps.append(said("Read the warnings above."))
    if any(_refuted(one) for one in manifest.get("attacks", ())):
        steps.append(said("An attack refutes a promise: do not hand this release out before you have read which."))
    steps.append(said("Check the bundle with: sfumato verify FOLDER."))
    if _undecided(manifest.get("plan", {}).get("about", {})):
        steps.append(said("Say in [about] of the plan who answers for the release, and for what purpose."))
    return " ".join(steps)


def _refuted(attack: Mapping[str, Any]) -> bool:
    return bool(attack["outcome"] == "refuted" and attack["limit"] is not None)


def _undecided(about: Mapping[str, Any]) -> bool:
    return not {"responsible", "purpose"} <= set(about)
