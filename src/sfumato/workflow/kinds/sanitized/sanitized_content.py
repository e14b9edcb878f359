"""From a sanitized release to its files, manifest, reports and summary, and to what attackers find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import polars as pl

from sfumato.attacks.frame.trials import Finding
from sfumato.attacks.method.lowered_thresholds import SanitizedSubject
from sfumato.bundle.rule_commitments import KEY
from sfumato.data.table import Table
from sfumato.ground.chance import Chance
from sfumato.ground.errors import BundleError
from sfumato.ground.work import Work
from sfumato.group.frequent_itemsets import frequent_itemsets
from sfumato.mine.association_rules import association_rules
from sfumato.mine.side_effects import SideEffects
from sfumato.report.base.language import said
from sfumato.report.sanitized.sanitized_page import SanitizedFacts, render
from sfumato.verification.sanitized_checks import UNKNOWN, released_sets, thresholds_of
from sfumato.workflow.apply.applying import no_rule
from sfumato.workflow.attacking import chosen_attacks
from sfumato.workflow.audit import Audit, over
from sfumato.workflow.bundling import as_written, unwritten, versions
from sfumato.workflow.kinds.kind import Summary, warned
from sfumato.workflow.kinds.sanitized.sanitized_plan import longest_of
from sfumato.workflow.kinds.sanitized.sanitized_release import SanitizedRelease
from sfumato.workflow.kinds.sanitized.sanitized_stages import possible


def attack(made: SanitizedRelease, work: Work) -> Audit:
    """Mine the release as somebody would who looks for what was hidden."""
    asked = made.plan.attack
    if not asked.run:
        return Audit()
    subject, inner = sanitized_subject(made), work.within(asked.seconds)
    findings: list[Finding] = []
    skipped: dict[str, str] = {}
    for name, part in chosen_attacks(asked.attacks, "sanitized").items():
        one = part.make(asked.trials)
        if why := over(inner, asked.seconds) or one.fits(subject):
            skipped[name] = why
            continue
        for added, form in one.variants(subject) if hasattr(one, "variants") else [("", one)]:
            found = form.run(subject, Chance(seed=made.plan.algorithm.seed), None)
            findings.append(replace(found, attack=f"{name}{added}"))
    work.advance("attack", 1, 1)
    audit = Audit(findings=tuple(findings), skipped=skipped)
    audit.refuse(asked.max_risk, asked.accept)
    return audit


def sanitized_subject(made: SanitizedRelease) -> SanitizedSubject:
    """The released sets and what was hidden."""
    limits = made.prepared.problem.thresholds
    return SanitizedSubject(
        sure=made.outcome.shown,
        possible=possible(made.outcome),
        patterns=made.prepared.rules.patterns,
        min_support=limits.min_support,
        min_confidence=limits.min_confidence,
    )


def refuse_bundle(folder: Path, *_: object, **__: object) -> NoReturn:
    """Refuse to attack a bundle: it does not tell what is hidden."""
    raise BundleError(
        f"{folder}: hidden rules are attacked when they are released, where it is known what they are; the figures "
        "stand in the inside report. `sfumato verify --rules FILE` opens what the bundle commits to"
    )


def refuse_records(manifest: Mapping[str, Any], records: object, outside: object) -> NoReturn:
    """Refuse new records: which of them lose an item depends on all of them."""
    raise no_rule(str(manifest["recoding"]["algorithm"]))


def files(made: SanitizedRelease) -> dict[str, pl.DataFrame]:
    """The released records."""
    return {"data": as_written(made.rows, made.plan.output_format, made.prepared.table.missing)}


def manifest(made: SanitizedRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated: thresholds and commitments; what was hidden and lost is the steward's."""
    ((data, digest),) = files.items()
    limits = made.prepared.problem.thresholds
    return {
        "data": {
            "file": data,
            "sha256": digest,
            "rows": made.rows.height,
            "columns": [_published(made, name) for name in made.rows.columns],
            "missing": list(made.prepared.table.missing),
        },
        "claims": [],
        "hiding": {
            "min_support": float(limits.min_support),
            "min_confidence": float(limits.min_confidence),
            "margin": float(limits.margin),
            "commitments": list(made.prepared.rules.commitments(digest)),
        },
        "recoding": {
            "algorithm": made.algorithm,
            "why": made.why,
            **({} if made.outcome.unknown is None else {"unknown": UNKNOWN}),
        },
        **made.audit.stated(),
        "versions": versions("numpy", "numba", "polars"),
    }


