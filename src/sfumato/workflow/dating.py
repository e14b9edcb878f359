"""The dates of a table as a plan, or a manifest, says: read as days, and moved where the plan asks for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sfumato.bundle.date_shift import DateShift
from sfumato.bundle.pseudonyms import read_key
from sfumato.data.date_forms import DateForm, read_days
from sfumato.data.table import Table
from sfumato.describe.roles import Role
from sfumato.ground.errors import PlanError, listed
from sfumato.report.base.figures import count
from sfumato.report.base.language import said
from sfumato.workflow.plan.date_plan import form_of, stated_forms
from sfumato.workflow.plan.plan import Plan


def planned_dates(table: Table, plan: Plan) -> Table:
    """The table with its columns of dates as days, those with a shift moved."""
    dates = {
        name: form_of(column)
        for name, column in plan.columns.items()
        if column.type == "date" and column.role not in (Role.DROP, Role.IDENTIFIER)
    }
    return _shifted(_read(table, dates), plan)


def stated_dates(table: Table, manifest: Mapping[str, Any]) -> Table:
    """New or original records with dates as days, as the manifest of a bundle says that they are written.

    A column whose dates were moved is left out: only the steward's key says by how much.
    """
    moved = [name for name in _moved(manifest) if name in table.names]
    kept = replace(table, frame=table.frame.drop(moved)) if moved else table
    return _read(kept, stated_forms(_columns(manifest)))


def refuse_moved(manifest: Mapping[str, Any]) -> None:
    """Refuse to compare a bundle whose dates were moved with a table whose dates were not."""
    moved = _moved(manifest)
    if moved:
        raise PlanError(
            f"the dates of {listed(moved)} were moved by a keyed number of days, and the bundle does not have the key; "
            "give the plan, which names the key file, so that the table is moved too"
        )


def _read(table: Table, forms: Mapping[str, DateForm | None]) -> Table:
    read = [read_days(table, name, form) for name, form in forms.items() if name in table.names]
    return replace(table, frame=table.frame.with_columns(read)) if read else table


def _shifted(table: Table, plan: Plan) -> Table:
    shifts = {name: column.shift for name, column in plan.columns.items() if column.shift is not None}
    here = {name: said for name, said in shifts.items() if name in table.names}
    if not here:
        return table
    name, said = next(iter(here.items()))
    by = str(said.get("by") or plan.input.unit)
    table.require(by, where=f"columns.{name}.shift.by")
    key = read_key(plan.folder / said["key_file"], where=f"columns.{name}.shift.key_file")
    shift = DateShift(key=key, days=said["days"], by=by)
    return replace(table, frame=table.frame.with_columns([shift.moved(table, name) for name in here]))


def moved_by(planned: Mapping[str, Any]) -> str | None:
    """What a report says about a column whose dates were moved; None for every other column."""
    if "shift" not in planned:
        return None
    return said("moved by up to {days} days, all dates of a person alike", days=count(planned["shift"]["days"]))


def moved_marks(manifest: Mapping[str, Any]) -> list[str]:
    """What a reader must know about dates that were moved."""
    moved = _moved(manifest)
    if not moved:
        return []
    return [
        said(
            "Pseudonymized, not anonymized: the dates in {columns} were moved by a keyed number of days for each "
            "person. Intervals are true, the dates are not. Whoever knows one true date of a person, or has the key, "
            "knows all of that person's dates.",
            columns=", ".join(moved),
        )
    ]


def _columns(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the plan of a manifest says about columns; some kinds of release have none."""
    found: Mapping[str, Any] = manifest.get("plan", {}).get("columns", {})
    return found


def _moved(manifest: Mapping[str, Any]) -> list[str]:
    return [name for name, said in _columns(manifest).items() if "shift" in said]
