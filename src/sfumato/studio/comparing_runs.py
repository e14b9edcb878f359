"""Several runs of a project on the frontier's own chart: privacy across, utility along."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.report.base.picture import Picture
from sfumato.report.frontier.frontier_charts import LARGE, chart
from sfumato.report.frontier.frontier_facts import AxisFacts, FrontierFacts, PointFacts
from sfumato.studio.project_store import Run
from sfumato.version import __version__

_RISK = AxisFacts(
    name="average risk", meaning="the share of rows matched rightly on average", better="lower", how="share"
)


def compared(runs: Sequence[Run]) -> Picture | None:
    """The runs as points; None where fewer than two have figures of both."""
    found = [(run, run.result) for run in runs]
    tables = [(run, one) for run, one in found if "risk" in one and one.get("utility")]
    if len(tables) < 2:
        return None
    metric = tables[-1][1]["metric"]
    series = tuple(dict.fromkeys(str(one["algorithm"]) for _, one in tables))
    axis = AxisFacts(name=metric, meaning="what was lost", better="lower", how="number")
    points = tuple(
        PointFacts(
            number=run.number,
            series=series.index(str(one["algorithm"])),
            parameters=(),
            status="verified",
            privacy=(float(one["risk"]["marketer"]),),
            utility=(float(one["utility"].get(metric, 0.0)),),
        )
        for run, one in tables
    )
    front = tuple(one.number for one in points if not any(_better(other, one) for other in points))
    facts = FrontierFacts(
        made="", version=__version__, rows=0, target=None, risk=None, series=series, keys=(),
        privacy=(_RISK,), utility=(axis,), points=points, fronts={(0, 0): front},
    )  # fmt: skip
    return chart(facts, (0, 0), LARGE)


def _better(one: PointFacts, other: PointFacts) -> bool:
    """Whether one point is at least as good in both, and better in one."""
    pairs = [
        (a or 0.0, b or 0.0)
        for a, b in zip((*one.privacy, *one.utility), (*other.privacy, *other.utility), strict=True)
    ]
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
