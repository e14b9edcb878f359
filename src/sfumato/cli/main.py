"""The command ``sfumato``."""

from __future__ import annotations

import json
import sys
from typing import Annotated, NoReturn

import typer
from click import ClickException

from sfumato.cli import catalog, demo, profile, release, verify
from sfumato.ground.errors import EXIT_BAD_INPUT, EXIT_DONE, EXIT_INTERRUPTED, SfumatoError
from sfumato.version import __version__

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Publish data about people: verified, measured, explained.",
)
for verb in (
    demo.demo,
    profile.profile,
    release.release,
    verify.verify,
    catalog.models,
    catalog.algorithms,
    catalog.metrics,
):
    app.command()(verb)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"sfumato {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Publish data about people: verified, measured, explained."""


def main() -> None:
    """Run a command; every refusal is one message and an exit code."""
    try:
        code = app(standalone_mode=False)
    except SfumatoError as error:
        _refuse(str(error), error.exit_code)
    except ClickException as error:
        _misused(error)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(EXIT_BAD_INPUT)
    if code == EXIT_INTERRUPTED:
        _refuse("interrupted; nothing was left half-written", EXIT_INTERRUPTED)
    sys.exit(code or EXIT_DONE)


def _misused(error: ClickException) -> NoReturn:
    if "--json" in sys.argv:
        _refuse(error.format_message(), EXIT_BAD_INPUT)
    error.show()
    sys.exit(EXIT_BAD_INPUT)


def _refuse(message: str, code: int) -> NoReturn:
    if "--json" in sys.argv:
        typer.echo(json.dumps({"error": message, "exit_code": code}, ensure_ascii=False))
    else:
        typer.echo(f"sfumato: {message}", err=True)
    sys.exit(code)
