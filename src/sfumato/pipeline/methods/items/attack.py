"""The audit of paths and sets: whoever knows a few items of somebody looks for their record."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.guarantees import Promise, limit_to_find, promises
from sfumato.attacks.sparse_sets import INFERRED, ItemSubject, SparseSets
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.counts.transactions import Transactions
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods.method import Audit, over
from sfumato.tables.item_sets import as_lists

if TYPE_CHECKING:
    from sfumato.pipeline.methods.items.stages import ItemRelease

MOST_PROMISED = 20
"""A promise to whoever knows more items than this is not tried."""
MOST_KNOWN = 4
"""Adversaries with one item to this many are tried, and with as many as the claims allow."""


def attack_records(release: ItemRelease, work: Work) -> Audit:
    """Look for people by one item, two, ...; knowledge that the claims speak about is held against them."""
    attack_plan = release.plan.attack
    if not attack_plan.run:
        return Audit()
    subject, work = item_subject(release), work.within(attack_plan.seconds)
    promised = promises(((claim.model, claim.parameters) for claim in release.claims), catalog().readers)
    chosen = catalog().chosen_attacks(attack_plan.attacks, "items")
    audit = _by_size(release, subject, promised, work) if SparseSets.name in chosen else Audit()
    for name, part in chosen.items():
        if name != SparseSets.name:
            audit = _with(audit, name, part.make(attack_plan.trials), (subject, promised, release), work)
    work.advance("attack", 1, 1)
    audit.refuse(attack_plan.max_risk, attack_plan.accept)
    return audit


def _with(
    audit: Audit, name: str, attack: Any, about: tuple[ItemSubject, tuple[Promise, ...], ItemRelease], work: Work
) -> Audit:
    """What was found, with one attack more, or with why it was not made."""
    subject, promised, release = about
    why = over(work, release.plan.attack.seconds) or attack.fits(subject)
    if why:
        return replace(audit, skipped={**audit.skipped, name: why})
    finding = attack.threat == "re-identification"
    limit = limit_to_find(promised, getattr(attack, "m", None)) if finding else None
    outcome = attack.run(subject, Chance(seed=release.plan.algorithm.seed), limit)
    return replace(audit, findings=(*audit.findings, replace(outcome, attack=name)))


def _by_size(release: ItemRelease, subject: ItemSubject, promised: tuple[Promise, ...], work: Work) -> Audit:
    """One item known, two, ..., and as many as the claims speak about, but no more than a released record has.

    An attacker who knows items as the release shows them needs nothing that it hides: these figures are public. Where
    items were left out or shown coarser, an attacker who knows the original ones is tried too, for the steward alone.
    """
    attack_plan, chance = release.plan.attack, Chance(seed=release.plan.algorithm.seed)
    sizes = {promise.known for promise in promised if promise.known is not None and promise.known <= MOST_PROMISED}
    known = sorted({*range(1, MOST_KNOWN + 1), *sizes})
    longest = max(int(np.diff(release.outcome.transactions.starts).max(initial=0)), 1)
    seen = _as_released(subject)
    subjects = [("", seen)] if seen is subject else [("", seen), (", original items", subject)]
    findings: list[Finding] = []
    skipped: dict[str, str] = {}
    for place, size in enumerate(known):
        work.advance("attack", place, len(known))
        if size > longest:
            continue
        if late := over(work, attack_plan.seconds):
            skipped[f"{SparseSets.name}, {size} known"] = late
            continue
        for whose, people in subjects:
            name = f"{SparseSets.name}, {size} known{whose}"
            attack, hidden = SparseSets(trials=attack_plan.trials, m=size), people is not seen
            runs = [(attack.run(looked, chance), column, looked) for column, looked in _looked_at(release, people)]
            plain = {figure: value for figure, value in runs[0][0].figures.items() if not figure.startswith(INFERRED)}
            here = [replace(runs[0][0], attack=name, limit=limit_to_find(promised, size), figures=plain)]
            here += [
                _disclosure(finding, f"{name}, {column}", column, looked) for finding, column, looked in runs if column
            ]
            here += _inferences(runs[0][0], f"{name}, sensitive items", promised, size)
            findings += [replace(finding, exact=hidden) for finding in here]
    return Audit(findings=tuple(findings), skipped=skipped)


def _as_released(subject: ItemSubject) -> ItemSubject:
    """The same with what the release shows of each person in place of their items; itself where that is all."""
    if subject.people.to_list() == subject.released.to_list():
        return subject
    return replace(subject, people=subject.released, covers={})


def _looked_at(release: ItemRelease, subject: ItemSubject) -> list[tuple[str, ItemSubject]]:
    """The subject with each sensitive column; as it is where there is none."""
    subjects = []
    for column in release.prepared.schema.sensitive:
        cells = release.prepared.table.frame[column].cast(pl.String).fill_null("")
        subjects.append((column, replace(subject, secret=(cells, cells))))
    return subjects or [("", subject)]


def _disclosure(finding: Finding, name: str, column: str, subject: ItemSubject) -> Finding:
    """What the records that fit tell about a sensitive value, against naming the most frequent one of all."""
    values = subject.secret[0] if subject.secret is not None else pl.Series([""])
    most = int(values.value_counts()["count"].max() or 0) / max(len(values), 1)  # type: ignore[arg-type]
    trials = finding.rate.trials
    return replace(
        finding,
        attack=name,
        threat="attribute disclosure",
        does=f"name their {column}",
        rate=Rate(hits=finding.figures["told_right"] * trials, trials=trials, failed=finding.rate.failed),
        naive=Rate(hits=most * trials, trials=trials, exact=True),
        worst=finding.figures["told_worst"],
        limit=None,
        note="",
    )


def _inferences(finding: Finding, name: str, promised: tuple[Promise, ...], size: int) -> list[Finding]:
    """How surely the records that fit show another sensitive item, where some are guarded and the release shows one."""
    if INFERRED not in finding.figures:
        return []
    guarded = [promise for promise in promised if promise.values and promise.column is None]
    limits = [
        Limit(value=promise.share, why=promise.why)
        for promise in guarded
        if promise.known is None or size <= promise.known
    ]
    trials = finding.rate.trials
    inference = replace(
        finding,
        attack=name,
        threat="attribute disclosure",
        does="name another sensitive item that a record which fits shows",
        rate=Rate(hits=finding.figures[INFERRED] * trials, trials=trials, failed=finding.rate.failed),
        naive=Rate(hits=finding.figures[f"{INFERRED}_naive"] * trials, trials=trials, exact=True),
        worst=finding.figures[f"{INFERRED}_worst"],
        limit=min(limits, key=lambda limit: limit.value, default=None),
        figures={},
        note="",
    )
    return [inference]


def item_subject(release: ItemRelease) -> ItemSubject:
    """The records before and after, in the same order."""
    recoding, original = release.outcome.shown, release.prepared.problem.transactions
    covers = {
        label: tuple(recoding.labels[way] for way in recoding.ways(item)) or None
        for item, label in enumerate(original.labels)
    }
    promised = promises(((claim.model, claim.parameters) for claim in release.claims), catalog().readers)
    sensitive = tuple(dict.fromkeys(item for promise in promised if promise.column is None for item in promise.values))
    return ItemSubject(
        released=_lists(release.outcome.transactions), people=_lists(original), covers=covers, sensitive=sensitive
    )


def _lists(records: Transactions) -> pl.Series:
    items = pl.Series("items", list(records.labels), dtype=pl.String).gather(records.codes)
    return as_lists(records.starts, items)
