"""What the children of a warm process do: the command line, with everything imported before."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import Any

import sfumato

for info in pkgutil.walk_packages(sfumato.__path__, "sfumato."):
    if ".testing" not in info.name and "__main__" not in info.name:
        importlib.import_module(info.name)
for name in ("numba", "opendp.prelude"):
    importlib.import_module(name)
for context in ("typing_context", "target_context"):  # what numba does before its first kernel; it takes a second
    getattr(importlib.import_module("numba.core.registry").cpu_target, context).refresh()


def cli(*arguments: str) -> None:
    """The command ``sfumato``."""
    from sfumato.cli.main import main

    sys.argv = ["sfumato", *arguments]
    main()


def without_pictures(*arguments: str) -> None:
    """The command, with a page instead of a report: drawing takes most of the time, and writes nothing."""
    from sfumato.pipeline.methods.private import method
    from sfumato.reports import frontier, table

    def page(facts: Any, work: Any = None) -> str:
        return '<meta name="generator" content="sfumato test">'

    for module in (table, method, frontier):
        module.render = page  # type: ignore[attr-defined]
    cli(*arguments)
