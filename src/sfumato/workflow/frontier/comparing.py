"""The frontier: many releases of one table, compared by privacy and utility.

Every point is a full release that was verified from its bytes; none of them is kept. One of them can then be made
again as a bundle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sfumato.data.frames import from_frame
from sfumato.ground.errors import (
    EXIT_BAD_INPUT,
    EXIT_DONE,
    EXIT_INFEASIBLE,
    EXIT_REFUTED,
    PlanError,
)
from sfumato.ground.scratch import temporary
from sfumato.ground.work import Work
from sfumato.verification.checks import Verification
from sfumato.workflow.bundling import refuse_output
from sfumato.workflow.frontier.axes import Axis, front
from sfumato.workflow.frontier.point import Task, forget, originals
from sfumato.workflow.frontier.points import Point, numbered, points
from sfumato.workflow.frontier.processes import Record, run
from sfumato.workflow.frontier.store import Store, check_folder, digest
from sfumato.workflow.kinds import kind_of
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.released import Release
from sfumato.workflow.walk import release


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
    from sfumato.workflow.frontier.frontier_files import write_files

    comparison = kind_of(plan).comparison(plan)
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
    found = Frontier(
        folder=Path(folder),
        sources=plan.folder,
        points=wanted,
        records=records,
        original=original,
        privacy=comparison.privacy(list(records.values())),
        utility=comparison.utility(plan.frontier.metrics, target=original["target"] is not None),
    )
    write_files(found)
    return found


def pick(
    plan: Plan, number: int, bundle: str | Path, frame: object = None, *, force: bool = False, work: Work | None = None
) -> tuple[Release, Verification]:
    """Make the release of one point again, and write its verified bundle; not of a private one."""
    kind_of(plan).comparison(plan).refuse_pick()
    point = numbered(points(plan), number)
    refuse_output(Path(bundle), None, force=force)
    chosen = replace(Plan.parse(point.tree, folder=plan.folder), attack=plan.attack)
    made = release(chosen, frame, work=work)
    return made, made.write(bundle, force=force, work=work)


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
    found = store.load(name)
    if found is None:
        with temporary("frontier") as place:
            task = Task(tree=tree, folder=store.sources, data=store.data, scratch=place)
            found = originals(task)
        store.save(name, found)
    return found


@contextmanager
def _on_disk(plan: Plan, frame: object) -> Iterator[Plan]:
    """The plan with its frame as a file, so that other processes can read it."""
    if frame is None:
        yield plan
        return
    with temporary("frontier") as place:
        path = place / "frame.parquet"
        from_frame(frame, missing=plan.input.missing).frame.write_parquet(path)
        stored = replace(plan.input, path=str(path.resolve()), names=(), trim=False)
        yield replace(plan, format=plan.output_format, input=stored)
