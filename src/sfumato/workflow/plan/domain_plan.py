"""Where a column's domain comes from, and what becomes of values outside it: keys of private releases and questions.

A domain that was read off the rows tells of the people in them. So a plan says who knows it: its author (``declared``),
a person who looked at a draft (``public``), the draft itself (``profile``), or a noisy search (``discover``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.describe.roles import Role
from sfumato.describe.taxonomy import TOP
from sfumato.ground.errors import PlanError, listed
from sfumato.workflow.plan.plan_table import Keys

if TYPE_CHECKING:
    from sfumato.workflow.plan.column_plan import ColumnPlan

FROM = ("declared", "public", "profile", "discover")
"""Who says what a column can hold."""
OUTSIDE = ("clamp", "drop", "refuse")
"""What becomes of a value that the domain does not have."""
OTHER = "other"
"""What values that were not found are called, where a plan does not say."""


def domain_keys(keys: Keys) -> dict[str, Any]:
    """What a column's table says about its domain; ``outside`` beside ``long`` is about points and is not read here."""
    found: dict[str, Any] = {"domain_from": keys.one_of("domain_from", FROM, "declared")}
    if "outside" in keys.table and "long" not in keys.table:
        found["outside"] = keys.one_of("outside", OUTSIDE, "clamp")
    if "other" in keys.table:
        found["other"] = keys.required_text("other")
    within = keys.numbers("within")
    if "within" in keys.table and (len(within) != 2 or not within[0] < within[1]):
        raise PlanError(f"{keys.at('within')} must be two numbers, the smaller first, not {keys.table['within']!r}")
    return {**found, "within": within}


def check_domain(column: ColumnPlan, name: str) -> None:
    """Refuse keys that contradict each other."""
    at = f"columns.{name}"
    if column.domain_from not in FROM:
        raise PlanError(f"{at}.domain_from must be one of {listed(FROM)}, not {column.domain_from!r}")
    if column.outside is not None and column.outside not in OUTSIDE:
        raise PlanError(f"{at}.outside must be one of {listed(OUTSIDE)}, not {column.outside!r}")
    if column.other is not None and (column.other == TOP or column.outside in ("drop", "refuse")):
        why = "'*' covers everything" if column.other == TOP else f"outside = {column.outside!r} leaves it nothing"
        raise PlanError(f"{at}.other: {why}; leave one of them out")
    if column.within and column.domain_from != "discover":
        raise PlanError(
            f'{at}.within goes with domain_from = "discover": the range is looked for between these numbers'
        )


def refuse_profiled(columns: Mapping[str, ColumnPlan], whom: str) -> None:
    """Refuse domains that ``sfumato profile`` read off the rows and that nobody has confirmed."""
    found = [name for name, one in columns.items() if one.domain_from == "profile" and _told(one)]
    if found:
        raise PlanError(
            f"columns.{found[0]}.domain_from: the domains of {listed(found, most=30)} were read off the rows by "
            f"`sfumato profile`, and one record can move them; {whom} needs domains that are public knowledge. Check "
            'each, correct it, and write domain_from = "public"; or let a release find it for a part of the budget '
            'with domain_from = "discover"'
        )


def _told(column: ColumnPlan) -> bool:
    return column.role not in (Role.IDENTIFIER, Role.DROP)


def refuse_total(columns: Mapping[str, ColumnPlan], kind: str) -> None:
    """Refuse keys that other kinds of release would pass over in silence."""
    for name, column in columns.items():
        for key in ("outside", "other"):
            if getattr(column, key) is not None:
                raise PlanError(
                    f"columns.{name}.{key} is for differentially private releases (privacy.epsilon or privacy.rho), "
                    f"for questions, and beside long; {kind} has no use for it"
                )


def public_keys(column: ColumnPlan) -> dict[str, Any]:
    """As the manifest shows them: what differs from the defaults."""
    shown: dict[str, Any] = {} if column.domain_from == "declared" else {"domain_from": column.domain_from}
    shown |= {key: getattr(column, key) for key in ("outside", "other") if getattr(column, key) is not None}
    return shown | ({"within": list(column.within)} if column.within else {})