def _published(made: SanitizedRelease, name: str) -> dict[str, Any]:
    column = made.plan.columns[name]
    found: dict[str, Any] = {"name": name, "role": str(column.role), "type": "text"}
    return found | ({"type": "set", "separator": column.separator} if name == made.prepared.column else {})


def promises(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What hiding rules promises, and what it does not."""
    return [
        (
            said("The rules that the publisher named are not found at the stated support and confidence."),
            said("It does not protect who the people behind the sets are."),
        )
    ]


def public_page(manifest: Mapping[str, Any], tables: Mapping[str, Table], work: Work) -> str:
    """The report as one HTML page: a function of the manifest and the records."""
    return render(_facts(manifest, tables["data"], None), work)


def inside_page(made: SanitizedRelease, work: Work) -> str:
    """The steward's own report: what hiding did to all other rules, and how attacks went."""
    body, tables = unwritten(made)
    facts = _facts(body, tables["data"], made.effects)
    gap = made.outcome.gap
    return render(
        replace(
            facts,
            erased=made.outcome.erased,
            proven=made.outcome.proven,
            gap=gap,
            findings=made.audit.findings,
            skipped=dict(made.audit.skipped),
            hidden=tuple(one.words for one in made.prepared.rules.patterns),
        ),
        work,
    )


def _facts(manifest: Mapping[str, Any], table: Table, effects: SideEffects | None) -> SanitizedFacts:
    limits = thresholds_of(manifest)
    sure, _ = released_sets(manifest, table)
    longest = longest_of(manifest["plan"]["privacy"][KEY])
    found = frequent_itemsets(sure, limits.least(sure.rows), longest=longest)
    rules = association_rules(found, limits.min_confidence).frame()
    supports = sure.supports().tolist()
    items = sorted(zip(sure.labels, supports, strict=True), key=lambda one: (-one[1], one[0]))
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
        sets=found.count,
        rules=rules.height,
        points=tuple(rules.select("support", "confidence", "lift").iter_rows()),
        items=tuple(items),
        findings=tuple(map(Finding.from_json, manifest["attacks"])),
        skipped=dict(manifest["attacks_not_made"]),
        effects=None if effects is None else effects.to_json(),
    )


def summary(made: SanitizedRelease) -> Summary:
    """What was hidden, what it cost the other rules, and that nothing is claimed."""
    found, outcome = made.effects, made.outcome
    many = len(made.prepared.rules.patterns)
    proven = "; no choice of items does better" if outcome.proven else ""
    hidden = "1 pattern is" if many == 1 else f"{many:,} patterns are"
    gap = "" if outcome.gap is None else f"; another choice loses at most {outcome.gap:.0f} sets fewer"
    told = tuple(
        f"{one.attack}: {one.rate.value:.1%} of {one.rate.trials:,} hidden ones are seen."
        for one in made.audit.findings
        if one.rate.carried_out
    )
    return Summary(
        lines=(
            f"{hidden} hidden in {made.rows.height:,} records by {made.algorithm}{proven}{gap}.",
            made.why,
        ),
        heads=("side effect", ""),
        cells=(
            ("items taken out or unknown", f"{outcome.erased:,}"),
            ("lost sets", f"{found.lost_sets:,} of {found.sets:,}"),
            ("lost rules", f"{found.lost_rules:,} of {found.rules:,}"),
            ("ghost rules", f"{found.ghost_rules:,}"),
            ("dissimilarity", f"{found.dissimilarity:.2%}"),
            ("hiding failure", f"{found.hiding_failure:.1%}"),
        ),
        after=(*told, *warned(made.marks)),
        changes=(("rows", made.prepared.table.rows, made.rows.height),),
    )


def figures(made: SanitizedRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": made.rows.height,
        "algorithm": made.algorithm,
        "why": made.why,
        "claims": [],
        "hidden": len(made.prepared.rules.patterns),
        "erased": made.outcome.erased,
        "proven": made.outcome.proven,
        "gap": made.outcome.gap,
        "side_effects": made.effects.to_json(),
        "attacks": made.audit.to_json(),
    }
