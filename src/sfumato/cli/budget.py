"""``sfumato budget``: what a ledger grants, and what was spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sfumato.cli.show import Json, say, say_json, table
from sfumato.ground.errors import ParameterError

if TYPE_CHECKING:
    from sfumato.budget.accounts import Account
    from sfumato.budget.ledger import Unit

Place = Annotated[Path, typer.Argument(help="The ledger.", metavar="LEDGER")]


def show(ledger: Place, as_json: Json = False) -> None:
    """Show what everybody may spend and has spent."""
    from sfumato.workflow.paying import opened

    book = opened(ledger)
    accounts = book.accounts()
    if as_json:
        say_json({"unit": book.unit, "accounts": [_plain(one) for one in accounts]})
        return
    rows = [[one.analyst or "everybody together", one.granted, one.spent, one.left] for one in accounts]
    table(["analyst", f"granted ({book.unit})", "spent", "left"], rows)


def grant(
    ledger: Place,
    limit: Annotated[str, typer.Argument(help="What may be spent in all: 1, 0.5 or 1/3.")],
    analyst: Annotated[
        str | None, typer.Option("--analyst", help="Whose limit it is; without it, everybody's together.")
    ] = None,
    unit: Annotated[
        str | None, typer.Option("--unit", help="For a new ledger: epsilon (default), or rho for zCDP.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Set a limit; a ledger that does not exist yet is made."""
    from sfumato.budget.ledger import Ledger
    from sfumato.workflow.paying import opened

    if ledger.exists():
        if unit is not None:
            raise ParameterError(f"--unit is chosen when a ledger is made; {ledger} exists already")
        given = opened(ledger).grant(analyst, limit)
    elif analyst is not None:
        raise ParameterError(f"{ledger} does not exist; first grant a limit for everybody together, without --analyst")
    else:
        made = Ledger.create(ledger, total=limit, unit=cast("Unit", unit or "epsilon"))
        given = made.accounts()[0]
    if as_json:
        say_json(_plain(given))
        return
    say(f"{given.analyst or 'everybody together'} may spend {given.granted}, and has spent {given.spent}.")


def history(ledger: Place, as_json: Json = False) -> None:
    """Show every charge, oldest first; one that is only reserved was interrupted, and counts all the same."""
    from sfumato.workflow.paying import opened

    charges = opened(ledger).history()
    if as_json:
        shown = [
            {"id": c.id, "made": c.made, "analyst": c.analyst, "what": c.what, "cost": str(c.cost)}
            | {"event": c.event, "status": c.status}
            for c in charges
        ]
        say_json({"charges": shown})
        return
    table(
        ["number", "made", "analyst", "what", "cost", "status"],
        [[c.id, c.made, c.analyst, c.what, c.cost, c.status] for c in charges],
    )


def check(
    ledger: Place,
    bundles: Annotated[
        list[Path] | None, typer.Option("--bundle", help="A bundle that this ledger paid for; may be given repeatedly.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check that a ledger is whole, and that it holds every event that bundles cite: an old copy of it does not."""
    from sfumato.workflow.paying import citing, opened, refuse_rolled_back

    book = opened(ledger)
    named = refuse_rolled_back(book, bundles or [], must_cite=True)
    cited = {str(folder): head.event for folder, head in citing(book)} | {str(f): head.event for f, head in named}
    if as_json:
        found = [{"bundle": name, "event": event} for name, event in cited.items()]
        say_json({**book.head.to_json(), "bundles": found})
        return
    say(f"{ledger} is whole: {book.head.event} events, each as it was written.")
    if cited:
        table(["bundle", "paid by event"], [[name, event] for name, event in cited.items()])
    else:
        say("No bundle was found that it paid for; name those that you know with --bundle.")


def _plain(one: Account) -> dict[str, Any]:
    return {"analyst": one.analyst, "granted": str(one.granted), "spent": str(one.spent), "left": str(one.left)}
