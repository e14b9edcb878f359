"""Processes for releases and for table questions: started, listened to, cancelled."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from sfumato.bundles.files import MANIFEST
from sfumato.bundles.manifest.document import load
from sfumato.core.errors import EXIT_REFUTED, DataError, SfumatoError
from sfumato.core.run_context import Work
from sfumato.pipeline.plan.plan import Plan
from sfumato.studio.plan_text import confined_plan, described_plan, refuse_outside, revision, root_of
from sfumato.studio.projects import BEGUN, PICTURES, PLAN, RESULT, RUNS, Project

# One release in a process of its own. It ends when the studio ends, however that ends.


Tell = Callable[[Mapping[str, Any]], None]


class _Told:
    """Progress that goes through a pipe."""

    def __init__(self, tell: Tell) -> None:
        self.tell = tell

    def advance(self, stage: str, done: int, total: int) -> None:
        """Say how far a stage is."""
        self.tell({"event": "progress", "stage": stage, "done": done, "total": total})


def end_with_parent() -> None:
    """From now on this process ends when the one that started it does."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def release_run(folder: str, number: int, pipe: Connection) -> None:
    """Make the release of a project's plan as a run of its own; the run appears whole or not at all."""
    end_with_parent()
    try:
        _release(Path(folder), number, pipe.send)
        pipe.send({"event": "done", "run": number})
    except SfumatoError as error:
        pipe.send({"event": "failed", "message": str(error), "exit_code": error.exit_code})
    except Exception as error:
        pipe.send({"event": "failed", "message": f"a fault of sfumato: {error!r}", "exit_code": EXIT_REFUTED})
    finally:
        pipe.close()


def _release(folder: Path, number: int, tell: Tell) -> None:
    from sfumato.pipeline.release import release

    text = (folder / PLAN).read_text(encoding="utf-8")
    notes: list[str] = []

    def notice(note: str) -> None:
        notes.append(note)
        tell({"event": "note", "text": note})

    work = Work(progress=_Told(tell), notice=notice)
    new_release = release(confined_plan(folder, text), work=work)
    begun, place = folder / RUNS / f"{BEGUN}{number:04d}", folder / RUNS / f"{number:04d}"
    shutil.rmtree(begun, ignore_errors=True)
    begun.mkdir(parents=True)
    inside = begun / "inside.html" if new_release.kind.inside_page is not None else None
    checked = new_release.write(begun / "release", inside=inside, work=work)
    (begun / PLAN).write_text(text, encoding="utf-8")
    promises = [list(promise) for promise in new_release.kind.promises(load(begun / "release" / MANIFEST))]
    result = {
        **_told(new_release),
        "promises": promises,
        "verified": checked.holds,
        "notes": notes,
        "revision": revision(text),
    }
    _dump(begun / PICTURES, asdict(new_release.kind.drawn(new_release)))
    _dump(begun / RESULT, result)
    begun.replace(place)


def _told(release: Any) -> dict[str, Any]:
    """What a page tells about a release."""
    from sfumato.reports.attacks import verdicts

    summary = release.kind.summary(release)
    attacks = [
        {
            "attack": verdict.attack,
            "chip": verdict.chip,
            "broken": verdict.broken,
            "verdict": verdict.verdict,
            "who": verdict.who,
        }
        for verdict in verdicts(release.audit.findings)
    ]
    return {
        "inside": release.kind.inside_page is not None,
        "heads": list(summary.heads),
        "cells": [[cell if isinstance(cell, int | float) else str(cell) for cell in row] for row in summary.cells],
        "algorithm": release.algorithm,
        "why": release.why,
        "metric": release.plan.metric,
        "rows": release.height,
        "lines": list(summary.lines),
        "changes": [list(change) for change in summary.changes],
        "attacks": attacks,
        **release.kind.figures(release),
    }


def _dump(place: Path, value: Any) -> None:
    place.write_text(json.dumps(value, ensure_ascii=False, default=str), encoding="utf-8")


# The process that keeps a table and its counts in memory, and answers questions about them one by one.


Texts = Mapping[str, Any]


def table_process(pipe: Connection) -> None:
    """Answer questions until the studio asks no more."""
    end_with_parent()
    desk = _Desk()
    while True:
        try:
            verb, given = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(("answer", getattr(desk, verb)(**given)))
        except SfumatoError as error:
            pipe.send(("refused", str(error)))
        except Exception as error:
            pipe.send(("refused", f"a fault of sfumato: {error!r}"))


