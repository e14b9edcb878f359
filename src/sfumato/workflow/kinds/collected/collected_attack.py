"""The audit of collected answers: what filters and guesses tell about a person's true answer.

An attacker has the rows and the specification, and so has everybody: what they reach on average is computed from the
bundle alone, without any true answer. Of a study the guesses are counted on true answers too, for the steward only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.attacks.frame.randomized import Coin, CoinedQuestion, NoisyColumns, RandomizedAnswers, Reals
from sfumato.attacks.frame.trials import Finding
from sfumato.collect.channels import bit_rows
from sfumato.collect.noisy_numbers import NoisyNumber
from sfumato.collect.pair_estimates import noise_variance
from sfumato.collect.published_estimates import Estimate, Estimates, Reconstruction
from sfumato.collect.specification import Question, Specification
from sfumato.collect.unary_bits import UnaryBits
from sfumato.data.table import as_text
from sfumato.ground.chance import Chance
from sfumato.ground.work import Work
from sfumato.verification.collected_checks import MEASURED
from sfumato.verification.verifying import DATA, tables_of
from sfumato.workflow.attacking import chosen_attacks
from sfumato.workflow.audit import Audit, over
from sfumato.workflow.kinds.collected.collected_plan import algorithm_of
from sfumato.workflow.kinds.collected.collected_release import CollectedRelease
from sfumato.workflow.plan.attack_plan import AttackPlan

Answers = Mapping[str, Sequence[str]]
Truth = Mapping[str, Sequence[Any]]


def attack(made: CollectedRelease, work: Work) -> Audit:
    """Filter and guess; more than the plan allows is refused."""
    asked, ready = made.plan.attack, made.prepared
    if not asked.run:
        return Audit()
    shown = {name: ready.shown[name].to_list() for name in ready.shown.columns}
    subject = answers_found(ready.spec, algorithm_of(made.plan), made.estimates, shown, ready.truth)
    found = audited(subject, asked, work, Chance(seed=made.plan.algorithm.seed))
    found.refuse(asked.max_risk, asked.accept)
    return found


def attack_bundle(folder: Path, manifest: Mapping[str, Any], asked: AttackPlan, work: Work) -> Audit:
    """The same for a bundle, from its bytes."""
    frame = tables_of(folder, manifest)[DATA].frame
    spec, options = stated(manifest)
    shown = {one.name: as_text(frame[one.name]).to_list() for one in spec.questions}
    return audited(answers_found(spec, options, options(spec, shown), shown), asked, work, Chance())


def made_again(manifest: Mapping[str, Any], shown: Answers) -> dict[str, Any]:
    """Estimates and attacks from shown answers and what a manifest states about them."""
    spec, options = stated(manifest)
    found = options(spec, shown)
    asked = manifest["plan"]["attack"]
    audit = Audit()
    if asked["run"]:
        plan = AttackPlan(attacks=tuple(asked["attacks"]))
        audit = audited(answers_found(spec, options, found, shown), plan, Work(), Chance(), hurried=False)
    return {"reconstruction": found.to_json(), "attacks": audit.to_json()}


def stated(manifest: Mapping[str, Any]) -> tuple[Specification, Reconstruction]:
    """The specification of a manifest, and how its distributions are estimated."""
    spec = Specification.parse(json.dumps(manifest["specification"]), where="the manifest's specification")
    options = manifest["plan"]["algorithm"]
    return spec, Reconstruction(**{key: options[key] for key in ("cells", "confidence") if key in options})


def audited(
    subject: RandomizedAnswers, asked: AttackPlan, work: Work, chance: Chance, *, hurried: bool = True
) -> Audit:
    """Make the attacks that are asked for, question by question; those without time are told as not made."""
    inner = work.within(asked.seconds)
    findings, skipped = list[Finding](), dict[str, str]()
    chosen = chosen_attacks(asked.attacks, "collected")
    for place, (name, part) in enumerate(chosen.items()):
        work.advance("attack", place, len(chosen))
        for title, one in _forms(name, part.make(asked.trials), subject):
            why = (over(inner, asked.seconds) if hurried else "") or one.fits(subject)
            if why:
                skipped[title] = why
                continue
            findings.append(replace(one.run(subject, chance, None), attack=title))
            counted = one.measured(subject, chance, None) if hasattr(one, "measured") else None
            if counted is not None:
                findings.append(replace(counted, attack=f"{title}{MEASURED}"))
    work.advance("attack", 1, 1)
    return Audit(findings=tuple(findings), skipped=skipped)


def _forms(name: str, attack: Any, subject: RandomizedAnswers) -> list[tuple[str, Any]]:
    """The attack for every question with declared answers, where it asks for one and there are several."""
    if not hasattr(attack, "question") or len(subject.questions) < 2:
        return [(name, attack)]
    return [(f"{name} of {one.name}", replace(attack, question=one.name)) for one in subject.questions]


def answers_found(
    spec: Specification, options: Reconstruction, found: Estimates, shown: Answers, truth: Truth | None = None
) -> RandomizedAnswers:
    """Answers as an attacker finds them; with the true ones in a study."""
    numbers = [one for one in spec.questions if isinstance(one, NoisyNumber)]
    estimates = {one.name: one for one in found.questions}
    coined = [
        _coined(one, options, estimates[one.name], shown[one.name], None if truth is None else truth[one.name])
        for one in spec.questions
        if not isinstance(one, NoisyNumber)
    ]
    rows = len(shown[spec.questions[0].name])
    return RandomizedAnswers(
        rows=rows, numbers=_noisy(numbers, estimates, shown, truth) if numbers else None, questions=tuple(coined)
    )


def _noisy(
    questions: Sequence[NoisyNumber], found: Mapping[str, Estimate], shown: Answers, truth: Truth | None
) -> NoisyColumns:
    def true(one: NoisyNumber, codes: Sequence[int]) -> Reals:
        return float(one.low) + float(one.step) * np.asarray(codes, np.float64)

    return NoisyColumns(
        names=tuple(one.name for one in questions),
        shown=np.array([[float(text) for text in shown[one.name]] for one in questions]).T,
        deviation=np.sqrt([noise_variance(one) for one in questions]),
        spread=np.array([found[one.name].deviation for one in questions]),
        span=np.array([float(one.high - one.low) for one in questions]),
        true=None if truth is None else np.array([true(one, truth[one.name]) for one in questions]).T,
    )


def _coined(
    question: Question, options: Reconstruction, found: Estimate, shown: Sequence[str], truth: Sequence[Any] | None
) -> CoinedQuestion:
    if question.epsilon is None:  # pragma: no cover  every coin has one
        raise ValueError(question.name)
    coins = _bits(question, found, shown, truth) if _is_set(question) else _one(question, options, found, shown, truth)
    return CoinedQuestion(
        name=question.name, coins=coins, epsilon=float(question.epsilon), promise=str(question.epsilon)
    )


def _is_set(question: Question) -> bool:
    return isinstance(question, UnaryBits) and question.kind == "items"


def _one(
    question: Question, options: Reconstruction, found: Estimate, shown: Sequence[str], truth: Sequence[Any] | None
) -> tuple[Coin, ...]:
    seen = options.seen(question, shown)
    places = None
    if truth is not None:
        codes = [code.index(True) for code in truth] if isinstance(question, UnaryBits) else truth
        places = np.asarray(codes, np.int64)
    return (Coin(chances=seen.channel.matrix, shares=found.shares, codes=seen.codes, true=places),)


def _bits(question: Any, found: Estimate, shown: Sequence[str], truth: Sequence[Any] | None) -> tuple[Coin, ...]:
    """A coin for every item: outcomes are a shown one and a shown zero, answers are in and out."""
    keep, flip = map(float, question.shown)
    chances = np.array([[keep, flip], [1 - keep, 1 - flip]])
    bits = bit_rows(question, shown)
    true = None if truth is None else np.array(truth, np.bool_)
    return tuple(
        Coin(
            chances=chances,
            shares=np.array([share, 1 - share]),
            codes=(~bits[:, place]).astype(np.int64),
            true=None if true is None else (~true[:, place]).astype(np.int64),
        )
        for place, share in enumerate(found.shares)
    )
