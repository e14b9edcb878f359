"""The command ``sfumato``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, NoReturn

import typer

from sfumato.cli import (
    apply,
    attack,
    audit_answers,
    audit_noise,
    budget,
    catalog,
    collect,
    completion,
    demo,
    dimensions,
    find_channels,
    frontier,
    graded_verbs,
    key,
    mine_rules,
    open_studio,
    party,
    profile,
    query,
    release,
    reproduce,
    show_report,
    stream,
    tree,
    verify,
)
from sfumato.cli.help_by_task import ByTask
from sfumato.cli.show import json_text
from sfumato.cli.stopping import STOPPED, ending, stoppable
from sfumato.ground.errors import EXIT_BAD_INPUT, EXIT_INTERRUPTED, Interrupted, SfumatoError, visible
from sfumato.ground.scratch import clear_temporary
from sfumato.version import __version__

NO_MEMORY = (
    "the memory does not suffice; close other programs, raise the limit, use fewer columns, or name an engine "
    '([input] engine = "duckdb")'
)
_UsageError: type[Any] = typer.BadParameter.__mro__[1]
"""What typer raises where a command line is not understood; its options may stand in any of its subclasses."""


def _interruptible(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb, with an interrupt told like any other refusal."""

    @wraps(verb)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            verb(*arguments, **options)
        except KeyboardInterrupt:
            raise Interrupted(STOPPED) from None

    return run


app = typer.Typer(
    cls=ByTask,
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
    show_report.report,
    attack.attack,
    apply.apply,
    frontier.frontier,
    dimensions.dimensions,
    query.query,
    stream.stream,
    audit_answers.audit,
    mine_rules.rules,
    find_channels.channels,
    audit_noise.audit_noise,
    reproduce.reproduce,
    catalog.models,
    catalog.algorithms,
    catalog.metrics,
    catalog.attacks,
    open_studio.studio,
    completion.completion,
):
    app.command()(_interruptible(verb))
ledgers = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Grant and look at privacy budgets.")
for about in (budget.show, budget.grant, budget.history, budget.check, budget.witness, budget.bind, budget.backup):
    ledgers.command()(_interruptible(about))
app.add_typer(ledgers, name="budget")
keys = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Make keys to sign bundles with, and read cards.")
for one in (key.new, key.card):
    keys.command()(_interruptible(one))
app.add_typer(keys, name="key")
collections = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Randomize answers where they are given.")
for stage in (collect.design, collect.privacy, collect.respond, collect.reconstruct):
    collections.command()(_interruptible(stage))
app.add_typer(collections, name="collect")
trees = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Share trees instead of data, and learn from them."
)
for part in (tree.publish, tree.learn, tree.predict, tree.experiment):
    trees.command()(_interruptible(part))
app.add_typer(trees, name="tree")
parties = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Compute together without showing data.")
for act in (party.init, party.card, party.show, party.run, party.demo):
    parties.command()(_interruptible(act))
app.add_typer(parties, name="party")

graded = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Codes and aliases for an untrusted miner.")
for step in (graded_verbs.new, graded_verbs.show, graded_verbs.apply, graded_verbs.join, graded_verbs.interpret):
    graded.command()(_interruptible(step))
app.add_typer(graded, name="graded")


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
        with stoppable():
            clear_temporary()
            code = app(standalone_mode=False)
            if code == EXIT_INTERRUPTED:  # stopped before a command had begun
                raise Interrupted(STOPPED)
        sys.exit(code or 0)
    except SfumatoError as error:
        _refuse(str(error), error.exit_code)
    except KeyboardInterrupt:
        _refuse(STOPPED, EXIT_INTERRUPTED)
    except _UsageError as error:
        if "--json" not in sys.argv:
            error.show()
            sys.exit(EXIT_BAD_INPUT)
        _refuse(error.format_message() or "no command was named", EXIT_BAD_INPUT)
    except MemoryError:
        _refuse(NO_MEMORY, EXIT_BAD_INPUT)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(EXIT_BAD_INPUT)


def _refuse(message: str, code: int) -> NoReturn:
    message = " ".join(message.splitlines())  # what a library says may have several lines
    if code == EXIT_INTERRUPTED:
        ending()
    if "--json" in sys.argv:
        typer.echo(json_text({"error": message, "exit_code": code}))
    else:
        typer.echo(visible(f"sfumato: {message}"), err=True)
    sys.exit(code)
