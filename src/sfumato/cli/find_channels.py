"""``sfumato channels``: groups of few people whose number follows from published documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.show import Json, say, say_json, table
from sfumato.ground.errors import EXIT_REFUTED

if TYPE_CHECKING:
    from sfumato.workflow.pattern_publishing import Looked


def channels(
    documents: Annotated[
        list[Path],
        typer.Argument(help="Documents of patterns, trees or rules, or bundles of trees; all about the same people."),
    ],
    k: Annotated[
        int | None,
        typer.Option("--k", help="The fewest people of a group that may follow; by default as the patterns claim."),
    ] = None,
    classes: Annotated[
        bool, typer.Option("--classes", help="Of trees and rules: look for people of one class too.")
    ] = False,
    top: Annotated[int, typer.Option("--top", help="How many groups are shown.")] = 20,
    as_json: Json = False,
) -> None:
    """Find groups of fewer than k people whose number follows from published counts; exit code 1 if there are any."""
    from dataclasses import asdict

    from sfumato.ground.arguments import at_least
    from sfumato.workflow.pattern_publishing import channels as look

    at_least("--top", top, 0)
    if k is not None:
        at_least("--k", k, 2)
    found = look(documents, k, classes=classes)
    if as_json:
        say_json({**asdict(found), "groups": [asdict(one) for one in found.groups[:top]]})
    else:
        say_looked(found, top=top)
    if found.many:
        raise typer.Exit(EXIT_REFUTED)


def say_looked(found: Looked, *, top: int) -> None:
    """Tell which groups of few people follow, and what was looked at."""
    if found.groups:
        table(["people", "who"], [[f"{one.people:,}", one.group] for one in found.groups[:top]])
    more = f" The first {top} are shown." if len(found.groups) > top else ""
    what = "1 document" if found.documents == 1 else f"{found.documents} documents together"
    groups = "No group" if not found.many else "1 group" if found.many == 1 else f"{found.many:,} groups"
    say(f"{groups} of 1 to {found.k - 1} people can be told from {what}.{more}")
    say(f"{found.reach[0].upper()}{found.reach[1:]}.")
