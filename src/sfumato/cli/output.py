"""Tables, progress and JSON on a terminal or in a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.core.errors import STEERING, visible

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from sfumato.core.run_context import Work

WIDTH = 80
"""Columns of a table where nobody says how wide the terminal is."""

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

Input = Annotated[Path | None, typer.Option("--input", help="The data file, instead of the plan's.")]
Changes = Annotated[
    list[str] | None, typer.Option("--set", help="Change a key of the plan: --set privacy.k_anonymity=10")
]
Inside = Annotated[
    Path | None, typer.Option("--inside", help="Where the steward's own report goes; beside the bundle by default.")
]
Sign = Annotated[Path | None, typer.Option("--sign", help="Sign the bundle with this key (`sfumato key new`).")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing bundle.")]

Escape = Annotated[
    bool,
    typer.Option("--escape-formulas", help="Write an apostrophe before texts that a spreadsheet would run."),
]


def say(text: str = "") -> None:
    """One line for a person."""
    typer.echo(visible(text))


def say_json(content: Any) -> None:
    """One JSON object on standard output."""
    typer.echo(json_text(content, indent=2))


def json_text(content: Any, *, indent: int | None = None) -> str:
    """One JSON object as text, with control characters as JSON escapes them."""
    return STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(content, ensure_ascii=False, indent=indent))


def table(headers: Sequence[str], rows: Sequence[Sequence[object]], *, title: str = "") -> None:
    """A table that fits the terminal, and 80 columns in a pipe."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rich_table = Table(
        title=Text(visible(title)) if title else None, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False
    )
    for header in headers:
        rich_table.add_column(Text(visible(header)), overflow="fold")
    for row in rows:
        rich_table.add_row(*(Text(visible(str(cell))) for cell in row))
    Console(width=None if sys.stdout.isatty() else WIDTH).print(rich_table)


@contextmanager
def watched(*, quiet: bool = False) -> Iterator[Work]:
    """Work with a progress bar on a terminal, and without one in a pipe."""
    from sfumato.core.run_context import Work

    if quiet or not sys.stderr.isatty():
        yield Work() if quiet else Work(notice=warn)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield Work(
            progress=_Bars(bar), notice=lambda note: bar.console.print(visible(f"warning: {note}"), markup=False)
        )


def warn(note: str) -> None:
    """One warning for a person, beside what was asked for."""
    typer.echo(visible(f"warning: {note}"), err=True)


class _Bars:
    """One bar per stage."""

    def __init__(self, bar: Bar) -> None:
        self.bar = bar
        self.tasks: dict[str, Any] = {}

    def advance(self, stage: str, done: int, total: int) -> None:
        """Move the stage's bar."""
        if stage not in self.tasks:
            self.tasks[stage] = self.bar.add_task(stage, total=total)
        self.bar.update(self.tasks[stage], completed=done, total=total)
