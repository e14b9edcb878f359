"""The plan's [audit]: which columns are answered about exactly, and to whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sfumato.ground.errors import PlanError
from sfumato.workflow.plan.plan_table import Keys


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """How exact answers are audited."""

    values: tuple[str, ...]
    """The audited columns."""
    public: tuple[str, ...] | None = None
    """The columns that conditions may use; the quasi-identifiers when absent."""
    k: int = 2
    """No sum of fewer people may follow."""
    groups: tuple[tuple[str, ...], ...] = ()
    """Analysts who talk to each other; without groups, all do."""
    width: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """For an audited column: low, high, width and means."""
    log: str | None = None
    """The file of the log."""

    @classmethod
    def of(cls, keys: Keys) -> AuditPlan:
        """Read the section."""
        keys.only("values", "public", "k", "groups", "width", "log")
        values = keys.texts("values")
        if not values:
            raise PlanError(f"{keys.at('values')} is missing; name the columns whose numbers are asked for")
        groups = keys.table.get("groups", [])
        if not isinstance(groups, list):
            raise PlanError(
                f'{keys.at("groups")} must be a list of lists of analysts such as [["ann", "bob"], ["eve"]]'
            )
        width = Keys.of(keys.table.get("width", {}), keys.at("width"))
        return cls(
            values=values,
            public=keys.texts("public") if "public" in keys.table else None,
            k=2 if "k" not in keys.table else keys.whole("k") or 0,
            groups=tuple(
                Keys(table={"group": one}, path=f"{keys.at('groups')}[{place}]").texts("group")
                for place, one in enumerate(groups)
            ),
            width={name: _span(Keys.of(one, width.at(name))) for name, one in width.table.items()},
            log=keys.text("log"),
        )


def _span(keys: Keys) -> dict[str, Any]:
    keys.only("low", "high", "width", "means")
    found: dict[str, Any] = {name: keys.number(name) for name in ("low", "high", "width")}
    for name, value in found.items():
        if value is None:
            raise PlanError(f"{keys.at(name)} is missing")
    means = keys.numbers("means")
    if len(means) != 2:
        raise PlanError(f"{keys.at('means')} must be two numbers, between which the mean of any k people lies")
    return {**found, "means": means}
