"""The pictures of a run: the report's own charts, with the original's figures, for the steward alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from sfumato.report.base.picture import Picture
from sfumato.report.table.table_charts import distributions, losses, risks
from sfumato.report.table.table_facts import ColumnFacts, ReportFacts
from sfumato.report.table.table_page import limit_on_size
from sfumato.report.table.trail_chart import trail_pictures


def pictures_of(made: Any) -> dict[str, Any]:
    """What is drawn of a release: every column before and after, risks, losses, the trail where there is one."""
    facts = getattr(made, "exact_facts", None)
    if not isinstance(facts, ReportFacts):
        return {"columns": [], "risk": [], "loss": [], "trail": []}
    trail = [] if facts.trail is None else trail_pictures(facts.trail, made.plan.metric, limit_on_size(facts))
    return {
        "columns": [_column(one) for one in facts.columns if one.before or one.after],
        "risk": _plain([risks(facts.risk_before, facts.risk_after)]),
        "loss": _plain([losses(facts.columns)]),
        "trail": _plain(trail),
    }


def _column(column: ColumnFacts) -> dict[str, Any]:
    figures = {"distinct_before": column.distinct_before, "distinct_after": column.distinct_after, "loss": column.loss}
    drawn = _plain(distributions(column, inside=True))
    return {"name": column.name, "role": column.role, "done": column.done, "pictures": drawn, **figures}


def _plain(pictures: Iterable[Picture | None]) -> list[dict[str, str]]:
    return [asdict(one) for one in pictures if one is not None]
