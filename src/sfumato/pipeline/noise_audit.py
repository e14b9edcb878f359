"""Audits of all noise: single mechanisms, and whole private releases on neighbouring tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import polars as pl

from sfumato.algorithms.private_table import NoisyTable, PrivateTable
from sfumato.attacks.noise_audit import NoiseAudit, audit_outputs, runs_of
from sfumato.core.errors import PlanError, listed, nearest
from sfumato.core.run_context import Work
from sfumato.dp.accounting import Promise, epsilon_at
from sfumato.dp.events import exactly
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.catalog.parts import configured
from sfumato.pipeline.methods.private.domains import declared_table
from sfumato.pipeline.methods.private.plan import private_algorithm, promise_of
from sfumato.pipeline.noise_cases import NoiseCase, mechanism_cases, telling_delta
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.table import Table

# Neighbouring tables on which a private algorithm would show a mistake, and everything that its release tells.
#
# Each pair differs by one record and brings out one look at the rows: counts where nothing is to be chosen, a choice
# that one record decides, a value that nobody else has. All people are made up.


Mechanism = Callable[[PrivateTable, Work], NoisyTable]
Row = tuple[str, int, str]
Seen = dict[str, Any]
ROWS: tuple[Row, ...] = (("cook", 1, "yes"),) * 3 + (("baker", 2, "no"),) * 2
"""A few people; nobody is a smith or a clerk."""
MORE: tuple[Row, ...] = (("cook", 1, "yes"), ("smith", 3, "no"))
"""With each of them, the table is a neighbour: one like the others, and one like nobody."""
_DOMAIN = {
    "columns": {
        "job": {"role": "quasi", "hierarchy": {"tree": {"food": ["cook", "baker"], "other": ["smith", "clerk"]}}},
        "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 4, "grid": 1}},
        "good": {"role": "target", "values": ["yes", "no"]},
    },
    "privacy": {"epsilon": 1},
}
_NARROW = {
    "columns": {"job": {"role": "quasi", "hierarchy": {"tree": {"kitchen": ["cook"], "bakery": ["baker"]}}}},
    "privacy": {"epsilon": 1},
}
_DECIDING = {
    "columns": {
        "job": {"role": "quasi", "values": ["cook", "baker"]},
        "shift": {"role": "quasi", "values": ["day", "night"]},
        "good": {"role": "target", "values": ["no", "yes"]},
    },
    "privacy": {"epsilon": 1},
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """Two tables that differ by one record."""

    name: str
    """What they bring out."""
    first: PrivateTable
    """Without the record."""
    second: PrivateTable
    """With it."""


def tiny_table(rows: Sequence[Row]) -> PrivateTable:
    """Rows of job, age and class over declared domains."""
    schema = {"job": pl.String, "age": pl.Int64, "good": pl.String}
    return declared_table(Plan.parse(_DOMAIN), Table(frame=pl.DataFrame(list(rows), schema=schema, orient="row")))


def narrow_table(cooks: int) -> PrivateTable:
    """So many cooks and twenty bakers: one attribute of two values and no class, so that nothing is to be chosen."""
    frame = pl.DataFrame({"job": ["cook"] * cooks + ["baker"] * 20})
    return declared_table(Plan.parse(_NARROW), Table(frame=frame))


def deciding_table(alike: int, *others: tuple[str, str, str]) -> PrivateTable:
    """So many equal records, between which no attribute tells, and a few others."""
    frame = pl.DataFrame([("cook", "day", "no")] * alike + list(others), schema=["job", "shift", "good"], orient="row")
    return declared_table(Plan.parse(_DECIDING), Table(frame=frame))


def pairs() -> tuple[Pair, ...]:
    """The pairs that every private algorithm is audited on; tables that are the same are one object."""
    few, alike = tiny_table(ROWS), deciding_table(10)
    return (
        Pair(name="one count more", first=narrow_table(20), second=narrow_table(21)),
        Pair(name="one more like others", first=few, second=tiny_table((*ROWS, MORE[0]))),
        Pair(name="one like nobody", first=few, second=tiny_table((*ROWS, MORE[1]))),
        Pair(name="one who decides a choice", first=alike, second=deciding_table(10, ("baker", "day", "yes"))),
    )


def outputs(run: Mechanism, table: PrivateTable, runs: int, work: Work | None = None) -> list[Seen]:
    """What so many releases of a table tell."""
    tree = table.attributes[0].tree
    places = {label: place for place, label in enumerate(tree.labels)} if tree is not None else {}
    views = []
    for number in range(runs):
        views.append(seen(run(table, Work()), places))
        if work is not None and number % 20 == 0:
            work.advance("audit", number, runs)
    return views


def seen(noisy_table: NoisyTable, places: Mapping[str, int]) -> Seen:
    """Which groups there are, what was done and told about the search, and how many groups and rows there are."""
    labels = [
        np.array(column_labels)[keys].tolist()
        for column_labels, keys in zip(noisy_table.labels, noisy_table.keys, strict=True)
    ]
    groups = sorted(zip(*labels, strict=True))
    jobs = np.zeros((len(places), noisy_table.counts.shape[1]), np.int64)
    known = np.array([job in places for job in labels[0]], bool)
    np.add.at(jobs, [places[job] for job in labels[0] if job in places], noisy_table.counts[known])
    sums = [noisy_table.counts.sum(axis=0), jobs.sum(axis=1), jobs.ravel()]
    return {
        "labels": repr((noisy_table.labels, groups)),
        "steps": repr(noisy_table.steps),
        "words": repr((noisy_table.steps, noisy_table.effort)),
        "counts": np.concatenate([[len(groups)], *sums]),
    }


# Audits of all noise: the mechanisms by themselves, and whole releases of private algorithms on made-up neighbours.
#
# No private table is read: inputs are built in.


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
    settings, watch = patience or Patience(), work or Work()
    every = cases or mechanism_cases(exactly("epsilon", epsilon))
    for number, case in enumerate(every):
        watch.advance("mechanisms", number, len(every))
        missed = (1 - settings.confidence) / 2
        runs = (
            case.runs(settings.factor, missed) if settings.runs == "auto" else settings.many(case.declared, case.delta)
        )
        audit = audit_outputs(
            case.draw(0, runs),
            case.draw(1, runs),
            confidence=settings.confidence,
            declared=case.declared,
            delta=case.delta,
        )
        yield Audited(what=case.name, audit=audit, factor=case.found(runs, missed))
    watch.advance("mechanisms", len(every), len(every))


def audit_together(
    epsilon: Any = None, *, patience: Patience | None = None, work: Work | None = None
) -> Iterator[Audited]:
    """Every mechanism of two parties, as an outsider and as one of the parties sees it."""
    from sfumato.pipeline.joint.noise_cases import two_party_cases

    exact_epsilon = exactly("epsilon", 1 if epsilon is None else epsilon)
    return audit_mechanisms(exact_epsilon, patience=patience, work=work, cases=two_party_cases(exact_epsilon))


def audit_release(
    name: str, run: Mechanism, promise: Promise, *, patience: Patience | None = None, work: Work | None = None
) -> Iterator[Audited]:
    """Whole releases of an algorithm on neighbouring tables: by labels, steps, words and counts, each against all.

    A promise in rho, or with a delta, is audited as (epsilon, delta) at one delta.
    """
    settings, watch = patience or Patience(), work or Work()
    rho = promise.unit == "rho"
    delta = telling_delta(promise.amount()) if rho else 0.0
    declared = epsilon_at(promise.amount(), delta) if rho else float(promise.epsilon or 0)
    runs, views = settings.many(declared, delta), dict[int, list[Seen]]()
    every = pairs()
    for number, pair in enumerate(every):
        watch.advance(name, number, len(every))
        if id(pair.first) not in views:
            views[id(pair.first)] = outputs(run, pair.first, runs, watch)
        before, after = views[id(pair.first)], outputs(run, pair.second, runs, watch)
        for part in before[0]:
            sides = [[view[part] for view in side] for side in (before, after)]
            audit = audit_outputs(sides[0], sides[1], confidence=settings.confidence, declared=declared, delta=delta)
            yield Audited(what=f"{name}, {pair.name}: {part}", audit=audit, factor=audit.factor)
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
    exact_epsilon, known = exactly("epsilon", 1 if epsilon is None else epsilon), catalog().solving("private")
    if algorithm is not None and algorithm not in known:
        raise PlanError(
            f"--algorithm: {algorithm!r} is not differentially private{nearest(algorithm, known)} There are "
            f"{listed(known)}"
        )
    if algorithm is None:
        yield from audit_mechanisms(exact_epsilon, patience=patience, work=work)
    for name in known if algorithm is None else [algorithm]:
        run = configured(known[name], {}, fixed={"epsilon": exact_epsilon}, other_keys=("name", "output"))
        yield from audit_release(name, run, Promise(epsilon=exact_epsilon), patience=patience, work=work)


def _alone(plan: Plan, promise: Promise) -> Promise:
    """What the mechanism itself promises for one row, where a person has several."""
    rows = plan.input.rows_per_unit
    if rows == 1:
        return promise
    unit, amount = promise.unit, promise.amount()
    return Promise(epsilon=amount / rows) if unit == "epsilon" else Promise(rho=amount / Fraction(rows**2))
