"""Points computed one by one, or many at once in processes with a time limit."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sfumato.core.errors import EXIT_INTERRUPTED, ClaimRefuted, Infeasible, Interrupted, SfumatoError
from sfumato.core.run_context import STOPS, Work
from sfumato.core.scratch import temporary
from sfumato.pipeline.frontier.points import Point, Store
from sfumato.pipeline.inputs import load_table
from sfumato.pipeline.methods import method_of
from sfumato.pipeline.plan.evaluation import Tree
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import release
from sfumato.tables.table import Table

# One point of a frontier: a release is made, written without its report, verified from its bytes, and measured.


Status = Literal["verified", "refuted", "infeasible", "refused", "failed", "not run"]
"""How a point ended; only a verified one is a release that may be chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a process needs to make one point."""

    tree: Tree
    """The point's plan."""
    folder: Path
    """Where relative file names of the plan start."""
    data: str
    """The digest of the data file: rows are read once per process, and again when the file has changed."""
    scratch: Path
    """Where files may lie while they are verified."""

    @property
    def plan(self) -> Plan:
        """The point's plan."""
        return Plan.parse(self.tree, folder=self.folder)


def compute(task: Task) -> dict[str, Any]:
    """The record of a point; every refusal becomes a record too."""
    began = time.perf_counter()
    try:
        plan = task.plan
        table, population = _rows(task, plan)
        point_release = release(plan, table, population=population)
        with tempfile.TemporaryDirectory(dir=task.scratch) as place:
            checked = point_release.checked(Path(place))
        wrong = [f"{check.what}: {check.detail}" for check in checked.checks if not check.holds]
        seconds = round(time.perf_counter() - began, 3)
        figures = point_release.kind.comparison(plan).measured(point_release, table)
        return {**ended("refuted" if wrong else "verified", "; ".join(wrong)), **figures, "seconds": seconds}
    except Interrupted:
        raise
    except Infeasible as error:
        return ended("infeasible", str(error))
    except ClaimRefuted as error:
        return ended("refuted", str(error))
    except SfumatoError as error:
        return ended("refused", str(error))
    except Exception as error:  # an algorithm of a plugin may fail in any way; the other points go on
        return ended("failed", f"{type(error).__name__}: {error}")


def originals(task: Task) -> dict[str, Any]:
    """What the original table itself measures: its risks, and what the classifier reaches on it."""
    plan = task.plan
    return method_of(plan).comparison(plan).original(plan, *_rows(task, plan))


def ended(status: Status, reason: str = "") -> dict[str, Any]:
    """The record of a point that gave no release."""
    return {"status": status, "verified": status == "verified", "reason": reason}


_ROWS: dict[str, tuple[Table, Table | None]] = {}
"""The rows that this process read last."""


def _rows(task: Task, plan: Plan) -> tuple[Table, Table | None]:
    """The table and its population, read once."""
    key = f"{task.data} {task.tree['input']}"
    if key not in _ROWS:
        forget()
        people = plan.input.population
        _ROWS[key] = load_table(plan, None, plan.input.path), None if people is None else load_table(plan, None, people)
    return _ROWS[key]


def forget() -> None:
    """Let go of the rows."""
    _ROWS.clear()


# Making many points at once: in processes of their own, with a time limit, and keeping whatever is finished.


Record = dict[str, Any]
_KEPT = ("verified", "refuted", "infeasible", "refused")
"""Ends that would come again; others are tried again by the next run."""
MOST_JOBS = 4
"""Processes that work at once where nothing is said; each holds the table."""


def run(points: Sequence[Point], store: Store, *, jobs: int | None, work: Work) -> dict[int, Record]:
    """The record of every point by its number: found in the store, made now, or not run for lack of time."""
    names = {point.number: f"point-{store.key(point.tree)}" for point in points}
    records = {number: record for number, name in names.items() if (record := store.load(name)) is not None}
    missing = deque(point for point in points if point.number not in records)
    work.advance("points", len(records), len(points))
    with closing(_made(missing, store, min(jobs or _cores(), len(missing)), work)) as results:
        for point, record in results:
            if record["status"] in _KEPT:
                store.save(names[point.number], record)
            records[point.number] = record
            work.advance("points", len(records), len(points))
    late = ended("not run", "the time was up before this point was begun")
    return {point.number: records.get(point.number, late) for point in points}


def _made(missing: deque[Point], store: Store, jobs: int, work: Work) -> Generator[tuple[Point, Record], None, None]:
    """The missing points as they are finished; none is begun when time is up."""
    if not missing or work.late:
        return
    with temporary("frontier") as place:
        if jobs > 1:
            forget()
            yield from _in_processes(missing, store, place, jobs, work)
            return
        while missing and not work.late:
            point = missing.popleft()
            yield point, compute(_task(point, store, place))


def _in_processes(
    missing: deque[Point], store: Store, scratch: Path, jobs: int, work: Work
) -> Iterator[tuple[Point, Record]]:
    """As many points at once as there are jobs; each is begun only when a process is free."""
    with _processes(jobs) as pool:
        running: dict[Future[Record], Point] = {}
        while running or (missing and not work.late):
            while missing and len(running) < jobs and not work.late:
                point = missing.popleft()
                running[pool.submit(compute, _task(point, store, scratch))] = point
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), _result(future)
            if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
                yield from ((point, _broken()) for point in (*running.values(), *missing))
                return


def _result(future: Future[Record]) -> Record:
    try:
        return future.result()
    except BrokenProcessPool:
        return _broken()


def _broken() -> Record:
    return ended("failed", "a process ended before its time, perhaps for lack of memory; run again, or with fewer jobs")


@contextmanager
def _processes(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Fresh processes (a fork would not carry the engine's threads); on an interrupt they are ended at once."""
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_deaf)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - before:
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _deaf() -> None:
    """Whoever stops the work tells the parent, and it ends its processes; where it was killed, they end themselves."""
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(EXIT_INTERRUPTED)


def _task(point: Point, store: Store, scratch: Path) -> Task:
    return Task(tree=point.tree, folder=store.sources, data=store.data, scratch=scratch)


def _cores() -> int:
    """How many processes the machine has room for."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST_JOBS)
