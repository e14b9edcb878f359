"""``sfumato report``: a bundle's report as text, as JSON or as a page, in the language of the reader."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.show import Json, say

if TYPE_CHECKING:
    from sfumato.workflow.pages import Form


def report(
    folder: Annotated[Path, typer.Argument(help="The bundle.")],
    language: Annotated[str | None, typer.Option("--language", help="The language: en or de.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write it here: a page (.html), a text (.txt) or .json.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Json = False,
) -> None:
    """Show the report of a bundle that verifies, made again from its bytes."""
    from sfumato.bundle.bundle_files import refuse_file
    from sfumato.bundle.staging import write_whole
    from sfumato.workflow.pages import report_of

    form = _form(output, as_json=as_json)
    if output is not None:
        refuse_file(output, force=force, sources=())
    told = report_of(folder, language=language, form=form)
    if output is None:
        typer.echo(told)
    else:
        write_whole(output, told)
        say(f"{output} is written.")


def _form(output: Path | None, *, as_json: bool) -> Form:
    """By the option, or by how the file's name ends."""
    from sfumato.ground.errors import PlanError

    if output is None or as_json:
        return "json" if as_json else "text"
    forms: dict[str, Form] = {".html": "html", ".txt": "text", ".json": "json"}
    if output.suffix.lower() not in forms:
        raise PlanError(f"--output {output}: the name must end in .html, .txt or .json, so that the form is clear")
    return forms[output.suffix.lower()]
