"""The audit: every attack that fits a release, run before anyone else runs it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sfumato.attacks.frame.subject import Subject
from sfumato.attacks.frame.trials import Finding, Outcome
from sfumato.attacks.identity.fellegi_sunter import FellegiSunter
from sfumato.bundle.manifest import plain
from sfumato.data.files import read
from sfumato.data.table import Table
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ClaimRefuted, DataError, listed
from sfumato.ground.work import Work
from sfumato.workflow.attack_catalog import ATTACKS, BY_DISTANCE, QUICK, Attack, refuse_unknown
from sfumato.workflow.attack_plan import TRIALS, AttackPlan
from sfumato.workflow.limits import limit_of
from sfumato.workflow.making import load_table
from sfumato.workflow.plan import Plan
from sfumato.workflow.subjects import bundle_subject, release_subject

if TYPE_CHECKING:
    from sfumato.workflow.release import Release


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What all attacks found, and which could not be made."""

    findings: tuple[Finding, ...] = ()
    """One for each attack that was made."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """The others, with the reason."""

    @property
    def refuted(self) -> tuple[Finding, ...]:
        """Findings that refute a claim of the release or of the plan."""
        return tuple(one for one in self.findings if one.limit is not None and one.outcome is Outcome.REFUTED)

    def above(self, max_risk: float) -> tuple[Finding, ...]:
        """Findings whose excess over guessing is surely above a limit."""
        return tuple(one for one in self.findings if one.risk_interval[0] > max_risk)

    def to_json(self) -> list[dict[str, Any]]:
        """As the manifest has it."""
        found: list[dict[str, Any]] = plain([one.to_json() for one in self.findings])
        return found


def audited(subject: Subject, asked: AttackPlan, work: Work, chance: Chance) -> Audit:
    """Run the attacks that are asked for, or all that fit."""
    findings, skipped = [], {}
    chosen = named(asked.attacks, trials=asked.trials)
    for place, (name, attack) in enumerate(chosen.items()):
        work.advance("attack", place, len(chosen))
        for title, one, column in _by_column(name, attack, subject):
            why = one.fits(subject) or _unread(name, subject)
            if why:
                skipped[title] = why
                continue
            found = one.run(subject, chance, limit_of(one, subject.claims, column=column))
            findings.append(replace(found, attack=title))
    work.advance("attack", 1, 1)
    return Audit(findings=tuple(findings), skipped=skipped)


def _unread(name: str, subject: Subject) -> str:
    """Why an attack that reads classes cannot be made where means are shown."""
    if not subject.means or name in BY_DISTANCE:
        return ""
    return f"{listed(sorted(subject.means), most=3)} shows means of groups, which say nothing about whom they cover"


def _by_column(name: str, attack: Attack, subject: Subject) -> list[tuple[str, Attack, str | None]]:
    """The attack for each sensitive column, where it asks for one and there are several."""
    field = next((one.name for one in fields(attack) if one.name in ("column", "secret")), None)  # type: ignore[arg-type]
    first = subject.sensitive[0] if subject.sensitive else None
    if field is None or len(subject.sensitive) < 2:
        return [(name, attack, first)]
    chosen = [(column, replace(attack, **{field: column})) for column in subject.sensitive]  # type: ignore[type-var]
    return [(f"{name} of {column}", one, column) for column, one in chosen]


def named(names: Iterable[str], *, trials: int = TRIALS) -> dict[str, Attack]:
    """The attacks of these names; the quick ones where none is named, and every one for ``all``."""
    wanted = tuple(names) or QUICK
    refuse_unknown(wanted)
    wanted = tuple(ATTACKS) if "all" in wanted else wanted
    return {name: ATTACKS[name](trials) for name in wanted}


def release_audit(made: Release, work: Work | None = None) -> Audit:
    """Attack a release that was just made; one that gives away more than the plan allows is refused."""
    asked = made.plan.attack
    if not asked.run:
        return Audit()
    control = None if asked.control is None else load_table(made.plan, None, asked.control)
    subject = release_subject(made, control=control)
    found = audited(subject, asked, work or Work(), Chance(seed=made.plan.algorithm.seed))
    refuse(found, asked.max_risk)
    return found


def refuse(found: Audit, max_risk: float | None) -> None:
    """Refuse what gives away too much, or breaks a claim."""
    if found.refuted:
        worst = found.refuted[0]
        raise ClaimRefuted(
            f"attack {worst.attack} refutes the {worst.limit.why if worst.limit else ''}: it works in "
            f"{worst.rate.value:.1%} of {worst.rate.trials} trials (at least {worst.rate.low:.1%}); nothing was written"
        )
    if max_risk is not None and (broken := found.above(max_risk)):
        worst = max(broken, key=lambda one: one.risk)
        low, high = worst.risk_interval
        raise ClaimRefuted(
            f"attack.max_risk = {max_risk:g}: attack {worst.attack} gains {worst.risk:.1%} over guessing ({low:.1%} to "
            f"{high:.1%}); ask for a stronger model, fewer quasi-identifiers, or allow more. Nothing was written"
        )


def audit(
    folder: str | Path,
    original: object,
    *,
    known: object = None,
    control: object = None,
    plan: Plan | None = None,
    attacks: Iterable[str] = (),
    trials: int = TRIALS,
    seed: int | None = None,
    work: Work | None = None,
) -> Audit:
    """Attack a bundle, given the table it was made from; ``original`` and ``control`` are files or frames."""
    theirs = None if control is None else _table(control, plan)
    subject = bundle_subject(Path(folder), _table(original, plan), control=theirs, plan=plan)
    asked = AttackPlan(attacks=tuple(attacks), trials=trials)
    found = audited(subject, asked, work or Work(), Chance(seed=seed))
    if known is None:
        return found
    linked = _registered(subject, _table(known, plan), trials, Chance(seed=seed))
    return replace(found, findings=(linked, *found.findings))


def _registered(subject: Subject, register: Table, trials: int, chance: Chance) -> Finding:
    """Link a register to the release; its lines are about the people of the original, in the same order."""
    if register.rows != subject.people.height:
        raise DataError(
            f"{register.source} has {register.rows:,} lines, but the original has {subject.people.height:,} rows; a "
            "register has a line for each of them, in the same order, with empty cells where it knows nothing"
        )
    shared = [name for name in subject.quasi if name in register.names]
    if not shared:
        raise DataError(f"{register.source} has none of the quasi-identifiers {listed(subject.quasi)}")
    lines = register.frame.select(
        [
            register.frame[name].cast(pl.String)
            if name in shared
            else pl.Series(name, [None] * register.rows, pl.String)
            for name in subject.quasi
        ]
    )
    chosen = np.sort(chance.generator().permutation(register.rows)[:trials])
    attack = FellegiSunter(trials=trials)
    limit = limit_of(attack, subject.claims)
    return attack.against(subject, lines[chosen], subject.people[chosen], chance, limit)


def _table(data: object, plan: Plan | None) -> Table:
    if isinstance(data, str | Path):
        if plan is None:
            return read(Path(data))
        return load_table(plan, None, str(Path(data).resolve()))
    from sfumato.data.frames import from_frame

    return from_frame(data, missing=() if plan is None else plan.input.missing)
