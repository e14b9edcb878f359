"""The command `sfumato`: all verbs, help by task, shell completion, and stopping on request."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from types import FrameType
from typing import Annotated, Any, Literal, NoReturn

import typer
from typer.core import TyperGroup

from sfumato.cli.output import json_text
from sfumato.core.errors import EXIT_BAD_INPUT, EXIT_INTERRUPTED, Interrupted, SfumatoError, visible
from sfumato.core.run_context import STOPS
from sfumato.core.scratch import clear_temporary, close_all
from sfumato.version import __version__

# The help of ``sfumato``: commands grouped by task, each with its whole first sentence.


TASKS: Mapping[str, tuple[str, ...]] = {
    "Start": ("demo", "studio", "profile"),
    "Publish and check": ("release", "verify", "report", "attack", "apply", "frontier", "dimensions", "key"),
    "Publish without rows": ("tree", "rules", "channels", "stream"),
    "Answer questions under a budget": ("query", "budget", "audit", "audit-noise"),
    "Collect randomized answers": ("collect",),
    "Work with other organisations": ("party", "graded"),
    "Look things up": ("models", "algorithms", "metrics", "attacks", "schema", "reproduce", "completion"),
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


# A command that is asked to stop does stop, wherever the request finds it.


STOPPED = "interrupted; nothing was left half-written"
_AGAIN = 0.02
"""Seconds after which a request that compiled code has dropped is made again."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Requests to end (SIGINT, SIGTERM, SIGHUP) become ``Interrupted``; ignored signals stay ignored.

    A request may arrive while compiled code (Polars, PyArrow) calls Python. Such code drops the interrupt or turns it
    into an error of its own: a dropped request is made again, and an error after a request counts as the stop.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    timers: list[threading.Timer] = []

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        heard.append(number)
        raise KeyboardInterrupt

    def again() -> None:
        if sys.unraisablehook is dropped:  # the command still runs
            _thread.interrupt_main()

    def dropped(unraisable: Any) -> None:
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            timers.append(threading.Timer(_AGAIN, again))
            timers[-1].start()
        else:
            hook(unraisable)

    ours = (signal.SIG_DFL, signal.default_int_handler)
    before = {number: handler for number in STOPS if (handler := signal.getsignal(number)) in ours}
    hook, sys.unraisablehook = sys.unraisablehook, dropped
    for number in before:
        signal.signal(number, stop)
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(STOPPED) from None
    except Exception:
        if not heard:
            raise
        raise Interrupted(STOPPED) from None
    finally:
        for number in before:  # a request that is made again just now must not reach what comes after the command
            signal.signal(number, _unheard)
        sys.unraisablehook = hook
        for timer in timers:
            timer.cancel()
            timer.join()
        close_all()
        for number, handler in before.items():
            signal.signal(number, handler)


def ending() -> None:
    """The program is about to end and has said how: whoever asks it to stop once more changes nothing.

    An interrupt that found code which compiled packages run from a text leaves a note in CPython, by which the process
    would end as if by SIGINT, whatever it returns. Running nothing in the same way takes the note away.
    """
    import ctypes

    ctypes.pythonapi.PyRun_SimpleString(b"")
    if threading.current_thread() is threading.main_thread():
        for number in STOPS:
            signal.signal(number, _unheard)


def _unheard(number: int, frame: FrameType | None) -> None:
    """The command is over already."""


# ``sfumato completion``: what a shell runs so that the Tab key completes commands and options.


PARTS = {
    "complete_func": "_sfumato_completion",
    "complete_var": "_SFUMATO_COMPLETE",
    "prog_name": "sfumato",
}
"""What the scripts are filled in with."""


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="The shell: bash, zsh or fish.")],
) -> None:
    """Print a script that completes commands and options: `source <(sfumato completion bash)`."""
    from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete
    from typer.main import get_command

    completions: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
    script = completions[shell](get_command(_whole()), {}, "sfumato", PARTS["complete_var"]).source_template % PARTS
    typer.echo(script.replace(f"={shell}_complete", f"=complete_{shell}").strip())


# The command ``sfumato``.


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


