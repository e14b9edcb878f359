"""The audit of paths and sets: who knows a few items of somebody looks for her record."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.attacks.identity.sparse_sets import ItemSubject, SparseSets
from sfumato.data.itemized import as_lists
from sfumato.ground.chance import Chance
from sfumato.ground.errors import PlanError
from sfumato.group.transactions import Transactions
from sfumato.models.verdict import titled
from sfumato.workflow.audit import Audit, refuse
from sfumato.workflow.plan import Plan

if TYPE_CHECKING:
    from sfumato.workflow.item_release import ItemRelease

MOST_KNOWN = 4
"""Adversaries with one item to this many are tried, and with as many as the claims allow."""


def item_audit(made: ItemRelease) -> Audit:
    """Look for people by one item, two, ...; knowledge that the claims speak about is held against them."""
    asked = made.plan.attack
    if not asked.run:
        return Audit()
    subject = item_subject(made)
    chance = Chance(seed=made.plan.algorithm.seed)
    known = sorted({*range(1, MOST_KNOWN + 1), *(size for size, _, _ in _promises(made))})
    longest = max(int(np.diff(made.prepared.problem.transactions.starts).max(initial=0)), 1)
    findings: list[Finding] = []
    for size in known:
        if size > longest:
            continue
        attack, name = SparseSets(trials=asked.trials, m=size), f"{SparseSets.name}, {size} known"
        runs = [(attack.run(looked, chance), column, looked) for column, looked in _looked_at(made, subject)]
        findings.append(replace(runs[0][0], attack=name, limit=_limit(made, size)))
        findings += [_told(one, f"{name}, {column}", column, looked) for one, column, looked in runs if column]
    found = Audit(findings=tuple(findings))
    refuse(found, asked.max_risk)
    return found


def _looked_at(made: ItemRelease, subject: ItemSubject) -> list[tuple[str, ItemSubject]]:
    """The subject with each sensitive column; as it is where there is none."""
    found = []
    for column in made.prepared.schema.sensitive:
        cells = made.prepared.table.frame[column].cast(pl.String).fill_null("")
        found.append((column, replace(subject, secret=(cells, cells))))
    return found or [("", subject)]


def _told(found: Finding, name: str, column: str, subject: ItemSubject) -> Finding:
    """What the records that fit tell about a sensitive value, against naming the most frequent one of all."""
    values = subject.secret[0] if subject.secret is not None else pl.Series([""])
    most = int(values.value_counts()["count"].max() or 0) / max(len(values), 1)  # type: ignore[arg-type]
    trials = found.rate.trials
    return replace(
        found,
        attack=name,
        threat="attribute disclosure",
        does=f"name her {column}",
        rate=Rate(hits=found.figures["told_right"] * trials, trials=trials, failed=found.rate.failed),
        naive=Rate(hits=most * trials, trials=trials, exact=True),
        worst=found.figures["told_worst"],
        limit=None,
        note="",
    )


def refuse_attacks(plan: Plan) -> None:
    """Refuse what [attack] says and paths and sets do not know."""
    strange = [name for name in plan.attack.attacks if name not in ("all", SparseSets.name)]
    if strange:
        raise PlanError(f"attack.attacks: {strange[0]!r} is not made on paths and sets; there is {SparseSets.name!r}")
    if plan.attack.control is not None:
        raise PlanError("attack.control: the attack on paths and sets has no control run; remove the key")


def item_subject(made: ItemRelease) -> ItemSubject:
    """The records before and after, in the same order."""
    shown, original = made.outcome.shown, made.prepared.problem.transactions
    covers = {
        label: shown.labels[code] if code >= 0 else None
        for label, code in zip(original.labels, shown.to.tolist(), strict=True)
    }
    return ItemSubject(released=_lists(made.outcome.transactions), people=_lists(original), covers=covers)


def _lists(records: Transactions) -> pl.Series:
    items = pl.Series("items", list(records.labels), dtype=pl.String).gather(records.codes)
    return as_lists(records.starts, items)


def _promises(made: ItemRelease) -> list[tuple[int, int, str]]:
    """How much knowledge a claim speaks about, how many records it promises, and what it is called."""
    found = []
    for one in made.claims:
        size = one.parameters.get("m") or one.parameters.get("l")
        if size and "k" in one.parameters:
            found.append((int(size), int(one.parameters["k"]), titled(one.model, one.parameters)))
    return [(size, k, name) for size, k, name in found if size <= 20]


def _limit(made: ItemRelease, size: int) -> Limit | None:
    """The tightest promise to whoever is found by so many items."""
    promised = [Limit(value=1 / k, why=f"claim {name}") for most, k, name in _promises(made) if size <= most]
    return min(promised, key=lambda one: one.value, default=None)
