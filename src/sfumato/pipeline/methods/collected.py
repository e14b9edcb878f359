"""Answers randomized at the source as a method: files, manifest, reports and attacks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.attacks.finding import Finding
from sfumato.attacks.randomized_answers import Coin, CoinedQuestion, NoisyColumns, RandomizedAnswers, Reals
from sfumato.attacks.spectral_filter import NoiseFilter
from sfumato.bundles.checks.collected import MEASURED, Amount, collected_checks
from sfumato.bundles.provenance import Check, Remark
from sfumato.bundles.verify import DATA, tables_of
from sfumato.collection.channels import bit_rows
from sfumato.collection.estimates import Estimate, Estimates, Reconstruction
from sfumato.collection.joint_distribution import noise_variance
from sfumato.collection.mechanisms import NoisyNumber, UnaryBits
from sfumato.collection.specification import Question, Specification
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods import collected_stages
from sfumato.pipeline.methods.collected_stages import CollectedRelease, algorithm_of
from sfumato.pipeline.methods.method import Audit, Method, Summary, over, refused, refused_bundle, warned
from sfumato.pipeline.methods.supports import Supports
from sfumato.pipeline.plan.evaluation import AttackPlan
from sfumato.pipeline.release import stated, versions
from sfumato.reports.collected import CollectedFacts, EstimateShown, PromiseShown, render
from sfumato.reports.language import translated
from sfumato.tables.table import Table, as_text

# From a release of collected answers to its files, manifest, reports and summary.


_FIGURES = ("shown", "estimate", "low", "high")
"""Of a pair of questions, in the order of the page."""


def manifest(release: CollectedRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated: everything is computed from the rows and the specification."""
    return {
        "claims": [{"model": claim.model, "parameters": dict(claim.parameters)} for claim in release.claims],
        "specification": release.specification,
        "reconstruction": release.estimates.to_json(),
        "recoding": {
            "algorithm": release.algorithm,
            "why": release.why,
            **({"left_out": release.prepared.dropped} if release.prepared.dropped else {}),
        },
        **release.audit.stated(),
        "versions": versions("numpy", "polars"),
    }


def public_page(manifest: Mapping[str, Any], tables: Mapping[str, Table], work: Work) -> str:
    """The report as one HTML page: a function of the manifest alone, whose figures the rows give."""
    findings = tuple(map(Finding.from_json, manifest["attacks"]))
    return render(_facts(manifest, findings, dict(manifest["attacks_not_made"])), work)


def inside_page(release: CollectedRelease, work: Work) -> str:
    """The collector's own report: what was left out, and of a study the true shares and what attackers told rightly."""
    names = [f"{stem}.{release.plan.output_format}" for stem in ("data",)]
    body = stated(release, dict.fromkeys(names, ""))
    true = (
        {}
        if release.prepared.truth is None
        else {question.name: _true_shares(release, question) for question in _questions(release)}
    )
    facts = _facts(body, release.audit.findings, dict(release.audit.skipped), inside=True, true=true)
    return render(facts, work)


def _questions(release: CollectedRelease) -> tuple[Question, ...]:
    return release.prepared.spec.questions


