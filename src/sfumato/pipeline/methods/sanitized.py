"""Sets that hide rules as a method: files, manifest, reports, attacks and comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from sfumato.attacks.finding import Finding
from sfumato.attacks.lowered_thresholds import LoweredThresholds, SanitizedSubject
from sfumato.bundles.checks.sanitized import KEY, UNKNOWN, released_sets, sanitized_checks, thresholds_of
from sfumato.core.errors import PlanError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.counts.frequent_itemsets import frequent_itemsets
from sfumato.mining.association_rules import SideEffects, association_rules
from sfumato.pipeline.artifacts import ITEM_ROWS
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.frontier.axes import Axis, Record
from sfumato.pipeline.methods import sanitized_stages
from sfumato.pipeline.methods.method import Audit, Method, Request, Summary, over, refused_bundle, warned
from sfumato.pipeline.methods.sanitized_stages import SanitizedRelease, longest_of, possible, prepare
from sfumato.pipeline.methods.supports import Supports
from sfumato.pipeline.plan.evaluation import Grid, Tree
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import Release, unwritten, versions
from sfumato.reports.language import translated
from sfumato.reports.rules import SanitizedFacts, render
from sfumato.tables.table import Table

if TYPE_CHECKING:
    from sfumato.pipeline.frontier.axes import Comparison


# From a sanitized release to its files, manifest, reports and summary, and to what attackers find.


def attack(release: SanitizedRelease, work: Work) -> Audit:
    """Mine the release as somebody would who looks for what was hidden."""
    attack_plan = release.plan.attack
    if not attack_plan.run:
        return Audit()
    subject, inner = sanitized_subject(release), work.within(attack_plan.seconds)
    findings: list[Finding] = []
    skipped: dict[str, str] = {}
    for name, part in catalog().chosen_attacks(attack_plan.attacks, "sanitized").items():
        base_attack = part.make(attack_plan.trials)
        if why := over(inner, attack_plan.seconds) or base_attack.fits(subject):
            skipped[name] = why
            continue
        for added, form in base_attack.variants(subject) if hasattr(base_attack, "variants") else [("", base_attack)]:
            finding = form.run(subject, Chance(seed=release.plan.algorithm.seed), None)
            findings.append(replace(finding, attack=f"{name}{added}"))
    work.advance("attack", 1, 1)
    audit = Audit(findings=tuple(findings), skipped=skipped)
    audit.refuse(attack_plan.max_risk, attack_plan.accept)
    return audit


def sanitized_subject(release: SanitizedRelease) -> SanitizedSubject:
    """The released sets and what was hidden."""
    limits = release.prepared.problem.thresholds
    return SanitizedSubject(
        sure=release.outcome.shown,
        possible=possible(release.outcome),
        patterns=release.prepared.rules.patterns,
        min_support=limits.min_support,
        min_confidence=limits.min_confidence,
    )


def manifest(release: SanitizedRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated: thresholds and commitments; what was hidden and lost is the steward's."""
    (digest,) = files.values()
    limits = release.prepared.problem.thresholds
    return {
        "claims": [],
        "hiding": {
            "min_support": float(limits.min_support),
            "min_confidence": float(limits.min_confidence),
            "margin": float(limits.margin),
            "commitments": list(release.prepared.rules.commitments(digest)),
        },
        "recoding": {
            "algorithm": release.algorithm,
            "why": release.why,
            **({} if release.outcome.unknown is None else {"unknown": UNKNOWN}),
        },
        **release.audit.stated(),
        "versions": versions("numpy", "numba", "polars"),
    }


