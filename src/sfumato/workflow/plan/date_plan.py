"""What a plan says about the dates of a column: how they are written, and by how much they move."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from sfumato.bundle.date_shift import MOST_DAYS
from sfumato.data.date_forms import ORDERS, PIVOT, DateForm
from sfumato.describe.roles import Role
from sfumato.ground.errors import ParameterError, PlanError, listed
from sfumato.workflow.plan.plan_table import Keys

if TYPE_CHECKING:
    from sfumato.workflow.plan.column_plan import ColumnPlan

_SHIFTED = (Role.KEEP, Role.SENSITIVE, Role.TARGET)
"""The roles of columns whose days are published."""
_WEEK = 7


def date_keys(keys: Keys) -> dict[str, Any]:
    """What a column's table says about its dates."""
    found: dict[str, Any] = {}
    if "format" in keys.table:
        found["format"] = keys.one_of("format", ORDERS, ORDERS[0])
    if "pivot" in keys.table:
        found["pivot"] = keys.whole("pivot")
    if "shift" in keys.table:
        inner = Keys.of(keys.table["shift"], keys.at("shift"))
        inner.only("key_file", "days", "by", "period", "weeks")
        inner.required_text("key_file")
        found["shift"] = inner.table
    return found


def check_date(column: ColumnPlan, name: str) -> None:
    """Refuse keys about dates that contradict each other, or a column that has none."""
    at = f"columns.{name}"
    for key in ("format", "pivot", "shift"):
        if getattr(column, key) is not None and column.type != "date":
            raise PlanError(f'{at}.{key} is about dates; add type = "date", or leave it out')
    if column.pivot is not None and column.format is None:
        raise PlanError(f'{at}.pivot goes with format, such as format = "dmy": only then may years have two digits')
    try:
        form_of(column)
    except ParameterError as error:
        raise PlanError(f"{at}: {error}") from error
    if column.shift is not None:
        _check_shift(column, f"{at}.shift")


def _check_shift(column: ColumnPlan, at: str) -> None:
    said: Mapping[str, Any] = column.shift or {}
    if column.role not in _SHIFTED:
        raise PlanError(
            f"{at}: a column with role = '{column.role}' does not publish days; shift is for the roles "
            f"{listed(list(map(str, _SHIFTED)))}. A quasi-identifier is generalized instead"
        )
    if not isinstance(said.get("key_file"), str):
        raise PlanError(
            f'{at}.key_file is missing; anybody could move the dates back. Use {{ key_file = "secret.key" }}'
        )
    days = said.get("days")
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= MOST_DAYS:
        raise PlanError(f"{at}.days must be a whole number from 1 to {MOST_DAYS:,} such as 365, not {days!r}")
    if "by" in said and not isinstance(said["by"], str):
        raise PlanError(f"{at}.by must be the name of a column, not {said['by']!r}")
    if not isinstance(said.get("weeks", False), bool):
        raise PlanError(f"{at}.weeks must be true or false, not {said['weeks']!r}")
    if said.get("weeks") and days < _WEEK:
        raise PlanError(f"{at}.days must be at least {_WEEK} where dates move by whole weeks, not {days}")
    ends = period_of(said, at)
    if ends is not None and (ends[1] - ends[0]).days < 2 * days:
        raise PlanError(
            f"{at}.period: from {ends[0]} to {ends[1]} are {(ends[1] - ends[0]).days:,} days; no date would be left of "
            f"a period that is not longer than 2 * days = {2 * days:,}. Declare the whole period, or fewer days"
        )


def period_of(settings: Mapping[str, Any], at: str) -> tuple[date, date] | None:
    """The first and last day of the records, where a shift declares them."""
    ends = settings.get("period")
    if ends is None:
        return None
    try:
        first, last = (date.fromisoformat(str(end)) for end in ends)
    except (TypeError, ValueError):
        raise PlanError(
            f'{at}.period must be the first and last day of the records, such as ["2015-01-01", "2019-12-31"], not '
            f"{ends!r}"
        ) from None
    if first >= last:
        raise PlanError(f"{at}.period must begin before it ends, not from {first} to {last}")
    return first, last


def check_shifts(columns: Mapping[str, ColumnPlan], unit: str | None) -> None:
    """Refuse shifts that differ, for then intervals between columns would be lost, and shifts of nobody's dates."""
    shifts = {name: column.shift for name, column in columns.items() if column.shift is not None}
    for name, said in shifts.items():
        if "by" not in said and unit is None:
            raise PlanError(
                f"columns.{name}.shift.by is missing; name the column that tells people apart, or set input.unit"
            )
        first = next(iter(shifts))
        if dict(said) != dict(shifts[first]):
            raise PlanError(
                f"columns.{name}.shift differs from columns.{first}.shift; all dates of a person move by the same "
                "number of days, so write the same shift for both"
            )


def form_of(column: ColumnPlan) -> DateForm | None:
    """How the dates of a column are written, where the plan says so."""
    if column.format is None:
        return None
    return DateForm(order=column.format, pivot=PIVOT if column.pivot is None else column.pivot)


def stated_forms(columns: Mapping[str, Mapping[str, Any]]) -> dict[str, DateForm | None]:
    """How the dates of the columns of type date are written, by a manifest's plan."""
    dates = {name: said for name, said in columns.items() if said.get("type") == "date"}
    return {
        name: DateForm(order=said["format"], pivot=said.get("pivot", PIVOT)) if "format" in said else None
        for name, said in dates.items()
    }


def public_dates(column: ColumnPlan) -> dict[str, Any]:
    """As the manifest shows it: the key and its file stay with the steward."""
    shown: dict[str, Any] = {} if column.format is None else {"format": column.format}
    shown |= {} if column.pivot is None else {"pivot": column.pivot}
    if column.shift is None:
        return shown
    ends = period_of(column.shift, "shift")
    more = {} if ends is None else {"period": [end.isoformat() for end in ends]}
    return shown | {
        "shift": {"days": column.shift["days"], **more, **({"weeks": True} if column.shift.get("weeks") else {})}
    }


def refuse_dates(columns: Mapping[str, ColumnPlan], what: str) -> None:
    """Refuse forms and shifts of dates where no row is read into memory."""
    for name, column in columns.items():
        for key in ("format", "shift"):
            if getattr(column, key) is not None:
                raise PlanError(
                    f"columns.{name}.{key}: {what} must hold dates written YYYY-MM-DD; write them so, or give a file "
                    "that fits in memory"
                )
