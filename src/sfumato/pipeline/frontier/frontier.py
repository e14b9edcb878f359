"""The frontier: many releases of one table, compared, with its chart, table and figures."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import structs

from sfumato.bundles.manifest.document import plain
from sfumato.bundles.provenance import Verification
from sfumato.core.errors import EXIT_BAD_INPUT, EXIT_DONE, EXIT_INFEASIBLE, EXIT_REFUTED, PlanError
from sfumato.core.run_context import Work
from sfumato.core.scratch import temporary
from sfumato.core.staging import write_whole
from sfumato.pipeline.frontier.axes import ACCURACY, Axis, front
from sfumato.pipeline.frontier.points import (
    FIGURES,
    PAGE,
    TABLE,
    Point,
    Store,
    check_folder,
    digest,
    format_value,
    numbered,
    points,
)
from sfumato.pipeline.frontier.processes import Record, Task, forget, originals, run
from sfumato.pipeline.methods import method_of
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import Release, refuse_output, release
from sfumato.reports.frontier import AxisFacts, FrontierFacts, PointFacts
from sfumato.tables.csv_files import escaped_text
from sfumato.tables.frames import from_frame
from sfumato.version import __version__

# From a frontier to what its page shows.


def facts(result: Frontier) -> FrontierFacts:
    """Everything the page shows."""
    series = tuple(dict.fromkeys(point.series for point in result.points))
    keys = tuple(result.points[0].parameters)
    fronts = result.fronts()
    privacy, utility = result.privacy, result.utility
    risk = result.original["risk"]
    return FrontierFacts(
        made=datetime.now(UTC).date().isoformat(),
        version=__version__,
        rows=result.original["rows"],
        target=result.original["target"],
        risk=None if risk is None else (risk["prosecutor"], risk["marketer"]),
        series=series,
        keys=short(keys),
        privacy=tuple(_axis(axis, ()) for axis in privacy),
        utility=tuple(_axis(axis, _lines(axis, result.original)) for axis in utility),
        points=tuple(_point_facts(result, point, series) for point in result.points),
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


def _point_facts(result: Frontier, point: Point, series: Sequence[str]) -> PointFacts:
    record = result.records[point.number]
    is_released = "rows" in record
    used = record.get("algorithm_used")
    return PointFacts(
        number=point.number,
        series=series.index(point.series),
        parameters=tuple(format_value(value) for value in point.parameters.values()),
        status=record["status"],
        reason=record["reason"],
        privacy=tuple(axis.value(record) for axis in result.privacy),
        utility=tuple(axis.value(record) for axis in result.utility),
        suppressed=record["suppressed_rows"] / max(record["rows"], 1) if is_released else None,
        classes=record["classes"] if is_released else None,
        seconds=record["seconds"] if is_released else None,
        note=f"took {used}" if is_released and used != point.algorithm["name"] else "",
    )


# The files of a frontier: chart, table and figures. None of them is for publication.


NOTE = "Computed from unreleased data: for the steward only, not for publication."


def write_files(result: Frontier) -> None:
    """Write the page, the table and the figures; each whole or not at all."""
    from sfumato.reports.frontier import render

    figures = content(result)
    write_whole(
        result.folder / FIGURES, json.dumps(figures, indent=2, ensure_ascii=False, allow_nan=False) + "\n", private=True
    )
    write_whole(result.folder / TABLE, table(result), private=True)
    write_whole(result.folder / PAGE, render(facts(result)), private=True)


def content(result: Frontier) -> dict[str, Any]:
    """Everything that was found, as one JSON object."""
    best = set(result.pareto)
    axes = {"privacy": result.privacy, "utility": result.utility}
    document = {
        "note": NOTE,
        "sfumato": __version__,
        "made": datetime.now(UTC).date().isoformat(),
        "original": {key: value for key, value in result.original.items() if key != "name"},
        "axes": {
            side: [{"name": axis.name, "better": axis.better, "meaning": axis.meaning} for axis in every]
            for side, every in axes.items()
        },
        "pareto": [
            {"privacy": privacy, "utility": utility, "points": list(numbers)}
            for (privacy, utility), numbers in result.fronts().items()
        ],
        "points": [_point_record(point, result.records[point.number], best) for point in result.points],
    }
    return plain(document)  # type: ignore[no-any-return]


def table(result: Frontier) -> str:
    """One line per point, as CSV for people: texts that a spreadsheet would run are escaped."""
    best = set(result.pareto)
    lines = [_line(point, result, best) for point in result.points]
    heads = dict.fromkeys(head for line in lines for head in line)
    into = io.StringIO()
    writer = csv.DictWriter(into, list(heads), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return into.getvalue()


def _point_record(point: Point, record: Mapping[str, Any], best: set[int]) -> dict[str, Any]:
    return {
        "point": point.number,
        "algorithm": dict(point.algorithm),
        "parameters": {key: _plain(value) for key, value in point.parameters.items()},
        "pareto": point.number in best,
        **{key: value for key, value in record.items() if key != "name"},
    }


def _line(point: Point, result: Frontier, best: set[int]) -> dict[str, Any]:
    record = result.records[point.number]
    line: dict[str, Any] = {"point": point.number, "algorithm": point.series}
    line |= {key: format_value(value) for key, value in point.parameters.items()}
    line |= {"status": record["status"], "verified": record["verified"], "pareto": point.number in best}
    line |= {axis.name: axis.value(record) for axis in (*result.privacy, *result.utility)}
    for key in ("rows", "suppressed_rows", "classes", "seconds", "algorithm_used", "proven_optimal"):
        line[key] = record.get(key)
    line |= {f"risk.{name}": value for name, value in record.get("risk", {}).items()}
    line |= {f"utility.{name}": value for name, value in record.get("utility", {}).items()}
    line |= {"reason": record["reason"]}
    return {escaped_text(key): escaped_text(value) if isinstance(value, str) else value for key, value in line.items()}


def _plain(value: Any) -> Any:
    """A value of the plan as JSON has it; days and times become text."""
    return json.loads(json.dumps(value, default=str))


# The frontier: many releases of one table, compared by privacy and utility.
#
# Every point is a full release that was verified from its bytes; none of them is kept. One of them can then be made
# again as a bundle.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Frontier:
    """All points with what was measured at each."""

    folder: Path
    """Where its files lie."""
    sources: Path
    """Where relative file names of the plan start."""
    points: tuple[Point, ...]
    """What was asked for, in the order of the product."""
    records: Mapping[int, Record]
    """What came of each point, by number."""
    original: Mapping[str, Any]
    """What the original table itself measures."""
    privacy: tuple[Axis, ...]
    """The axes of privacy."""
    utility: tuple[Axis, ...]
    """The axes of utility."""

    def __repr__(self) -> str:
        return f"Frontier({len(self.points)} points, {self.count('verified')} verified, best: {list(self.pareto)[:8]})"

    def plan(self, number: int) -> Plan:
        """The plan of a point: ``sfumato.release`` makes its release again."""
        return Plan.parse(numbered(self.points, number).tree, folder=self.sources)

    @property
    def pareto(self) -> tuple[int, ...]:
        """The Pareto set of the first two axes: the numbers of the points that no other point beats."""
        return front(self.privacy[0], self.utility[0], self.records)

    def fronts(self) -> dict[tuple[str, str], tuple[int, ...]]:
        """The Pareto set of every pair of axes, by their names."""
        return {(p.name, u.name): front(p, u, self.records) for p in self.privacy for u in self.utility}

    def count(self, status: str) -> int:
        """How many points ended so."""
        return sum(record["status"] == status for record in self.records.values())

    @property
    def exit_code(self) -> int:
        """Whether something failed, or nothing could be made at all."""
        if self.count("refuted") or self.count("failed"):
            return EXIT_REFUTED
        if self.count("verified") or self.count("not run"):
            return EXIT_DONE
        return EXIT_INFEASIBLE if self.count("infeasible") else EXIT_BAD_INPUT


def frontier(
    plan: Plan, frame: object = None, *, folder: str | Path = "frontier", work: Work | None = None
) -> Frontier:
    """Make, verify and measure every point of the plan's [frontier], and write chart and tables into a folder.

    Points that were finished in this folder before are taken from there. A program that calls this with more than one
    job needs the usual ``if __name__ == "__main__":`` around its main part, because its processes are started afresh.
    """
    comparison = method_of(plan).comparison(plan)
    work = work or Work()
    work.seconds = work.seconds or plan.frontier.seconds
    with _on_disk(plan, frame) as stored:
        wanted = points(stored)
        check_folder(Path(folder))
        store = _store(stored, Path(folder))
        original = _original(wanted[0], store)
        try:
            records = run(wanted, store, jobs=stored.frontier.jobs, work=work)
        finally:
            forget()
    result = Frontier(
        folder=Path(folder),
        sources=plan.folder,
        points=wanted,
        records=records,
        original=original,
        privacy=comparison.privacy(list(records.values())),
        utility=comparison.utility(plan.frontier.metrics, target=original["target"] is not None),
    )
    write_files(result)
    return result


def pick(
    plan: Plan, number: int, bundle: str | Path, frame: object = None, *, force: bool = False, work: Work | None = None
) -> tuple[Release, Verification]:
    """Make the release of one point again, and write its verified bundle; not of a private one."""
    method_of(plan).comparison(plan).refuse_pick()
    point = numbered(points(plan), number)
    refuse_output(Path(bundle), None, force=force)
    chosen = replace(Plan.parse(point.tree, folder=plan.folder), attack=plan.attack)
    point_release = release(chosen, frame, work=work)
    return point_release, point_release.write(bundle, force=force, work=work)


def recorded(plan: Plan, number: int, folder: str | Path) -> Record | None:
    """What a frontier's folder says about a point of the plan, if it was finished there."""
    store = _store(plan, Path(folder))
    return store.load(f"point-{store.key(numbered(points(plan), number).tree)}")


def _store(plan: Plan, folder: Path) -> Store:
    if plan.input.path is None:
        raise PlanError("input.path is missing; name the data file in the plan or with --input")
    return Store(folder=folder, data=digest(plan.folder / plan.input.path), sources=plan.folder)


def _original(first: Point, store: Store) -> Record:
    """The original's own figures; a plan that does not fit its table is refused here, once."""
    tree = {**first.tree, "algorithm": {"name": "auto"}}
    name = f"original-{store.key(tree)}"
    record = store.load(name)
    if record is None:
        with temporary("frontier") as place:
            task = Task(tree=tree, folder=store.sources, data=store.data, scratch=place)
            record = originals(task)
        store.save(name, record)
    return record


@contextmanager
def _on_disk(plan: Plan, frame: object) -> Iterator[Plan]:
    """The plan with its frame as a file, so that other processes can read it."""
    if frame is None:
        yield plan
        return
    with temporary("frontier") as place:
        path = place / "frame.parquet"
        from_frame(frame, missing=plan.input.missing).frame.write_parquet(path)
        stored = structs.replace(plan.input, path=str(path.resolve()), names=(), trim=False)
        yield replace(plan, format=plan.output_format, input=stored)