def _verb(name: str) -> Callable[..., None]:  # noqa: PLR0912  one for each command
    """The function of a command; its module is imported when the command is needed."""
    verb: Any
    match name:
        case "demo":
            from sfumato.cli.tour import demo as verb
        case "profile":
            from sfumato.cli.profile import profile as verb
        case "release":
            from sfumato.cli.release import release as verb
        case "verify":
            from sfumato.cli.verify import verify as verb
        case "report":
            from sfumato.cli.verify import report as verb
        case "attack":
            from sfumato.cli.attack import attack as verb
        case "apply":
            from sfumato.cli.release import apply as verb
        case "frontier":
            from sfumato.cli.frontier import frontier as verb
        case "dimensions":
            from sfumato.cli.profile import dimensions as verb
        case "query":
            from sfumato.cli.query import query as verb
        case "stream":
            from sfumato.cli.stream import stream as verb
        case "audit":
            from sfumato.cli.query import audit as verb
        case "rules":
            from sfumato.cli.rules import rules as verb
        case "channels":
            from sfumato.cli.rules import channels as verb
        case "audit-noise":
            from sfumato.cli.attack import audit_noise as verb
        case "reproduce":
            from sfumato.cli.reproduce import reproduce as verb
        case "models":
            from sfumato.cli.tour import models as verb
        case "algorithms":
            from sfumato.cli.tour import algorithms as verb
        case "metrics":
            from sfumato.cli.tour import metrics as verb
        case "attacks":
            from sfumato.cli.tour import attacks as verb
        case "schema":
            from sfumato.cli.tour import schema as verb
        case "studio":
            from sfumato.cli.tour import studio as verb
        case _:
            verb = completion
    return _interruptible(verb)


def _group(name: str) -> tuple[str, tuple[Callable[..., None], ...]]:
    """What a group of commands is for, and its functions."""
    match name:
        case "budget":
            from sfumato.cli import budget

            verbs = (
                budget.show,
                budget.grant,
                budget.history,
                budget.check,
                budget.witness,
                budget.bind,
                budget.backup,
            )
            return "Grant and look at privacy budgets.", verbs
        case "key":
            from sfumato.cli import release

            return "Make keys to sign bundles with, and read cards.", (release.new, release.card)
        case "collect":
            from sfumato.cli import collect

            return "Randomize answers where they are given.", (
                collect.design,
                collect.privacy,
                collect.respond,
                collect.reconstruct,
            )
        case "tree":
            from sfumato.cli import tree

            return "Share trees instead of data, and learn from them.", (
                tree.publish,
                tree.learn,
                tree.predict,
                tree.experiment,
            )
        case "party":
            from sfumato.cli import party

            return "Compute together without showing data.", (
                party.init,
                party.card,
                party.show,
                party.run,
                party.demo,
            )
        case _:
            from sfumato.cli import graded

            return "Codes and aliases for an untrusted miner.", (
                graded.new,
                graded.show,
                graded.apply,
                graded.join,
                graded.interpret,
            )


VERBS = (
    "demo",
    "profile",
    "release",
    "verify",
    "report",
    "attack",
    "apply",
    "frontier",
    "dimensions",
    "query",
    "stream",
    "audit",
    "rules",
    "channels",
    "audit-noise",
    "reproduce",
    "models",
    "algorithms",
    "metrics",
    "attacks",
    "schema",
    "studio",
    "completion",
)
GROUPS = ("budget", "key", "collect", "tree", "party", "graded")


def _version(value: bool) -> None:
    if value:
        typer.echo(f"sfumato {__version__}")
        raise typer.Exit


def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Publish data about people: verified, measured, explained."""


def application(names: Sequence[str] = (*VERBS, *GROUPS)) -> typer.Typer:
    """The command, with some of its commands or all: only the modules of these are imported."""
    command = typer.Typer(
        cls=ByTask,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        help="Publish data about people: verified, measured, explained.",
    )
    command.callback()(root)
    for name in names:
        if name in VERBS:
            command.command(name)(_verb(name))
            continue
        about, verbs = _group(name)
        group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=about)
        for verb in verbs:
            group.command()(_interruptible(verb))
        command.add_typer(group, name=name)
    return command


@cache
def _whole() -> typer.Typer:
    return application()


def __getattr__(name: str) -> Any:
    """The whole command as ``app``, for whoever looks at all commands."""
    if name == "app":
        return _whole()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> None:
    """Run a command; every refusal is one message and an exit code."""
    try:
        with stoppable():
            clear_temporary()
            named = [word for word in sys.argv[1:2] if word in (*VERBS, *GROUPS)]
            code = (application(named) if named else _whole())(standalone_mode=False)
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
