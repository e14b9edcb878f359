"""Making many points at once: in processes of their own, with a time limit, and keeping whatever is finished."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sfumato.ground.deferring import STOPS
from sfumato.ground.errors import EXIT_INTERRUPTED
from sfumato.ground.scratch import temporary
from sfumato.ground.work import Work
from sfumato.workflow.frontier.point import Task, compute, ended, forget
from sfumato.workflow.frontier.points import Point
from sfumato.workflow.frontier.store import Store

Record = dict[str, Any]
_KEPT = ("verified", "refuted", "infeasible", "refused")
"""Ends that would come again; others are tried again by the next run."""
MOST_JOBS = 4
"""Processes that work at once where nothing is said; each holds the table."""


def run(points: Sequence[Point], store: Store, *, jobs: int | None, work: Work) -> dict[int, Record]:
    """The record of every point by its number: found in the store, made now, or not run for lack of time."""
    names = {point.number: f"point-{store.key(point.tree)}" for point in points}
    found = {number: record for number, name in names.items() if (record := store.load(name)) is not None}
    missing = deque(point for point in points if point.number not in found)
    work.advance("points", len(found), len(points))
    with closing(_made(missing, store, min(jobs or _cores(), len(missing)), work)) as made:
        for point, record in made:
            if record["status"] in _KEPT:
                store.save(names[point.number], record)
            found[point.number] = record
            work.advance("points", len(found), len(points))
    late = ended("not run", "the time was up before this point was begun")
    return {point.number: found.get(point.number, late) for point in points}


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
