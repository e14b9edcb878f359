"""The help of ``sfumato``: commands grouped by task, each with its whole first sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typer.core import TyperGroup

TASKS: Mapping[str, tuple[str, ...]] = {
    "Start": ("demo", "studio", "profile"),
    "Publish and check": ("release", "verify", "report", "attack", "apply", "frontier", "dimensions", "key"),
    "Publish without rows": ("tree", "rules", "channels", "stream"),
    "Answer questions under a budget": ("query", "budget", "audit", "audit-noise"),
    "Collect randomized answers": ("collect",),
    "Work with other organisations": ("party", "graded"),
    "Look things up": ("models", "algorithms", "metrics", "attacks", "reproduce", "completion"),
}
"""Which commands serve which task; a command that stands nowhere is listed last."""


class ByTask(TyperGroup):
    """A group of commands whose help names tasks."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write every task with its commands."""
        known = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        listed = {name for names in TASKS.values() for name in names}
        rest = tuple(name for name in known if name not in listed)
        for task, names in {**TASKS, "More": rest}.items():
            rows = [(name, _first_sentence(known[name])) for name in names if known.get(name) is not None]
            if rows:
                with formatter.section(task):
                    formatter.write_dl(rows, col_max=14)


def _first_sentence(command: Any) -> str:
    text = " ".join((command.help or "").split())
    return text.partition(". ")[0].rstrip(".") + "."
