"""Earlier bundles about the same people, laid over a release: what they tell together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.attacks.frame.subject import PERSON, Subject
from sfumato.attacks.frame.trials import Finding
from sfumato.attacks.method.composition import Composition
from sfumato.bundle.stated_form import stated_form
from sfumato.data.table import Table
from sfumato.ground.chance import Chance
from sfumato.ground.errors import SfumatoError, listed
from sfumato.ground.work import Work
from sfumato.verification.verifying import untouched
from sfumato.workflow.audit import Audit, over
from sfumato.workflow.kinds import kind_stated
from sfumato.workflow.kinds.table.one_each import one_each
from sfumato.workflow.plan.plan import Plan


def composed(
    subject: Subject,
    earlier: Sequence[Path],
    original: Table,
    plan: Plan | None,
    *,
    trials: int,
    seconds: float,
    work: Work,
    chance: Chance,
) -> Audit:
    """Lay each earlier bundle over the release; ``original`` has the people of the release, row by row.

    People are looked up in each bundle by those of its quasi-identifiers that the original has. No claim promises
    anything about two releases, so nothing is refuted; the excess over the better one of them is told.
    """
    findings: list[Finding] = []
    skipped: dict[str, str] = {}
    for number, folder in enumerate(earlier, start=1):
        title = f"{Composition.name} with bundle {number}"
        if late := over(work, seconds):
            skipped[title] = late
            continue
        try:
            with stated_form(folder):
                other, left_out = _other(folder, original, plan)
        except SfumatoError as error:
            skipped[title] = str(error)
            continue
        people = _people(subject, other, original, chance)
        shared: list[str | None] = [column for column in subject.sensitive if column in other.sensitive]
        for column in shared or [None]:
            attack = Composition(column=column, trials=trials)
            named = title if len(shared) < 2 else f"{title} of {column}"
            if why := attack.fits(people, other) or ("" if other.quasi else _nothing(left_out)):
                skipped[named] = why
                continue
            found = attack.run(people, other, chance)
            note = f"{found.note}; {_nothing(left_out)}" if left_out else found.note
            findings.append(replace(found, attack=named, note=note))
    return Audit(findings=tuple(findings), skipped=skipped)


def _other(folder: Path, original: Table, plan: Plan | None) -> tuple[Subject, list[str]]:
    """The earlier bundle as far as the original has its columns, and the quasi-identifiers that it has not."""
    manifest = untouched(folder)
    columns: list[Mapping[str, Any]] = manifest["data"]["columns"]
    known = {str(one["name"]) for one in columns if str(one["name"]) in original.names}
    lost = [one for one in columns if one["role"] in ("quasi", "sensitive", "target") and one["name"] not in known]
    data = {**manifest["data"], "columns": [one for one in columns if one not in lost]}
    cut = {**manifest, "data": data}
    found = kind_stated(manifest).subject(folder, cut, original, control=None, plan=plan)
    return found, [str(one["name"]) for one in lost if one["role"] == "quasi"]


def _people(subject: Subject, other: Subject, original: Table, chance: Chance) -> Subject:
    """The release with everything that the original tells about its people; control people lack what they lack."""
    people = _known(subject, [name for name in other.quasi if name not in subject.people.columns], original, chance)
    control = subject.control
    lacking = control is not None and not set(other.quasi) <= set(control.columns)
    return subject if people is None else replace(subject, people=people, control=None if lacking else control)


def _known(subject: Subject, more: Sequence[str], original: Table, chance: Chance) -> pl.DataFrame | None:
    """The people of a release with more columns; who has several rows is known by one of them, in all columns."""
    known = [name for name in subject.people.columns if name != PERSON]
    if subject.unit is not None and {*known, subject.unit} <= set(original.names):
        names = dict.fromkeys((*known, *more, subject.unit))
        texts = pl.DataFrame([original.column(name).texts for name in names])
        return one_each(texts, subject.unit, chance, original.missing)
    if original.rows != subject.people.height:
        return None
    added = [original.column(name).texts for name in more]
    return pl.concat([subject.people, pl.DataFrame(added)], how="horizontal") if added else subject.people


def _nothing(names: Sequence[str]) -> str:
    return f"the original lacks {listed(names, most=5)} of the earlier bundle, so people are not looked up by it"
