"""From a release of collected answers to its files, manifest, reports and summary."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import polars as pl

from sfumato.attacks.answers.noise_filter import NoiseFilter
from sfumato.attacks.frame.trials import Finding
from sfumato.collect.noisy_numbers import NoisyNumber
from sfumato.collect.specification import Question
from sfumato.collect.unary_bits import UnaryBits
from sfumato.data.table import Table
from sfumato.ground.errors import BundleError, PlanError
from sfumato.ground.work import Work
from sfumato.report.base.language import said
from sfumato.report.collected.collected_facts import CollectedFacts, EstimateShown, PromiseShown
from sfumato.report.collected.collected_page import render
from sfumato.verification.stated_coins import Amount
from sfumato.workflow.apply.applying import no_rule
from sfumato.workflow.bundling import as_written, stated, versions
from sfumato.workflow.kinds.collected.collected_release import CollectedRelease
from sfumato.workflow.kinds.kind import Summary, warned
from sfumato.workflow.plan.plan import Plan

_FIGURES = ("shown", "estimate", "low", "high")
"""Of a pair of questions, in the order of the page."""


def refuse_subject(folder: Path, *_: object, **__: object) -> NoReturn:
    """Refuse to attack a bundle with an original: collectors have none."""
    raise BundleError(f"{folder}: collected answers are attacked from their bytes alone; there is no original")


def refuse_records(manifest: Mapping[str, Any], records: object, outside: object) -> NoReturn:
    """Refuse new records: answers are randomized where they are given."""
    raise no_rule(str(manifest["recoding"]["algorithm"]))


def refuse_frontier(plan: Plan) -> NoReturn:
    """Refuse a frontier: the coins were chosen before anybody answered."""
    raise PlanError("collection: a frontier compares ways to change a table; `sfumato collect privacy` compares coins")


def files(made: CollectedRelease) -> dict[str, pl.DataFrame]:
    """The shown answers, and what stands beside them."""
    return {"data": as_written(made.rows, made.plan.output_format, made.published.missing)}


def manifest(made: CollectedRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated: everything is computed from the rows and the specification."""
    ((data, digest),) = files.items()
    return {
        "data": {"file": data, "sha256": digest, **made.published.to_json()},
        "claims": [{"model": one.model, "parameters": dict(one.parameters)} for one in made.claims],
        "specification": made.specification,
        "reconstruction": made.estimates.to_json(),
        "recoding": {
            "algorithm": made.algorithm,
            "why": made.why,
            **({"left_out": made.prepared.dropped} if made.prepared.dropped else {}),
        },
        **made.audit.stated(),
        "versions": versions("numpy", "polars"),
    }


def public_page(manifest: Mapping[str, Any], tables: Mapping[str, Table], work: Work) -> str:
    """The report as one HTML page: a function of the manifest alone, whose figures the rows give."""
    findings = tuple(map(Finding.from_json, manifest["attacks"]))
    return render(_facts(manifest, findings, dict(manifest["attacks_not_made"])), work)


def inside_page(made: CollectedRelease, work: Work) -> str:
    """The collector's own report: what was left out, and of a study the true shares and what attackers told rightly."""
    names = [f"{stem}.{made.plan.output_format}" for stem in ("data",)]
    body = stated(made, dict.fromkeys(names, ""))
    true = {} if made.prepared.truth is None else {one.name: _true_shares(made, one) for one in _questions(made)}
    facts = _facts(body, made.audit.findings, dict(made.audit.skipped), inside=True, true=true)
    return render(facts, work)


def _questions(made: CollectedRelease) -> tuple[Question, ...]:
    return made.prepared.spec.questions


def _true_shares(made: CollectedRelease, question: Question) -> tuple[float, ...]:
    """Of a study: the share of people in every cell."""
    cells = next(one for one in made.estimates.questions if one.name == question.name).labels
    codes = np.asarray((made.prepared.truth or {})[question.name])
    if isinstance(question, UnaryBits):
        return tuple(codes.astype(np.float64).mean(axis=0).tolist())
    steps = question.steps + 1 if isinstance(question, NoisyNumber) else len(cells)
    first = np.floor_divide(np.arange(len(cells)) * steps, len(cells))
    place = np.searchsorted(first, codes, side="right") - 1
    return tuple((np.bincount(place, minlength=len(cells)) / len(codes)).tolist())


