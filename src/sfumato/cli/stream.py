"""``sfumato stream``: condensation of data that never ends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import Json, say, say_json, watched

if TYPE_CHECKING:
    from sfumato.pipeline.plan.plan import Plan
    from sfumato.pipeline.streams import Told


Input = Annotated[str | None, typer.Option("--input", help="A CSV file that may grow, or - for standard input.")]
Finish = Annotated[
    bool | None,
    typer.Option(
        "--finish/--no-finish",
        help="Whether the stream ends with its last line; by default standard input does, and a file does not.",
    ),
]
After = Annotated[int, typer.Option("--after", help="Standard input begins after this acknowledged record.", min=0)]
Set = Annotated[list[str] | None, typer.Option("--set", help="Change a key of the plan: --set stream.batch=20000")]
Sign = Annotated[Path | None, typer.Option("--sign", help="Sign every batch with this key (`sfumato key new`).")]


def stream(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file.")],
    data: Input = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder of the batches.")] = Path("stream"),
    follow: Annotated[bool, typer.Option("--follow", help="Wait for more at the end of the file.")] = False,
    finish: Finish = None,
    after: After = 0,
    status: Annotated[bool, typer.Option("--status", help="Only show how far the stream is.")] = False,
    changes: Set = None,
    sign: Sign = None,
    as_json: Json = False,
) -> None:
    """Condense records as they come: batches of drawn records, each a verified bundle; it goes on where it stopped."""
    from sfumato.core.errors import PlanError
    from sfumato.pipeline.plan.plan import Plan
    from sfumato.pipeline.streams import run_stream, state_of, stream_status

    loaded = Plan.load(plan, changes or [])
    if status:
        _show(stream_status(loaded, output), output, as_json=as_json)
        return
    source = data or loaded.input.path
    if source is None:
        raise PlanError("input.path is missing; name the file in the plan or with --input, or say --input -")
    if follow and (finish or source == "-"):
        raise PlanError("--follow waits for more lines of a file; it goes with neither --finish nor standard input")
    if after and source != "-":
        raise PlanError("--after is for standard input; how far a file was read is known")
    ends = source == "-" if finish is None else finish
    place = None if source == "-" else _place(loaded, source, typed=data is not None)
    with watched(quiet=as_json) as work:
        summary = run_stream(loaded, place, output, follow=follow, finish=ends, after=after, sign=sign, work=work)
    _show(summary, output, as_json=as_json)
    if not as_json:
        say(f"What is kept between runs is private and lies in {state_of(loaded, output)}.")


def _place(plan: Plan, source: str, *, typed: bool) -> Path:
    """A file that was typed lies where the person is, one that the plan names beside the plan."""
    return Path(source) if typed else plan.folder / source


def _show(summary: Told, output: Path, *, as_json: bool) -> None:
    figures = summary.to_json()
    if as_json:
        say_json({"output": str(output), **figures})
        return
    left = f", {figures['dropped']:,} of them left out because of missing values" if figures["dropped"] else ""
    say(f"{output}: {figures['records']:,} records read and acknowledged{left}.")
    say(f"Published: {figures['published']:,} records in {figures['batches']:,} batches.")
    if figures["finished"]:
        say(f"The stream has ended. Never published, because no group had enough: {figures['withheld']:,} records.")
        return
    many = figures["waiting_groups"]
    groups = "1 group" if many == 1 else f"{many:,} groups"
    say(f"Waiting for a later batch: {figures['waiting']:,} records in {groups}.")
    if figures["unread"]:
        again = "send them again" if figures["source"] == "standard input" else "they are read next time"
        say(f"Not read yet, because they make up no whole block: {figures['unread']:,} lines; {again}.")
