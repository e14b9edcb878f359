"""The pictures of a released table with the original's figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.report.base.drawn import Drawn, DrawnColumn, drawn_parts
from sfumato.report.base.figures import share
from sfumato.report.table.table_charts import distributions, losses, risks
from sfumato.report.table.table_facts import ColumnFacts
from sfumato.report.table.table_page import limit_on_size
from sfumato.report.table.trail_chart import trail_pictures

if TYPE_CHECKING:
    from sfumato.workflow.kinds.table.table_release import TableRelease


def drawn(made: TableRelease) -> Drawn:
    """Every column before and after, risks, losses, and the trail where there is one."""
    facts = made.exact_facts
    trail = [] if facts.trail is None else trail_pictures(facts.trail, made.plan.metric, limit_on_size(facts))
    return Drawn(
        columns=tuple(_column(one) for one in facts.columns if one.before or one.after),
        parts=drawn_parts(
            Risk=[risks(facts.risk_before, facts.risk_after)], Loss_per_column=[losses(facts.columns)], Trail=trail
        ),
    )


def _column(column: ColumnFacts) -> DrawnColumn:
    lost = "" if column.loss is None else f"; lost {share(column.loss)}"
    pictures = tuple(one for one in distributions(column, inside=True) if one is not None)
    return DrawnColumn(name=column.name, about=f"{column.done}{lost}", pictures=pictures)
