"""A process that has imported everything and forks a child for every job: seconds become milliseconds.

It never uses the engines itself: their threads would not survive a fork. Jobs come as lines of JSON, and so go the
answers; ``Warm`` is the other end.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from tests.crash.striking import Striker

ROOT = Path(__file__).parents[2]


class Warm:
    """The other end: gives jobs to a warm process."""

    def __init__(self, *modules: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.warm", *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "POLARS_MAX_THREADS": "1"},
        )

    def run(self, job: str, folder: Path, *arguments: Any, **more: Any) -> dict[str, Any]:
        """Run a job in a child in a folder; ``at`` and ``blow`` strike at a step, ``after`` seconds at a moment."""
        told = {"job": job, "folder": str(folder), "arguments": list(map(str, arguments)), **more}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(told) + "\n")
        self.process.stdin.flush()
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=60)
        assert self.process.stdout is not None
        self.process.stdout.close()


def serve() -> None:
    """Take jobs until the line is closed; all modules are imported before."""
    for module in sys.argv[1:]:
        importlib.import_module(module)
    gc.freeze()  # a collection in a child would copy every page
    for line in sys.stdin:
        told = json.loads(line)
        ready = os.pipe()
        child = os.fork()
        if child == 0:
            _work(told, ready[1])
        os.close(ready[1])
        os.read(ready[0], 1)
        os.close(ready[0])
        sys.stdout.write(json.dumps(_waited(child, told)) + "\n")
        sys.stdout.flush()


def _waited(child: int, told: dict[str, Any]) -> dict[str, Any]:
    began = time.monotonic()
    if "after" in told:
        time.sleep(told["after"])
        os.kill(child, {"kill": signal.SIGKILL, "int": signal.SIGINT, "term": signal.SIGTERM}[told["blow"]])
    _, status = os.waitpid(child, 0)
    folder = Path(told["folder"])
    texts = {name: (folder / f".{name}").read_text(errors="replace") for name in ("out", "err")}
    texts["steps"] = (folder / ".steps").read_text() if (folder / ".steps").exists() else ""
    for name in ("out", "err", "steps"):
        (folder / f".{name}").unlink(missing_ok=True)
    return {"code": os.waitstatus_to_exitcode(status), "seconds": time.monotonic() - began, **texts}


def _work(told: dict[str, Any], ready: int) -> None:
    """The child: its output goes to files, its end is its exit code."""
    code: Any = 99
    try:
        os.chdir(told["folder"])
        for name, number in ((".out", 1), (".err", 2)):
            handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(handle, number)
            os.close(handle)
        module, _, name = told["job"].partition(":")
        job = getattr(importlib.import_module(module), name)
        striker = Striker(told.get("at"), told.get("blow", ""))
        tempfile.tempdir = told.get("temporary")
        striker.install(exchange=told.get("exchange", True))
        os.close(ready)
        try:
            job(*told["arguments"])
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        finally:
            with os.fdopen(os.open(".steps", os.O_WRONLY | os.O_CREAT), "w") as file:
                file.write(str(striker.steps))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()