def promises(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What hiding rules promises, and what it does not."""
    return [
        (
            translated("The rules that the publisher named are not found at the stated support and confidence."),
            translated("It does not protect who the people behind the sets are."),
        )
    ]


def public_page(manifest: Mapping[str, Any], tables: Mapping[str, Table], work: Work) -> str:
    """The report as one HTML page: a function of the manifest and the records."""
    return render(_facts(manifest, tables["data"], None), work)


def inside_page(release: SanitizedRelease, work: Work) -> str:
    """The steward's own report: what hiding did to all other rules, and how attacks went."""
    body, tables = unwritten(release)
    facts = _facts(body, tables["data"], release.effects)
    gap = release.outcome.gap
    return render(
        replace(
            facts,
            erased=release.outcome.erased,
            proven=release.outcome.proven,
            gap=gap,
            findings=release.audit.findings,
            skipped=dict(release.audit.skipped),
            hidden=tuple(pattern.words for pattern in release.prepared.rules.patterns),
        ),
        work,
    )


def _facts(manifest: Mapping[str, Any], table: Table, effects: SideEffects | None) -> SanitizedFacts:
    limits = thresholds_of(manifest)
    sure, _ = released_sets(manifest, table)
    longest = longest_of(manifest["plan"]["privacy"][KEY])
    frequent_sets = frequent_itemsets(sure, limits.least(sure.rows), longest=longest)
    rules = association_rules(frequent_sets, limits.min_confidence).frame()
    supports = sure.supports().tolist()
    items = sorted(zip(sure.labels, supports, strict=True), key=lambda pair: (-pair[1], pair[0]))
    return SanitizedFacts(
        made=str(manifest["made"]),
        version=str(manifest["sfumato"]),
        rows=sure.rows,
        min_support=limits.min_support,
        min_confidence=limits.min_confidence,
        margin=limits.margin,
        committed=len(manifest["hiding"]["commitments"]),
        algorithm=str(manifest["recoding"]["algorithm"]),
        why=str(manifest["recoding"]["why"]),
        unknown="unknown" in manifest["recoding"],
        marks=tuple(manifest["marks"]),
        sets=frequent_sets.count,
        rules=rules.height,
        points=tuple(rules.select("support", "confidence", "lift").iter_rows()),
        items=tuple(items),
        findings=tuple(map(Finding.from_json, manifest["attacks"])),
        skipped=dict(manifest["attacks_not_made"]),
        effects=None if effects is None else effects.to_json(),
    )


def summary(release: SanitizedRelease) -> Summary:
    """What was hidden, what it cost the other rules, and that nothing is claimed."""
    effects, outcome = release.effects, release.outcome
    many = len(release.prepared.rules.patterns)
    proven = "; no choice of items does better" if outcome.proven else ""
    hidden = "1 pattern is" if many == 1 else f"{many:,} patterns are"
    gap = "" if outcome.gap is None else f"; another choice loses at most {outcome.gap:.0f} sets fewer"
    risks = tuple(
        f"{finding.attack}: {finding.rate.value:.1%} of {finding.rate.trials:,} hidden ones are seen."
        for finding in release.audit.findings
        if finding.rate.carried_out
    )
    return Summary(
        lines=(
            f"{hidden} hidden in {release.rows.height:,} records by {release.algorithm}{proven}{gap}.",
            release.why,
        ),
        heads=("side effect", ""),
        cells=(
            ("items taken out or unknown", f"{outcome.erased:,}"),
            ("lost sets", f"{effects.lost_sets:,} of {effects.sets:,}"),
            ("lost rules", f"{effects.lost_rules:,} of {effects.rules:,}"),
            ("ghost rules", f"{effects.ghost_rules:,}"),
            ("dissimilarity", f"{effects.dissimilarity:.2%}"),
            ("hiding failure", f"{effects.hiding_failure:.1%}"),
        ),
        after=(*risks, *warned(release.marks)),
        changes=(("rows", release.prepared.table.rows, release.rows.height),),
    )


def figures(release: SanitizedRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": release.rows.height,
        "algorithm": release.algorithm,
        "why": release.why,
        "claims": [],
        "hidden": len(release.prepared.rules.patterns),
        "erased": release.outcome.erased,
        "proven": release.outcome.proven,
        "gap": release.outcome.gap,
        "side_effects": release.effects.to_json(),
        "attacks": release.audit.to_json(),
    }


# How sanitized releases are compared by a frontier: the methods of hiding, by what is still seen and what is lost.


DEFAULT_MARGIN = (0.0, 0.1, 0.25, 0.5)
"""The safety margins, beside the plan's own, where there is no grid."""
_LOST = "the share of the original's other rules that the release does not yield"
_GHOSTS = "rules of the release that the original does not yield"
_SETS = "the share of the original's other frequent sets that the release does not yield"
_UNLIKE = "item entries that came or went, item by item, as a share of those that there were"


class SanitizedComparison:
    """Sanitized releases are compared by what a miner below the thresholds sees, and by their side effects."""

    def algorithms(self, plan: Plan) -> tuple[Tree, ...]:
        """All methods of hiding, the plan's own first."""
        own, every = plan.algorithm.name, catalog().solving("sanitized")
        return tuple({"name": name} for name in (every if own == "auto" else dict.fromkeys([own, *every])))

    def grid(self, plan: Plan) -> Grid:
        """Some safety margins."""
        own = plan.privacy[KEY].get("margin", 0.0)
        return {f"privacy.{KEY}.margin": tuple(sorted({*DEFAULT_MARGIN, float(own)}))}

    def attack(self, plan: Plan) -> Tree:
        """Nothing by name: what is seen below the thresholds is an axis."""
        if plan.frontier.attacks:
            raise PlanError("frontier.attacks: what is seen below the thresholds is compared already; remove the key")
        return {"run": False}

    def measured(self, release: Release, table: Table) -> dict[str, Any]:
        """What is still seen, and what became of all other rules."""
        sanitized_release = cast("SanitizedRelease", release)
        subject, effects = sanitized_subject(sanitized_release), sanitized_release.effects
        forms = LoweredThresholds().variants(subject)
        seen = max(form.run(subject, Chance(seed=0)).rate.value for _, form in forms)
        return {
            "algorithm_used": sanitized_release.algorithm,
            "proven_optimal": sanitized_release.outcome.proven,
            "claims": [],
            "rows": sanitized_release.rows.height,
            "suppressed_rows": sanitized_release.prepared.table.rows - sanitized_release.rows.height,
            "classes": effects.rules - effects.lost_rules,
            "seen": seen,
            "utility": {
                "lost_rules": effects.lost_rules / max(effects.rules, 1),
                "lost_sets": effects.lost_sets / max(effects.sets, 1),
                "ghost_rules": effects.ghost_rules,
                "dissimilarity": effects.dissimilarity,
            },
            "accuracy": None,
        }

    def original(self, plan: Plan, table: Table, population: Table | None) -> dict[str, Any]:
        """How many records there are; a pattern that does not occur is refused here, once."""
        prepared = prepare(Request(plan=plan, keys={}), table)
        return {"rows": prepared.table.rows, "classes": 0, "risk": None, "target": None, "accuracy": None}

    def privacy(self, records: Sequence[Record]) -> tuple[Axis, ...]:
        """What is seen."""
        meaning = (
            "the share of hidden patterns that appear where both thresholds are halved, or unknowns are read as had"
        )
        return (Axis(name="seen", meaning=meaning, better="lower", how="share", read=lambda record: record["seen"]),)

    def utility(self, metrics: Sequence[str], *, target: bool) -> tuple[Axis, ...]:
        """Side effects."""
        if metrics:
            raise PlanError(f"frontier.metrics: {metrics[0]!r} judges columns of a table; side effects are axes here")
        return (
            _axis("lost_rules", _LOST, "share"),
            _axis("lost_sets", _SETS, "share"),
            _axis("ghost_rules", _GHOSTS, "count"),
            _axis("dissimilarity", _UNLIKE, "share"),
        )

    def refuse_pick(self) -> None:
        """A point may be chosen by its figures."""


def _axis(name: str, meaning: str, how: Any) -> Axis:
    return Axis(name=name, meaning=meaning, better="lower", how=how, read=lambda record: record["utility"][name])


# Sets that hide rules as a kind of release.


def _comparison(plan: Plan) -> Comparison:
    """How releases are compared; loaded when a frontier asks."""
    return SanitizedComparison()


METHOD = Method(
    name="sanitized",
    attacks="sanitized",
    supports=Supports(title="a release that hides rules", models=(KEY,), incomplete=False, itemized=True),
    needs=(("numba", "hiding rules"),),
    check=sanitized_stages.check,
    begin=sanitized_stages.begin,
    read=sanitized_stages.read,
    prepare=sanitized_stages.prepare,
    search=sanitized_stages.search,
    recode=sanitized_stages.recode,
    judge=sanitized_stages.judge,
    attack=attack,
    artifact=ITEM_ROWS,
    manifest=manifest,
    checks=sanitized_checks,
    again=sanitized_stages.again,
    subject=refused_bundle(
        "hidden rules are attacked when they are released, where it is known what they are; the figures stand in the "
        "inside report. `sfumato verify --rules FILE` opens what the bundle commits to"
    ),
    public_page=public_page,
    done=lambda manifest: translated(
        "Sets of items are released from which some items were taken, so that certain rules can no longer be found."
    ),
    promises=promises,
    inside_page=inside_page,
    summary=summary,
    figures=figures,
    comparison=_comparison,
)