def _facts(
    manifest: Mapping[str, Any],
    findings: tuple[Finding, ...],
    skipped: Mapping[str, str],
    *,
    inside: bool = False,
    true: Mapping[str, tuple[float, ...]] | None = None,
) -> CollectedFacts:
    spec, made = manifest["specification"], manifest["reconstruction"]
    names = [one["name"] for one in spec["questions"]]
    whole = spec["promises"]["everything"]
    return CollectedFacts(
        made=str(manifest["made"]),
        version=str(manifest["sfumato"]),
        rows=int(manifest["data"]["rows"]),
        left_out=int(manifest["recoding"].get("left_out", 0)),
        marks=tuple(manifest["marks"]),
        repeats=str(spec["repeats"]),
        most=int(spec.get("most", 1)),
        everything=None if whole is None else (whole, float(Amount.read(whole))),
        promises=tuple(_promise(one, manifest["claims"]) for one in spec["questions"]),
        beside=tuple(one["name"] for one in manifest["data"]["columns"] if one["name"] not in names),
        estimates=tuple(_estimate(one, spec, (true or {}).get(one["question"])) for one in made["questions"]),
        pairs=tuple(
            (*one["questions"], one["measure"] == "correlation", tuple(one[key] for key in _FIGURES))
            for one in made["pairs"]
        ),
        errors=_errors(names, findings),
        confidence=float(manifest["plan"]["algorithm"].get("confidence", 0.95)),
        findings=findings,
        skipped=skipped,
        inside=inside,
        study=bool(true),
    )


def _errors(names: list[str], findings: tuple[Finding, ...]) -> tuple[tuple[str, float, float, float], ...]:
    """How near the best filter comes to every number, beside the noise itself and the mean."""
    told = next((one.figures for one in findings if one.attack == NoiseFilter.name), {})
    keys = ("noise", "spread", "error")
    found = [(name, *(told[f"{key} of {name}"] for key in keys)) for name in names if f"noise of {name}" in told]
    return tuple(found)  # type: ignore[arg-type]


def promises(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What randomizing at the source promises, and what it does not."""
    return [
        (
            said(
                "No answer tells for sure what the person would have said; the promise of each question stands below."
            ),
            said("Answers of one person to many questions add up."),
        )
    ]


def _promise(question: Mapping[str, Any], claims: list[Mapping[str, Any]]) -> PromiseShown:
    told = next(one["parameters"] for one in claims if one["parameters"]["question"] == question["name"])
    span = float(question["high"]) - float(question["low"]) if "high" in question else None
    return PromiseShown(
        name=str(question["name"]),
        kind=str(question["kind"]),
        epsilon=told.get("epsilon"),
        about=float(Amount.read(told["epsilon"])) if "epsilon" in told else None,
        width=told.get("width"),
        of_range=None if span is None or "width" not in told else told["width"] / span,
    )


def _estimate(one: Mapping[str, Any], spec: Mapping[str, Any], true: tuple[float, ...] | None) -> EstimateShown:
    kind = next(each["kind"] for each in spec["questions"] if each["name"] == one["question"])
    return EstimateShown(
        name=str(one["question"]),
        kind=str(kind),
        cells=tuple(zip(one["cells"], one["shown"], one["share"], one["low"], one["high"], strict=True)),
        outside=(float(one["outside"][0]), float(one["outside"][1])),
        true=true,
    )


def summary(made: CollectedRelease) -> Summary:
    """What every question promises, and how often the best guess is right."""
    found = [one for one in made.audit.findings if one.rate.carried_out]
    risks = tuple(
        f"{one.attack}: {one.rate.value:.1%} right, {one.naive.value:.1%} without the person's own answer."
        for one in found
    )
    return Summary(
        lines=(f"Collected: {made.rows.height:,} answers to {len(_questions(made))} questions.",),
        heads=("question", "promise"),
        cells=tuple((str(one.parameters["question"]), _said(one.parameters)) for one in made.claims),
        after=(*risks, *warned(made.marks)),
        changes=(("rows", made.rows.height + made.prepared.dropped, made.rows.height),),
    )


def _said(told: Mapping[str, Any]) -> str:
    if "epsilon" not in told:
        return f"an interval of {told['width']:.6g} holds the answer with probability {told['confidence']:g}"
    of = f", of {told['of']}" if "of" in told else ""
    return f"local epsilon {told['epsilon']} (about {float(Amount.read(told['epsilon'])):.4g}){of}"


def figures(made: CollectedRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": made.rows.height,
        "left_out": made.prepared.dropped,
        "algorithm": made.algorithm,
        "claims": [{"model": one.model, "parameters": dict(one.parameters)} for one in made.claims],
        "reconstruction": made.estimates.to_json(),
        "attacks": made.audit.to_json(),
    }
