"""What an adversary brings along: the original, people who are not in it, or a register of the same people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.attacks.frame.subject import Subject
from sfumato.attacks.frame.trials import Finding, Limit
from sfumato.attacks.identity.fellegi_sunter import FellegiSunter
from sfumato.data.frames import from_frame
from sfumato.data.table import Table
from sfumato.ground.chance import Chance
from sfumato.ground.errors import BundleError, DataError, listed
from sfumato.workflow.dating import planned_dates, refuse_moved, stated_dates
from sfumato.workflow.loading import load_table, read_file
from sfumato.workflow.plan.plan import Plan


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