class _Desk:
    """What the table process can be asked."""

    def __init__(self) -> None:
        self._table: tuple[Any, Any] = (None, None)
        self._counted: tuple[Any, Any] = (None, None)
        self._profiled: tuple[Any, Any] = (None, None)

    def _explored(self, plan: Plan) -> Any:
        """The table that the plan names, read once as long as neither file nor reading changes."""
        from sfumato.pipeline.exploration import Explored

        path = plan.folder / str(plan.input.path)
        key = (plan.input, path.stat().st_mtime_ns if path.is_file() else None)
        if self._table[0] != key:
            self._table = (key, Explored.of(plan))
        return self._table[1]

    def _under(self, folder: str, text: str) -> Any:
        """The table counted under the plan, as long as the text is the same."""
        if self._counted[0] != (folder, text):
            plan = confined_plan(Path(folder), text)
            self._counted = ((folder, text), self._explored(plan).under(plan))
        return self._counted[1]

    def rows(self, folder: str, text: str, first: int, many: int) -> Any:
        """Some rows of the table."""
        return self._explored(described_plan(Path(folder), text)).rows(first, many)

    def profile(self, path: str, reading: dict[str, Any]) -> Any:
        """What the table looks like, and a draft plan; looked at once as long as the file is the same."""
        from sfumato.pipeline.profile.draft import draft
        from sfumato.pipeline.profile.profile import profile

        key = (path, repr(reading), os.stat(path).st_mtime_ns if os.path.exists(path) else None)
        if self._profiled[0] != key:
            table_profile = profile(path, reading=reading)
            document = {
                **table_profile.to_json(),
                "draft": draft(table_profile, path=os.path.basename(path), reading=reading),
            }
            self._profiled = (key, document)
        return self._profiled[1]

    def levels(self, folder: str, text: str, column: str, tree: dict[str, Any], key: str) -> Any:
        """The levels that a hierarchy gives a column."""
        plan = self._confined(folder, text, tree)
        return self._explored(plan).levels(plan, column, tree, key)

    def leaves(self, folder: str, text: str, column: str, tree: dict[str, Any], key: str) -> Any:
        """A hierarchy as lines of a file."""
        plan = self._confined(folder, text, tree)
        return self._explored(plan).leaves(plan, column, tree, key)

    def nested(self, folder: str, text: str, column: str, tree: dict[str, Any], key: str) -> Any:
        """A hierarchy as a tree of groups, whatever made it."""
        from sfumato.pipeline.exploration import nested_tree

        return nested_tree(self.leaves(folder, text, column, tree, key))

    def spread(self, folder: str, text: str, column: str, key: str) -> Any:
        """How the numbers of a column lie."""
        plan = described_plan(Path(folder), text)
        return self._explored(plan).spread(plan, column, key)

    def declared(self, folder: str, text: str, column: str, declaration: dict[str, Any]) -> Any:
        """What a declared domain means for the rows of a column."""
        plan = self._confined(folder, text, declaration)
        return self._explored(plan).declared(plan, column, declaration)

    def _confined(self, folder: str, text: str, more: dict[str, Any]) -> Plan:
        """The plan; what is said beside it leads nowhere outside either."""
        refuse_outside(more, Path(folder), root_of(Path(folder)))
        return described_plan(Path(folder), text)

    def fitting(self, folder: str, text: str) -> Any:
        """Which algorithms can be asked to meet the requirement, and what `auto` stands for."""
        return self._under(folder, text).fitting()

    def reached(self, folder: str, text: str) -> Any:
        """What the raw table reaches of every model."""
        counted = self._under(folder, text)
        return {"claims": counted.reached(), "beside": counted.offered(), "unreachable": counted.unreachable()}

    def around(self, folder: str, text: str, levels: dict[str, int]) -> Any:
        """A node of the lattice with its neighbours."""
        return self._under(folder, text).around(levels)

    def sample(self, folder: str, many: int) -> Any:
        """The first rows of a bundle, without reading the others."""
        from sfumato.bundles.files import MANIFEST
        from sfumato.bundles.manifest.document import load
        from sfumato.pipeline.exploration import first_rows

        return first_rows(Path(folder), load(Path(folder) / MANIFEST), many)

    def verify(self, folder: str) -> Any:
        """Whether a bundle is what it says, in the sentences of the command line."""
        from sfumato.bundles.summary import sentences
        from sfumato.pipeline.verification import verify

        verification = verify(folder)
        return {
            "holds": verification.holds,
            "checks": len(verification.checks),
            "sentences": sentences(verification.checks),
        }

    def attack(self, folder: str, original: str, plan: str | None) -> Any:
        """What adversaries can do with a bundle."""
        from sfumato.pipeline.attack import attack
        from sfumato.reports.attacks import verdicts

        loaded = None if plan is None else confined_plan(Path(plan).parent, Path(plan).read_text(encoding="utf-8"))
        audit = attack(folder, original, plan=loaded, attacks=("all",), trials=1000, work=Work())
        findings = [{"attack": verdict.attack, "threat": verdict.threat, "who": verdict.who, "verdict": verdict.verdict,
                 "chip": verdict.chip, "broken": verdict.broken} for verdict in verdicts(audit.findings)]  # fmt: skip
        return {"findings": findings, "skipped": dict(audit.skipped)}

    def budget(self, folder: str, text: str) -> Any:
        """What everybody may spend and has spent, and which columns can be asked about."""
        from sfumato.pipeline.queries import budget

        return budget(Path(folder), confined_plan(Path(folder), text))

    def grant(self, folder: str, text: str, limit: str, analyst: str | None) -> Any:
        """Set what somebody may spend."""
        from sfumato.pipeline.queries import grant

        return grant(Path(folder), confined_plan(Path(folder), text), limit, analyst)

    def ask(self, folder: str, text: str, sql: str, epsilon: str, analyst: str | None) -> Any:
        """A noisy answer, and what is left to who paid."""
        from sfumato.pipeline.queries import ask

        return ask(Path(folder), confined_plan(Path(folder), text), sql, epsilon, analyst)


# The processes beside the pages: started, listened to, cancelled, and never waited for by a page.


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
        job, n_sent, last = self.of.get(project.name), 0, None
        while job is not None:
            events = list(job.events)
            fresh = events[n_sent:] or [event for event in events[-1:] if event is not last]
            for last in fresh:
                yield last
            n_sent = len(events)
            if job.over and n_sent == len(job.events):
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
                how, answer = self._pipe.recv()
            except (EOFError, OSError):
                self._process = None
                if self._stopped:
                    raise DataError(
                        "You stopped it, so there is no answer. What an answer had to pay stays paid."
                    ) from None
                raise DataError("the process that reads the table has ended; the table may be too large for memory, so "
                                "name an engine in the plan") from None  # fmt: skip
        if how == "refused":
            raise DataError(answer)
        return answer

    def close(self) -> None:
        """End the process, and with it whatever it was asked."""
        self._stopped = True
        if self._process is not None and self._process.is_alive():
            self._process.kill()
