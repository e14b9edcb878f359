"""The command line in the same process: one message, a known exit code, and nothing that steers a terminal."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path

from sfumato.cli.main import main
from sfumato.core.errors import BundleError

STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]")


class Fault(Exception):
    """What a command must not do."""


def run(*words: str) -> tuple[int, str, str]:
    """The exit code of a command, and what it says on both ways out."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    code: object = 0
    sys.argv = ["sfumato", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = before
    said = out.getvalue() + err.getvalue()
    if code not in (0, 1, 2, 3, None):
        raise Fault(f"{words} ended with {code!r}")
    if found := STEERS.search(said):
        raise Fault(f"{words} printed {found[0]!r}")
    if code == 2 and len(err.getvalue().strip().splitlines()) != 1 and "--json" not in words:
        raise Fault(f"{words} refused with more than one message: {err.getvalue()!r}")
    return int(code or 0), out.getvalue(), err.getvalue()  # type: ignore[call-overload]


def run_bundle(folder: Path) -> None:
    """Verify, as a person and as a program would."""
    code, _, said = run("verify", str(folder))
    again, _, _ = run("verify", str(folder), "--json")
    if code != again:
        raise Fault(f"verify ends with {code}, with --json {again}")
    if code == 2:
        raise BundleError(said)
