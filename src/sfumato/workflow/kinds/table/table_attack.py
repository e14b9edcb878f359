"""Attacks on a release of a table before it is written: on all of its rows, or on groups of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from sfumato.attacks.frame.subject import Subject
from sfumato.data.table import Table
from sfumato.ground.chance import Chance
from sfumato.ground.errors import PlanError
from sfumato.ground.work import Work
from sfumato.workflow.attacking import attacked, chosen_attacks
from sfumato.workflow.audit import Audit
from sfumato.workflow.kinds.table.sampled_groups import ROWS, sampled_groups
from sfumato.workflow.kinds.table.table_subject import kept, release_subject
from sfumato.workflow.loading import load_table
from sfumato.workflow.plan.attack_plan import AttackPlan

if TYPE_CHECKING:
    from sfumato.workflow.kinds.table.table_release import TableRelease


def attack_release(made: TableRelease, work: Work) -> Audit:
    """Attack a release that was just made; one that gives away more than the plan allows is refused."""
    asked = made.plan.attack
    if not asked.run:
        return Audit()
    control = None if asked.control is None else load_table(made.plan, None, asked.control)
    chance = Chance(seed=made.plan.algorithm.seed)
    if made.parts is not None:
        found = _attacked_groups(made, control, work, chance)
    else:
        subject = release_subject(made, control=control)
        found = attacked(subject, asked, work, chance, _earlier(made, subject, chance) if asked.earlier else None)
    found.refuse(asked.max_risk, asked.accept)
    return found


def _attacked_groups(made: TableRelease, control: Table | None, work: Work, chance: Chance) -> Audit:
    """Attack random groups of a release whose rows stay in files; every finding says so."""
    asked = made.plan.attack
    if asked.earlier:
        raise PlanError(
            'attack.earlier: earlier bundles are laid over all rows, and output.format = "parts" never has all; use '
            '"parquet"'
        )
    drawn = sampled_groups(made, chance)
    if drawn is None:
        return none_drawn(asked)
    return told_of(attacked(release_subject(made, control=control, drawn=drawn), asked, work, chance), drawn.told)


def none_drawn(asked: AttackPlan) -> Audit:
    """An audit that made no attack, because every group is too large."""
    names = chosen_attacks(asked.attacks)
    return Audit(skipped=dict.fromkeys(names, f"every group has more than {ROWS:,} rows, and no more are attacked"))


def told_of(found: Audit, sample: str) -> Audit:
    """The findings, each of which says what it is about."""
    told = [replace(one, note=f"{one.note}; {sample}" if one.note else sample) for one in found.findings]
    return replace(found, findings=tuple(told))


def _earlier(made: TableRelease, subject: Subject, chance: Chance) -> Callable[[Work], Audit]:
    """Lay the plan's earlier bundles over a release."""
    from sfumato.workflow.composing import composed

    asked, plan, source = made.plan.attack, made.plan, made.prepared.source
    folders = [plan.folder / name for name in asked.earlier]
    people = Table(frame=source.texts(source.names, kept(made)), source=source.source, missing=made.published.missing)
    return lambda work: composed(
        subject, folders, people, plan, trials=asked.trials, seconds=asked.seconds, work=work, chance=chance
    )
