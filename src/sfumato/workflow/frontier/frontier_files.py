"""The files of a frontier: chart, table and figures. None of them is for publication."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sfumato.bundle.manifest import plain
from sfumato.bundle.staging import write_whole
from sfumato.data.formulas import escaped_text
from sfumato.version import __version__
from sfumato.workflow.frontier.points import Point, shown
from sfumato.workflow.frontier.store import FIGURES, PAGE, TABLE

if TYPE_CHECKING:
    from sfumato.workflow.frontier.comparing import Frontier

NOTE = "Computed from unreleased data: for the steward only, not for publication."


def write_files(found: Frontier) -> None:
    """Write the page, the table and the figures; each whole or not at all."""
    from sfumato.report.frontier.frontier_page import render
    from sfumato.workflow.frontier.frontier_content import facts

    figures = content(found)
    write_whole(
        found.folder / FIGURES, json.dumps(figures, indent=2, ensure_ascii=False, allow_nan=False) + "\n", private=True
    )
    write_whole(found.folder / TABLE, table(found), private=True)
    write_whole(found.folder / PAGE, render(facts(found)), private=True)


def content(found: Frontier) -> dict[str, Any]:
    """Everything that was found, as one JSON object."""
    best = set(found.pareto)
    axes = {"privacy": found.privacy, "utility": found.utility}
    made = {
        "note": NOTE,
        "sfumato": __version__,
        "made": datetime.now(UTC).date().isoformat(),
        "original": {key: value for key, value in found.original.items() if key != "name"},
        "axes": {
            side: [{"name": axis.name, "better": axis.better, "meaning": axis.meaning} for axis in every]
            for side, every in axes.items()
        },
        "pareto": [
            {"privacy": privacy, "utility": utility, "points": list(numbers)}
            for (privacy, utility), numbers in found.fronts().items()
        ],
        "points": [_point(point, found.records[point.number], best) for point in found.points],
    }
    return plain(made)  # type: ignore[no-any-return]


def table(found: Frontier) -> str:
    """One line per point, as CSV for people: texts that a spreadsheet would run are escaped."""
    best = set(found.pareto)
    lines = [_line(point, found, best) for point in found.points]
    heads = dict.fromkeys(head for line in lines for head in line)
    into = io.StringIO()
    writer = csv.DictWriter(into, list(heads), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return into.getvalue()


def _point(point: Point, record: Mapping[str, Any], best: set[int]) -> dict[str, Any]:
    return {
        "point": point.number,
        "algorithm": dict(point.algorithm),
        "parameters": {key: _plain(value) for key, value in point.parameters.items()},
        "pareto": point.number in best,
        **{key: value for key, value in record.items() if key != "name"},
    }


def _line(point: Point, found: Frontier, best: set[int]) -> dict[str, Any]:
    record = found.records[point.number]
    line: dict[str, Any] = {"point": point.number, "algorithm": point.series}
    line |= {key: shown(value) for key, value in point.parameters.items()}
    line |= {"status": record["status"], "verified": record["verified"], "pareto": point.number in best}
    line |= {axis.name: axis.value(record) for axis in (*found.privacy, *found.utility)}
    for key in ("rows", "suppressed_rows", "classes", "seconds", "algorithm_used", "proven_optimal"):
        line[key] = record.get(key)
    line |= {f"risk.{name}": value for name, value in record.get("risk", {}).items()}
    line |= {f"utility.{name}": value for name, value in record.get("utility", {}).items()}
    line |= {"reason": record["reason"]}
    return {escaped_text(key): escaped_text(value) if isinstance(value, str) else value for key, value in line.items()}


def _plain(value: Any) -> Any:
    """A value of the plan as JSON has it; days and times become text."""
    return json.loads(json.dumps(value, default=str))
