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
        for one in found.remarks:
            say(f"remark: {one.detail}")
        wrong = [c for c in found.checks if not c.holds]
        say("Recomputed from the files of the bundle: all that the table names.")
        for origin in found.stated:
            say(f"Stated, and not recomputed: {origin.path} ({origin.why}).")
        said = "every claim holds" if not wrong else f"{len(wrong)} of {len(found.checks)} checks FAIL"
        say(f"{folder}: {said}{_remarked(len(found.remarks))}")
    if not found.holds:
        raise typer.Exit(EXIT_REFUTED)


def _remarked(many: int) -> str:
    """What the last line must not leave out: claims can hold where columns single people out."""
    if not many:
        return ""
    return f"; no claim covers the {'remark' if many == 1 else f'{many} remarks'} above"
