"""What runs beside the pages: one process for a release, and one that keeps a table ready and answers about it.

A worker ends when the studio ends, however that ends.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Mapping
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from sfumato.ground.errors import EXIT_REFUTED, SfumatoError
from sfumato.ground.work import Work
from sfumato.studio.plan_text import revision, tree_of
from sfumato.studio.project_store import BEGUN, PLAN, RESULT, RUNS
from sfumato.workflow.plan.plan import Plan

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
    from sfumato.report.base.findings import verdicts
    from sfumato.workflow.walk import release

    text = (folder / PLAN).read_text(encoding="utf-8")
    plan = Plan.parse(tree_of(text), folder=folder)
    notes: list[str] = []

    def notice(note: str) -> None:
        notes.append(note)
        tell({"event": "note", "text": note})

    work = Work(progress=_Told(tell), notice=notice)
    made = release(plan, work=work)
    begun, place = folder / RUNS / f"{BEGUN}{number:04d}", folder / RUNS / f"{number:04d}"
    shutil.rmtree(begun, ignore_errors=True)
    begun.mkdir(parents=True)
    inside = begun / "inside.html" if made.kind.inside_page is not None else None
    checked = made.write(begun / "release", inside=inside, work=work)
    (begun / PLAN).write_text(text, encoding="utf-8")
    told = made.kind.summary(made)
    result = {
        "algorithm": made.algorithm,
        "why": made.why,
        "metric": plan.metric,
        "verified": checked.holds,
        "rows": made.height,
        "notes": notes,
        "lines": list(told.lines),
        "changes": [list(one) for one in told.changes],
        "revision": revision(text),
        "attacks": [
            {"attack": one.attack, "chip": one.chip, "broken": one.broken, "verdict": one.verdict, "who": one.who}
            for one in verdicts(made.audit.findings)
        ],
        **made.kind.figures(made),
    }
    (begun / RESULT).write_text(json.dumps(result, ensure_ascii=False, default=str), encoding="utf-8")
    begun.replace(place)


def table_process(pipe: Connection) -> None:
    """Keep one table and its counts in memory, and answer questions about them one by one."""
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

    def _explored(self, plan: Plan) -> Any:
        """The table that the plan names, read once as long as neither file nor reading changes."""
        from sfumato.workflow.exploring.explored import Explored

        path = plan.folder / str(plan.input.path)
        key = (plan.input, path.stat().st_mtime_ns if path.is_file() else None)
        if self._table[0] != key:
            self._table = (key, Explored.of(plan))
        return self._table[1]

    def _under(self, folder: str, text: str) -> Any:
        """The table counted under the plan, as long as the text is the same."""
        if self._counted[0] != (folder, text):
            plan = _plan(folder, text)
            self._counted = ((folder, text), self._explored(plan).under(plan))
        return self._counted[1]

    def rows(self, folder: str, text: str, first: int, many: int) -> Any:
        """Some rows of the table."""
        return self._explored(_plan(folder, text)).rows(first, many)

    def profile(self, path: str, reading: dict[str, Any]) -> Any:
        """What the table looks like, and a draft plan."""
        from sfumato.workflow.profile.draft import draft
        from sfumato.workflow.profile.profiling import profile

        found = profile(path, reading=reading)
        return {**found.to_json(), "draft": draft(found, path=os.path.basename(path), reading=reading)}

    def levels(self, folder: str, text: str, column: str, tree: dict[str, Any]) -> Any:
        """The levels that a hierarchy gives a column."""
        plan = _plan(folder, text)
        return self._explored(plan).levels(plan, column, tree)

    def leaves(self, folder: str, text: str, column: str, tree: dict[str, Any]) -> Any:
        """A hierarchy as lines of a file."""
        plan = _plan(folder, text)
        return self._explored(plan).leaves(plan, column, tree)

    def reached(self, folder: str, text: str) -> Any:
        """What the raw table reaches of every model, and its risk."""
        counted = self._under(folder, text)
        return {"claims": counted.reached(), "risk": counted.risk(), "unreachable": counted.unreachable()}

    def around(self, folder: str, text: str, levels: dict[str, int]) -> Any:
        """A node of the lattice with its neighbours."""
        return self._under(folder, text).around(levels)

    def sample(self, folder: str, many: int) -> Any:
        """The first rows of a bundle."""
        from sfumato.bundle.manifest import load
        from sfumato.bundle.staging import MANIFEST
        from sfumato.verification.verifying import tables_of

        table = tables_of(Path(folder), load(Path(folder) / MANIFEST))["data"]
        part = table.frame.head(many) if hasattr(table, "frame") else None
        if part is None:
            return {"columns": [], "rows": [], "of": 0}
        rows = [[None if cell is None else str(cell) for cell in row] for row in part.iter_rows()]
        return {"columns": list(part.columns), "rows": rows, "of": table.rows}

    def verify(self, folder: str) -> Any:
        """Whether a bundle is what it says."""
        from sfumato.workflow.checking import verify

        return verify(folder).to_json()

    def attack(self, folder: str, original: str, plan: str | None) -> Any:
        """What adversaries can do with a bundle."""
        from sfumato.report.base.findings import verdicts
        from sfumato.workflow.attacking import attack

        loaded = None if plan is None else Plan.load(plan)
        found = attack(folder, original, plan=loaded, attacks=("all",), trials=1000, work=Work())
        told = [{"attack": one.attack, "threat": one.threat, "who": one.who, "verdict": one.verdict,
                 "chip": one.chip, "broken": one.broken} for one in verdicts(found.findings)]  # fmt: skip
        return {"findings": told, "skipped": dict(found.skipped)}

    def ask(self, folder: str, text: str, sql: str, epsilon: str, analyst: str | None) -> Any:
        """A noisy answer."""
        from sfumato.workflow.querying import query

        answers = query(_plan(folder, text), sql, epsilon=epsilon, analyst=analyst)
        return {"answers": [one.to_json() for one in answers]}


def _plan(folder: str, text: str) -> Plan:
    return Plan.parse(tree_of(text), folder=Path(folder))
