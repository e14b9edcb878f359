"""Audits of all noise: the mechanisms by themselves, and whole releases of private algorithms on made-up neighbours.

No private table is read: inputs are built in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from sfumato.attacks.answers.noise_audit import NoiseAudit, audit_outputs, runs_of
from sfumato.budget.accountants import epsilon_at
from sfumato.budget.events import exactly
from sfumato.budget.promise import Promise
from sfumato.ground.errors import PlanError, listed, nearest
from sfumato.ground.work import Work
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.catalog.options import configured
from sfumato.workflow.kinds.private.private_budget import promise_of
from sfumato.workflow.kinds.private.private_neighbours import Mechanism, Seen, outputs, pairs
from sfumato.workflow.kinds.private.private_plan import private_algorithm
from sfumato.workflow.noise_cases import NoiseCase, mechanism_cases, telling_delta
from sfumato.workflow.plan.plan import Plan

CONFIDENCE = 1 - 1e-6
"""A mechanism that keeps its promise is accused in one audit of a million."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """One audit, and of what."""

    what: str
    """What was audited."""
    audit: NoiseAudit
    """What it found, and could have found."""
    factor: float | None
    """How many times too small noise must be to be found with 95 %: of this mechanism, or of one count in a release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long and how closely is looked."""

    runs: int | Literal["auto"] = "auto"
    """Runs on each input; auto for as many as the factor needs."""
    factor: float = 2.0
    """How many times too small the noise must be to be found with 95 %."""
    confidence: float = CONFIDENCE
    """Of each audit."""

    def many(self, declared: float, delta: float) -> int:
        """Runs for one promise."""
        return runs_of(self.runs, declared, confidence=self.confidence, factor=self.factor, delta=delta)


def audit_mechanisms(
    epsilon: Any = 1, *, patience: Patience | None = None, work: Work | None = None, cases: Sequence[NoiseCase] = ()
) -> Iterator[Audited]:
    """Every mechanism by itself, against its own promise; ``cases`` are the product's unless others are given."""
    asked, watch = patience or Patience(), work or Work()
    every = cases or mechanism_cases(exactly("epsilon", epsilon))
    for number, case in enumerate(every):
        watch.advance("mechanisms", number, len(every))
        missed = (1 - asked.confidence) / 2
        runs = case.runs(asked.factor, missed) if asked.runs == "auto" else asked.many(case.declared, case.delta)
        found = audit_outputs(
            case.draw(0, runs),
            case.draw(1, runs),
            confidence=asked.confidence,
            declared=case.declared,
            delta=case.delta,
        )
        yield Audited(what=case.name, audit=found, factor=case.found(runs, missed))
    watch.advance("mechanisms", len(every), len(every))


def audit_together(
    epsilon: Any = None, *, patience: Patience | None = None, work: Work | None = None
) -> Iterator[Audited]:
    """Every mechanism of two parties, as an outsider and as one of the parties sees it."""
    from sfumato.workflow.joint_noise_cases import two_party_cases

    asked = exactly("epsilon", 1 if epsilon is None else epsilon)
    return audit_mechanisms(asked, patience=patience, work=work, cases=two_party_cases(asked))


def audit_release(
    name: str, run: Mechanism, promise: Promise, *, patience: Patience | None = None, work: Work | None = None
) -> Iterator[Audited]:
    """Whole releases of an algorithm on neighbouring tables: by labels, steps, words and counts, each against all.

    A promise in rho, or with a delta, is audited as (epsilon, delta) at one delta.
    """
    asked, watch = patience or Patience(), work or Work()
    rho = promise.unit == "rho"
    delta = telling_delta(promise.amount()) if rho else 0.0
    declared = epsilon_at(promise.amount(), delta) if rho else float(promise.epsilon or 0)
    runs, shown = asked.many(declared, delta), dict[int, list[Seen]]()
    every = pairs()
    for number, pair in enumerate(every):
        watch.advance(name, number, len(every))
        if id(pair.first) not in shown:
            shown[id(pair.first)] = outputs(run, pair.first, runs, watch)
        before, after = shown[id(pair.first)], outputs(run, pair.second, runs, watch)
        for part in before[0]:
            sides = [[one[part] for one in side] for side in (before, after)]
            found = audit_outputs(sides[0], sides[1], confidence=asked.confidence, declared=declared, delta=delta)
            yield Audited(what=f"{name}, {pair.name}: {part}", audit=found, factor=found.factor)
    watch.advance(name, len(every), len(every))


def audit_everything(
    plan: Plan | None = None,
    *,
    algorithm: str | None = None,
    epsilon: Any = None,
    patience: Patience | None = None,
    work: Work | None = None,
) -> Iterator[Audited]:
    """All mechanisms and all private algorithms; of a plan, its algorithm with its options and its promise."""
    if plan is not None:
        promise = promise_of(plan)
        name, run, _ = private_algorithm(plan)
        if algorithm is not None or epsilon is not None:
            raise PlanError("the plan says which algorithm and which epsilon; leave --algorithm and --epsilon out")
        amount = promise.epsilon if promise.unit == "epsilon" else None
        yield from audit_mechanisms(amount or 1, patience=patience, work=work)
        yield from audit_release(name, run, _alone(plan, promise), patience=patience, work=work)
        return
    asked, known = exactly("epsilon", 1 if epsilon is None else epsilon), catalog().solving("private")
    if algorithm is not None and algorithm not in known:
        raise PlanError(
            f"--algorithm: {algorithm!r} is not differentially private{nearest(algorithm, known)} There are "
            f"{listed(known)}"
        )
    if algorithm is None:
        yield from audit_mechanisms(asked, patience=patience, work=work)
    for name in known if algorithm is None else [algorithm]:
        run = configured(known[name], {}, fixed={"epsilon": asked}, beside=("name", "output"))
        yield from audit_release(name, run, Promise(epsilon=asked), patience=patience, work=work)


def _alone(plan: Plan, promise: Promise) -> Promise:
    """What the mechanism itself promises for one row, where a person has several."""
    rows = plan.input.rows_per_unit
    if rows == 1:
        return promise
    unit, amount = promise.unit, promise.amount()
    return Promise(epsilon=amount / rows) if unit == "epsilon" else Promise(rho=amount / Fraction(rows**2))