def _true_shares(release: CollectedRelease, question: Question) -> tuple[float, ...]:
    """Of a study: the share of people in every cell."""
    cells = next(estimate for estimate in release.estimates.questions if estimate.name == question.name).labels
    codes = np.asarray((release.prepared.truth or {})[question.name])
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
    spec, reconstruction = manifest["specification"], manifest["reconstruction"]
    names = [question["name"] for question in spec["questions"]]
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
        promises=tuple(_promise(question, manifest["claims"]) for question in spec["questions"]),
        beside=tuple(column["name"] for column in manifest["data"]["columns"] if column["name"] not in names),
        estimates=tuple(
            _estimate(estimate, spec, (true or {}).get(estimate["question"]))
            for estimate in reconstruction["questions"]
        ),
        pairs=tuple(
            (*pair["questions"], pair["measure"] == "correlation", tuple(pair[key] for key in _FIGURES))
            for pair in reconstruction["pairs"]
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
    figures = next((finding.figures for finding in findings if finding.attack == NoiseFilter.name), {})
    keys = ("noise", "spread", "error")
    errors = [(name, *(figures[f"{key} of {name}"] for key in keys)) for name in names if f"noise of {name}" in figures]
    return tuple(errors)  # type: ignore[arg-type]


def promises(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What randomizing at the source promises, and what it does not."""
    return [
        (
            translated(
                "No answer tells for sure what the person would have said; the promise of each question stands below."
            ),
            translated("Answers of one person to many questions add up."),
        )
    ]


def _promise(question: Mapping[str, Any], claims: list[Mapping[str, Any]]) -> PromiseShown:
    parameters = next(claim["parameters"] for claim in claims if claim["parameters"]["question"] == question["name"])
    span = float(question["high"]) - float(question["low"]) if "high" in question else None
    return PromiseShown(
        name=str(question["name"]),
        kind=str(question["kind"]),
        epsilon=parameters.get("epsilon"),
        about=float(Amount.read(parameters["epsilon"])) if "epsilon" in parameters else None,
        width=parameters.get("width"),
        of_range=None if span is None or "width" not in parameters else parameters["width"] / span,
    )


def _estimate(estimate: Mapping[str, Any], spec: Mapping[str, Any], true: tuple[float, ...] | None) -> EstimateShown:
    kind = next(each["kind"] for each in spec["questions"] if each["name"] == estimate["question"])
    return EstimateShown(
        name=str(estimate["question"]),
        kind=str(kind),
        cells=tuple(
            zip(estimate["cells"], estimate["shown"], estimate["share"], estimate["low"], estimate["high"], strict=True)
        ),
        outside=(float(estimate["outside"][0]), float(estimate["outside"][1])),
        true=true,
    )


def summary(release: CollectedRelease) -> Summary:
    """What every question promises, and how often the best guess is right."""
    findings = [finding for finding in release.audit.findings if finding.rate.carried_out]
    risks = tuple(
        f"{finding.attack}: {finding.rate.value:.1%} right, {finding.naive.value:.1%} without the person's own answer."
        for finding in findings
    )
    return Summary(
        lines=(f"Collected: {release.rows.height:,} answers to {len(_questions(release))} questions.",),
        heads=("question", "promise"),
        cells=tuple((str(claim.parameters["question"]), _said(claim.parameters)) for claim in release.claims),
        after=(*risks, *warned(release.marks)),
        changes=(("rows", release.rows.height + release.prepared.dropped, release.rows.height),),
    )


def _said(parameters: Mapping[str, Any]) -> str:
    if "epsilon" not in parameters:
        return (
            f"an interval of {parameters['width']:.6g} holds the answer with probability {parameters['confidence']:g}"
        )
    of = f", of {parameters['of']}" if "of" in parameters else ""
    return f"local epsilon {parameters['epsilon']} (about {float(Amount.read(parameters['epsilon'])):.4g}){of}"


def figures(release: CollectedRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": release.rows.height,
        "left_out": release.prepared.dropped,
        "algorithm": release.algorithm,
        "claims": [{"model": claim.model, "parameters": dict(claim.parameters)} for claim in release.claims],
        "reconstruction": release.estimates.to_json(),
        "attacks": release.audit.to_json(),
    }


# The audit of collected answers: what filters and guesses tell about a person's true answer.
#
# An attacker has the rows and the specification, and so has everybody: what they reach on average is computed from the
# bundle alone, without any true answer. Of a study the guesses are counted on true answers too, for the steward only.


Answers = Mapping[str, Sequence[str]]
Truth = Mapping[str, Sequence[Any]]


def attack(release: CollectedRelease, work: Work) -> Audit:
    """Filter and guess; more than the plan allows is refused."""
    attack_plan, ready = release.plan.attack, release.prepared
    if not attack_plan.run:
        return Audit()
    answers = {name: ready.shown[name].to_list() for name in ready.shown.columns}
    subject = answers_found(ready.spec, algorithm_of(release.plan), release.estimates, answers, ready.truth)
    audit = audited(subject, attack_plan, work, Chance(seed=release.plan.algorithm.seed))
    audit.refuse(attack_plan.max_risk, attack_plan.accept)
    return audit


def attack_bundle(folder: Path, manifest: Mapping[str, Any], attack_plan: AttackPlan, work: Work) -> Audit:
    """The same for a bundle, from its bytes."""
    frame = tables_of(folder, manifest)[DATA].frame
    spec, options = stated_collection(manifest)
    answers = {question.name: as_text(frame[question.name]).to_list() for question in spec.questions}
    return audited(answers_found(spec, options, options(spec, answers), answers), attack_plan, work, Chance())


def made_again(manifest: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
    """Estimates and attacks from shown answers and what a manifest states about them."""
    spec, options = stated_collection(manifest)
    reconstruction = options(spec, answers)
    settings = manifest["plan"]["attack"]
    audit = Audit()
    if settings["run"]:
        plan = AttackPlan(attacks=tuple(settings["attacks"]))
        audit = audited(answers_found(spec, options, reconstruction, answers), plan, Work(), Chance(), hurried=False)
    return {"reconstruction": reconstruction.to_json(), "attacks": audit.to_json()}


def stated_collection(manifest: Mapping[str, Any]) -> tuple[Specification, Reconstruction]:
    """The specification of a manifest, and how its distributions are estimated."""
    spec = Specification.parse(json.dumps(manifest["specification"]), where="the manifest's specification")
    options = manifest["plan"]["algorithm"]
    return spec, Reconstruction(**{key: options[key] for key in ("cells", "confidence") if key in options})


def audited(
    subject: RandomizedAnswers, attack_plan: AttackPlan, work: Work, chance: Chance, *, hurried: bool = True
) -> Audit:
    """Make the attacks that are asked for, question by question; those without time are told as not made."""
    inner = work.within(attack_plan.seconds)
    findings, skipped = list[Finding](), dict[str, str]()
    chosen = catalog().chosen_attacks(attack_plan.attacks, "collected")
    for place, (name, part) in enumerate(chosen.items()):
        work.advance("attack", place, len(chosen))
        for title, attack in _forms(name, part.make(attack_plan.trials), subject):
            why = (over(inner, attack_plan.seconds) if hurried else "") or attack.fits(subject)
            if why:
                skipped[title] = why
                continue
            findings.append(replace(attack.run(subject, chance, None), attack=title))
            counted = attack.measured(subject, chance, None) if hasattr(attack, "measured") else None
            if counted is not None:
                findings.append(replace(counted, attack=f"{title}{MEASURED}"))
    work.advance("attack", 1, 1)
    return Audit(findings=tuple(findings), skipped=skipped)


def _forms(name: str, attack: Any, subject: RandomizedAnswers) -> list[tuple[str, Any]]:
    """The attack for every question with declared answers, where it asks for one and there are several."""
    if not hasattr(attack, "question") or len(subject.questions) < 2:
        return [(name, attack)]
    return [(f"{name} of {question.name}", replace(attack, question=question.name)) for question in subject.questions]


def answers_found(
    spec: Specification,
    options: Reconstruction,
    reconstruction: Estimates,
    answers: Answers,
    truth: Truth | None = None,
) -> RandomizedAnswers:
    """Answers as an attacker finds them; with the true ones in a study."""
    numbers = [question for question in spec.questions if isinstance(question, NoisyNumber)]
    estimates = {estimate.name: estimate for estimate in reconstruction.questions}
    coined = [
        _coined(
            question,
            options,
            estimates[question.name],
            answers[question.name],
            None if truth is None else truth[question.name],
        )
        for question in spec.questions
        if not isinstance(question, NoisyNumber)
    ]
    rows = len(answers[spec.questions[0].name])
    return RandomizedAnswers(
        rows=rows, numbers=_noisy(numbers, estimates, answers, truth) if numbers else None, questions=tuple(coined)
    )


def _noisy(
    questions: Sequence[NoisyNumber], estimates: Mapping[str, Estimate], answers: Answers, truth: Truth | None
) -> NoisyColumns:
    def true(question: NoisyNumber, codes: Sequence[int]) -> Reals:
        return float(question.low) + float(question.step) * np.asarray(codes, np.float64)

    return NoisyColumns(
        names=tuple(question.name for question in questions),
        shown=np.array([[float(text) for text in answers[question.name]] for question in questions]).T,
        deviation=np.sqrt([noise_variance(question) for question in questions]),
        spread=np.array([estimates[question.name].deviation for question in questions]),
        span=np.array([float(question.high - question.low) for question in questions]),
        true=None if truth is None else np.array([true(question, truth[question.name]) for question in questions]).T,
    )


def _coined(
    question: Question, options: Reconstruction, estimate: Estimate, answers: Sequence[str], truth: Sequence[Any] | None
) -> CoinedQuestion:
    if question.epsilon is None:  # pragma: no cover  every coin has one
        raise ValueError(question.name)
    coins = (
        _bits(question, estimate, answers, truth)
        if _is_set(question)
        else _one(question, options, estimate, answers, truth)
    )
    return CoinedQuestion(
        name=question.name, coins=coins, epsilon=float(question.epsilon), promise=str(question.epsilon)
    )


def _is_set(question: Question) -> bool:
    return isinstance(question, UnaryBits) and question.kind == "items"


def _one(
    question: Question, options: Reconstruction, estimate: Estimate, answers: Sequence[str], truth: Sequence[Any] | None
) -> tuple[Coin, ...]:
    seen = options.seen(question, answers)
    places = None
    if truth is not None:
        codes = [code.index(True) for code in truth] if isinstance(question, UnaryBits) else truth
        places = np.asarray(codes, np.int64)
    return (Coin(chances=seen.channel.matrix, shares=estimate.shares, codes=seen.codes, true=places),)


def _bits(question: Any, estimate: Estimate, answers: Sequence[str], truth: Sequence[Any] | None) -> tuple[Coin, ...]:
    """A coin for every item: outcomes are a shown one and a shown zero, answers are in and out."""
    keep, flip = map(float, question.shown)
    chances = np.array([[keep, flip], [1 - keep, 1 - flip]])
    bits = bit_rows(question, answers)
    true = None if truth is None else np.array(truth, np.bool_)
    return tuple(
        Coin(
            chances=chances,
            shares=np.array([share, 1 - share]),
            codes=(~bits[:, place]).astype(np.int64),
            true=None if true is None else (~true[:, place]).astype(np.int64),
        )
        for place, share in enumerate(estimate.shares)
    )


# Answers that were randomized at the source as a kind of release: what their coins give is claimed.


def _checks(folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Table]) -> Iterable[Check | Remark]:
    return collected_checks(folder, manifest, tables, made_again)


METHOD = Method(
    name="collected",
    attacks="collected",
    supports=Supports(title="a release of collected answers", models=(), group=False),
    check=collected_stages.check,
    begin=collected_stages.begin,
    read=collected_stages.read,
    prepare=collected_stages.prepare,
    search=collected_stages.search,
    recode=collected_stages.recode,
    judge=collected_stages.judge,
    attack=attack,
    manifest=manifest,
    checks=_checks,
    subject=refused_bundle("collected answers are attacked from their bytes alone; there is no original"),
    alone=attack_bundle,
    public_page=public_page,
    done=lambda manifest: translated(
        "Every answer was randomized before anybody collected it. The release holds these answers, and what was "
        "reconstructed from them."
    ),
    promises=promises,
    inside_page=inside_page,
    summary=summary,
    figures=figures,
    comparison=refused(
        "collection: a frontier compares ways to change a table; `sfumato collect privacy` compares coins"
    ),
)
