"""The processes beside the pages: started, listened to, cancelled, and never waited for by a page."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

from sfumato.ground.errors import DataError
from sfumato.studio.project_store import Project
from sfumato.studio.table_desk import table_process
from sfumato.studio.worker import release_run

_SPAWN = get_context("spawn")
_ENDS = ("done", "failed", "cancelled")
_PATIENCE = 0.5
"""Seconds that a process has to end before it is killed."""


@dataclass(slots=True, kw_only=True, eq=False)
class Job:
    """One release that is being made."""

    project: Project
    """Whose."""
    number: int
    """Of which run."""
    process: Any
    """Where it runs."""
    events: list[Mapping[str, Any]] = field(default_factory=list)
    """What it has told so far."""

    @property
    def over(self) -> bool:
        """Whether it has ended, well or not."""
        return bool(self.events) and self.events[-1]["event"] in _ENDS


class Jobs:
    """All releases that are being made; a project has one at a time."""

    def __init__(self) -> None:
        """None yet."""
        self.of: dict[str, Job] = {}

    def start(self, project: Project) -> Job:
        """Begin a release of the project's plan."""
        running = self.of.get(project.name)
        if running is not None and not running.over:
            raise DataError(f"a release of {project.name} is being made already; wait for it or cancel it")
        project.clear()
        number = project.next_run()
        ours, theirs = _SPAWN.Pipe(duplex=False)
        process = _SPAWN.Process(target=release_run, args=(str(project.folder), number, theirs), daemon=True)
        process.start()
        theirs.close()
        job = Job(project=project, number=number, process=process)
        self.of[project.name] = job
        threading.Thread(target=self._listen, args=(job, ours), daemon=True).start()
        return job

    def _listen(self, job: Job, pipe: Any) -> None:
        """Keep what the process tells until it ends."""
        try:
            while True:
                event = pipe.recv()
                if event["event"] == "progress" and job.events and job.events[-1]["event"] == "progress":
                    job.events[-1] = event
                else:
                    job.events.append(event)
        except EOFError:
            pass
        finally:
            if not job.over:
                job.events.append({"event": "cancelled", "message": "The search was stopped; nothing was written."})
            job.process.join()
            job.project.clear()

    def cancel(self, project: Project) -> None:
        """End the release of a project at once."""
        job = self.of.get(project.name)
        if job is None or job.over:
            return
        job.process.terminate()
        job.process.join(_PATIENCE)
        if job.process.is_alive():
            job.process.kill()

    async def told(self, project: Project) -> AsyncIterator[Mapping[str, Any]]:
        """What the release of a project tells, from its beginning to its end."""
        job, told, last = self.of.get(project.name), 0, None
        while job is not None:
            events = list(job.events)
            fresh = events[told:] or [one for one in events[-1:] if one is not last]
            for last in fresh:
                yield last
            told = len(events)
            if job.over and told == len(job.events):
                return
            await asyncio.sleep(0.1)

    def close(self) -> None:
        """End every release that is being made."""
        for job in self.of.values():
            self.cancel(job.project)


class TableDesk:
    """The process that keeps a table ready; questions are answered one after the other."""

    def __init__(self) -> None:
        """Started with the first question."""
        self._pipe: Any = None
        self._process: Any = None
        self._stopped = False
        self._lock = threading.Lock()

    async def ask(self, verb: str, **given: Any) -> Any:
        """An answer, without holding up other pages."""
        return await asyncio.to_thread(self._asked, verb, given)

    def _asked(self, verb: str, given: dict[str, Any]) -> Any:
        with self._lock:
            self._stopped = False
            if self._process is None or not self._process.is_alive():
                self._pipe, theirs = _SPAWN.Pipe()
                self._process = _SPAWN.Process(target=table_process, args=(theirs,), daemon=True)
                self._process.start()
                theirs.close()
            try:
                self._pipe.send((verb, given))
                how, found = self._pipe.recv()
            except (EOFError, OSError):
                self._process = None
                if self._stopped:
                    raise DataError(
                        "You stopped it, so there is no answer. What an answer had to pay stays paid."
                    ) from None
                raise DataError("the process that reads the table has ended; the table may be too large for memory, so "
                                "name an engine in the plan") from None  # fmt: skip
        if how == "refused":
            raise DataError(found)
        return found

    def close(self) -> None:
        """End the process, and with it whatever it was asked."""
        self._stopped = True
        if self._process is not None and self._process.is_alive():
            self._process.kill()
