"""One release in a process of its own. It ends when the studio ends, however that ends."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from sfumato.bundle.bundle_files import MANIFEST
from sfumato.bundle.manifest import load
from sfumato.ground.errors import EXIT_REFUTED, SfumatoError
from sfumato.ground.work import Work
from sfumato.studio.confined_plan import confined_plan
from sfumato.studio.plan_text import revision
from sfumato.studio.project_store import BEGUN, PICTURES, PLAN, RESULT, RUNS

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
    from sfumato.workflow.walk import release

    text = (folder / PLAN).read_text(encoding="utf-8")
    notes: list[str] = []

    def notice(note: str) -> None:
        notes.append(note)
        tell({"event": "note", "text": note})

    work = Work(progress=_Told(tell), notice=notice)
    made = release(confined_plan(folder, text), work=work)
    begun, place = folder / RUNS / f"{BEGUN}{number:04d}", folder / RUNS / f"{number:04d}"
    shutil.rmtree(begun, ignore_errors=True)
    begun.mkdir(parents=True)
    inside = begun / "inside.html" if made.kind.inside_page is not None else None
    checked = made.write(begun / "release", inside=inside, work=work)
    (begun / PLAN).write_text(text, encoding="utf-8")
    promises = [list(one) for one in made.kind.promises(load(begun / "release" / MANIFEST))]
    result = {
        **_told(made),
        "promises": promises,
        "verified": checked.holds,
        "notes": notes,
        "revision": revision(text),
    }
    _dump(begun / PICTURES, asdict(made.kind.drawn(made)))
    _dump(begun / RESULT, result)
    begun.replace(place)


def _told(made: Any) -> dict[str, Any]:
    """What a page tells about a release."""
    from sfumato.report.base.findings import verdicts

    told = made.kind.summary(made)
    attacks = [
        {"attack": one.attack, "chip": one.chip, "broken": one.broken, "verdict": one.verdict, "who": one.who}
        for one in verdicts(made.audit.findings)
    ]
    return {
        "inside": made.kind.inside_page is not None,
        "heads": list(told.heads),
        "cells": [[one if isinstance(one, int | float) else str(one) for one in row] for row in told.cells],
        "algorithm": made.algorithm,
        "why": made.why,
        "metric": made.plan.metric,
        "rows": made.height,
        "lines": list(told.lines),
        "changes": [list(one) for one in told.changes],
        "attacks": attacks,
        **made.kind.figures(made),
    }


def _dump(place: Path, value: Any) -> None:
    place.write_text(json.dumps(value, ensure_ascii=False, default=str), encoding="utf-8")
