"""From a frontier to what its page shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sfumato.report.frontier.frontier_facts import AxisFacts, FrontierFacts, PointFacts
from sfumato.version import __version__
from sfumato.workflow.frontier.axes import ACCURACY, Axis
from sfumato.workflow.frontier.points import Point, shown

if TYPE_CHECKING:
    from sfumato.workflow.frontier.comparing import Frontier


def facts(found: Frontier) -> FrontierFacts:
    """Everything the page shows."""
    series = tuple(dict.fromkeys(point.series for point in found.points))
    keys = tuple(found.points[0].parameters)
    fronts = found.fronts()
    privacy, utility = found.privacy, found.utility
    risk = found.original["risk"]
    return FrontierFacts(
        made=datetime.now(UTC).date().isoformat(),
        version=__version__,
        rows=found.original["rows"],
        target=found.original["target"],
        risk=None if risk is None else (risk["prosecutor"], risk["marketer"]),
        series=series,
        keys=short(keys),
        privacy=tuple(_axis(axis, ()) for axis in privacy),
        utility=tuple(_axis(axis, _lines(axis, found.original)) for axis in utility),
        points=tuple(_point(found, point, series) for point in found.points),
        fronts={(i, j): fronts[p.name, u.name] for i, p in enumerate(privacy) for j, u in enumerate(utility)},
    )


def short(keys: Sequence[str]) -> tuple[str, ...]:
    """Key paths by their last part, where that tells them apart.

    >>> short(["privacy.k_anonymity", "columns.a.type", "columns.b.type"])
    ('k_anonymity', 'columns.a.type', 'columns.b.type')
    """
    lasts = [key.rpartition(".")[2] for key in keys]
    return tuple(last if lasts.count(last) == 1 else key for key, last in zip(keys, lasts, strict=True))


def _axis(axis: Axis, lines: tuple[tuple[str, float], ...]) -> AxisFacts:
    return AxisFacts(name=axis.name, meaning=axis.meaning, better=axis.better, how=axis.how, lines=lines)


def _lines(axis: Axis, original: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    known = original["accuracy"] if axis.name == ACCURACY else None
    return () if known is None else (("original", known["original"]), ("majority", known["majority"]))


def _point(found: Frontier, point: Point, series: Sequence[str]) -> PointFacts:
    record = found.records[point.number]
    made = "rows" in record
    used = record.get("algorithm_used")
    return PointFacts(
        number=point.number,
        series=series.index(point.series),
        parameters=tuple(shown(value) for value in point.parameters.values()),
        status=record["status"],
        reason=record["reason"],
        privacy=tuple(axis.value(record) for axis in found.privacy),
        utility=tuple(axis.value(record) for axis in found.utility),
        suppressed=record["suppressed_rows"] / max(record["rows"], 1) if made else None,
        classes=record["classes"] if made else None,
        seconds=record["seconds"] if made else None,
        note=f"took {used}" if made and used != point.algorithm["name"] else "",
    )
