"""What an attacker brings along: tables, a register, and earlier bundles about the same people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sfumato.attacks.composition import Composition
from sfumato.attacks.finding import Finding, Limit
from sfumato.attacks.subject import PERSON, Subject, one_each
from sfumato.bundles.manifest.document import stated_form
from sfumato.bundles.verify import untouched
from sfumato.core.errors import BundleError, DataError, SfumatoError, listed
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.pipeline.dates import planned_dates, refuse_moved, stated_dates
from sfumato.pipeline.inputs import load_table, read_file
from sfumato.pipeline.methods import method_stated
from sfumato.pipeline.methods.method import Audit, over
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.frames import from_frame
from sfumato.tables.table import Table

if TYPE_CHECKING:
    from sfumato.attacks.fellegi_sunter import FellegiSunter

# What an adversary brings along: the original, people who are not in it, or a register of the same people.


def known_table(data: object, plan: Plan | None, manifest: Mapping[str, Any]) -> Table:
    """What an adversary knows, with dates written as the bundle writes them."""
    if plan is not None and isinstance(data, str | Path):
        return load_table(plan, None, str(Path(data).resolve()))
    if plan is not None:
        return planned_dates(from_frame(data, missing=plan.input.missing), plan)
    refuse_moved(manifest)
    return stated_dates(read_file(data) if isinstance(data, str | Path) else from_frame(data), manifest)


def registered(
    linkage: FellegiSunter, subject: Subject, register: Table, chance: Chance, limit: Limit | None
) -> Finding:
    """Link a register to the release; its lines are about the people of the original, in the same order."""
    if subject.drawn:
        raise BundleError(
            "--known: the rows are drawn and nobody's own, so no line of a register has a row to be linked to"
        )
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
    chosen = np.sort(chance.generator().permutation(register.rows)[: linkage.trials])
    return linkage.against(subject, lines[chosen], subject.people[chosen], chance, limit)


# Earlier bundles about the same people, laid over a release: what they tell together.


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
            finding = attack.run(people, other, chance)
            note = f"{finding.note}; {_nothing(left_out)}" if left_out else finding.note
            findings.append(replace(finding, attack=named, note=note))
    return Audit(findings=tuple(findings), skipped=skipped)


def _other(folder: Path, original: Table, plan: Plan | None) -> tuple[Subject, list[str]]:
    """The earlier bundle as far as the original has its columns, and the quasi-identifiers that it has not."""
    manifest = untouched(folder)
    columns: list[Mapping[str, Any]] = manifest["data"]["columns"]
    known = {str(column["name"]) for column in columns if str(column["name"]) in original.names}
    lost = [
        column
        for column in columns
        if column["role"] in ("quasi", "sensitive", "target") and column["name"] not in known
    ]
    data = {**manifest["data"], "columns": [column for column in columns if column not in lost]}
    cut = {**manifest, "data": data}
    subject = method_stated(manifest).subject(folder, cut, original, control=None, plan=plan)
    return subject, [str(column["name"]) for column in lost if column["role"] == "quasi"]


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
