"""``sfumato verify``: trust nothing but the bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.show import Json, say, say_json, table
from sfumato.ground.errors import EXIT_REFUTED


def verify(
    folder: Annotated[Path, typer.Argument(help="The bundle.")],
    as_json: Json = False,
) -> None:
    """Re-read a bundle's data file and re-check every claim of its manifest."""
    from sfumato.workflow.checking import verify as check

    found = check(folder)
    if as_json:
        say_json(found.to_json())
    else:
        table(["check", "holds", "found"], [[c.what, "yes" if c.holds else "NO", c.detail] for c in found.checks])
        wrong = [c for c in found.checks if not c.holds]
        say("Recomputed from the files of the bundle: all that the table names.")
        for one in found.stated:
            say(f"Stated, and not recomputed: {one.path} ({one.why}).")
        say(f"{folder}: {'every claim holds' if not wrong else f'{len(wrong)} of {len(found.checks)} checks FAIL'}")
    if not found.holds:
        raise typer.Exit(EXIT_REFUTED)
