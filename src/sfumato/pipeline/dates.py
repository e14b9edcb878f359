"""The dates of a table as a plan, or a manifest, says: read as days, and moved where the plan asks for that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import polars as pl

from sfumato.attacks.subject import WEEK, Shifts, measured
from sfumato.bundles.pseudonyms import DateShift, read_key
from sfumato.core.errors import PlanError, listed
from sfumato.pipeline.plan.columns import form_of, period_of, stated_forms
from sfumato.pipeline.plan.plan import Plan
from sfumato.reports.language import count, translated
from sfumato.tables.schema import Role
from sfumato.tables.table import Table
from sfumato.tables.times import DateForm, read_days


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
    here = {name: shift for name, shift in shifts.items() if name in table.names}
    if not here:
        return table
    name = next(iter(here))
    shift = planned_shift(plan, name)
    table.require(shift.by, where=f"columns.{name}.shift.by")
    return replace(table, frame=table.frame.with_columns([shift.moved(table, name) for name in here]))


def planned_shift(plan: Plan, name: str) -> DateShift:
    """The shift of a column, with the key that the plan names."""
    settings = plan.columns[name].shift
    if settings is None:
        raise PlanError(f"columns.{name}.shift is missing")
    key = read_key(plan.folder / settings.key_file, where=f"columns.{name}.shift.key_file")
    return DateShift(
        key=key,
        days=settings.days,
        by=settings.by or str(plan.input.unit),
        period=period_of(settings, f"columns.{name}.shift"),
        weeks=settings.weeks,
    )


def shifts_of(plan: Plan, texts: Callable[[tuple[str, ...]], pl.DataFrame], missing: Sequence[str]) -> Shifts | None:
    """Moved dates beside what an attacker may know of the true ones; None where no column has a shift.

    The period is the declared one, or that of the true dates, which the key gives back; weekdays on which no true date
    falls are known as well. So this is the steward's to know.
    """
    names = tuple(name for name, column in plan.columns.items() if column.shift is not None)
    if not names:
        return None
    shift = planned_shift(plan, names[0])
    rows = texts(tuple(dict.fromkeys((shift.by, *names))))
    long = pl.concat(
        [rows.select(who=pl.col(shift.by).cast(pl.String), day=pl.col(name).cast(pl.String)) for name in names]
    )
    long = long.filter(pl.col("who").is_not_null(), pl.col("day").is_not_null(), ~pl.col("day").is_in([*missing, ""]))
    people = long["who"].unique().sort().to_list()
    if not people:
        return None
    number = {who: place for place, who in enumerate(people)}
    person = np.array([number[who] for who in long["who"]], np.int64)
    day = np.array([date.fromisoformat(text[:10]).toordinal() for text in long["day"]], np.int64)
    true = day - np.array([shift.offset(who) for who in people], np.int64)[person]
    first, last = (int(true.min()), int(true.max()))
    if shift.period is not None:
        first, last = (end.toordinal() for end in shift.period)
    weekdays = np.isin(np.arange(WEEK), (true - 1) % WEEK)
    return Shifts(
        people=len(people), person=person, day=day, days=shift.days, weeks=shift.weeks, first=first, last=last,
        weekdays=weekdays,
    )  # fmt: skip


def shift_warnings(shifts: Shifts | None) -> list[str]:
    """What the steward must know before moved dates are published, where fewer shifts remain than there are."""
    if shifts is None:
        return []
    figures = measured(shifts)
    if figures["fewest_shifts"] >= figures["shifts"]:
        return []
    return [
        "moved dates: an attacker who knows the period of the records and the weekdays of visits is left with "
        f"{figures['median_shifts']:,.0f} of {figures['shifts']:,.0f} possible shifts for the median person, and with "
        f"{figures['fewest_shifts']:,.0f} for the worst; one shift is left for {figures['surely_moved_back']:.1%} of "
        "people. Declare shift.period and weeks = true, so that neither rules out a shift"
    ]


def moved_by(planned: Mapping[str, Any]) -> str | None:
    """What a report says about a column whose dates were moved; None for every other column."""
    if "shift" not in planned:
        return None
    moved = translated("moved by up to {days} days, all dates of a person alike", days=count(planned["shift"]["days"]))
    if "period" not in planned["shift"]:
        return moved
    return f"{moved}; {translated('days near the ends of the period are left out')}"


def moved_marks(manifest: Mapping[str, Any]) -> list[str]:
    """What a reader must know about dates that were moved."""
    moved = _moved(manifest)
    if not moved:
        return []
    return [
        translated(
            "Pseudonymized, not anonymized: the dates in {columns} were moved by a keyed number of days for each "
            "person. Intervals are true, the dates are not. Whoever knows one true date of a person, or has the key, "
            "knows all of that person's dates.",
            columns=", ".join(moved),
        )
    ]


def _columns(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the plan of a manifest says about columns; some kinds of release have none."""
    columns: Mapping[str, Any] = manifest.get("plan", {}).get("columns", {})
    return columns


def _moved(manifest: Mapping[str, Any]) -> list[str]:
    return [name for name, column in _columns(manifest).items() if "shift" in column]
