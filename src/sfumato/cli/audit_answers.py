"""``sfumato audit``: whom a history of exact answers compromised."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.show import Input, Json, say, say_json, table
from sfumato.ground.errors import EXIT_REFUTED

if TYPE_CHECKING:
    from sfumato.queries.exact.hindsight import Compromise


def audit(
    log: Annotated[
        Path, typer.Argument(help="The log of exact answers, or a text with one answered statement a line.")
    ],
    plan: Annotated[Path, typer.Argument(help="The plan: its [audit] says which columns are looked at, and k.")],
    data: Input = None,
    as_json: Json = False,
) -> None:
    """Tell whom a history of exact answers compromised, and from which question on; exit code 1 if anybody."""
    from dataclasses import asdict

    from sfumato.workflow.exact_answers import look_back
    from sfumato.workflow.plan.plan import Plan, with_input

    loaded = Plan.load(plan)
    found = look_back(loaded if data is None else with_input(loaded, data), log)
    many = sum(len(one.found) for one in found)
    if as_json:
        say_json({"audited": [asdict(one) for one in found], "compromised": many})
    for one in () if as_json else found:
        whom = f" told to {', '.join(one.group)}" if one.group else ""
        say(f"{one.column}: {one.questions:,} questions{whom}, {len(one.found):,} compromises.")
        if one.found:
            rows = [[", ".join(map(str, each.rows)), _what(each), each.number, each.sql] for each in one.found]
            table(["row", "what is known", "from question", "which is"], rows)
        if one.undecided is not None:
            say(f"From question {one.undecided} on, more may be known: there are too many cases to try.")
    if many:
        raise typer.Exit(EXIT_REFUTED)


def _what(one: Compromise) -> str:
    return one.what if one.low is None else f"between {one.low:.6g} and {one.high:.6g}"
