"""``sfumato budget``: what a ledger grants, and what was spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sfumato.cli.output import Json, say, say_json, table
from sfumato.core.errors import ParameterError

if TYPE_CHECKING:
    from sfumato.dp.accounting import Unit
    from sfumato.dp.ledger_file import Account

Place = Annotated[Path, typer.Argument(help="The ledger.", metavar="LEDGER")]


def show(ledger: Place, as_json: Json = False) -> None:
    """Show what everybody may spend and has spent."""
    from sfumato.dp.events import readable
    from sfumato.pipeline.payment import opened

    book = opened(ledger)
    accounts, deltas, witness = book.accounts(), book.deltas(), book.witness
    if as_json:
        more = {"delta": _plain(deltas), "witness": None if witness is None else str(witness)}
        say_json({"unit": book.unit, "accounts": [_plain(account) for account in accounts], **more})
        return
    rows = [
        [account.analyst or "everybody together", *map(readable, (account.granted, account.spent, account.left))]
        for account in accounts
    ]
    table(["analyst", f"granted ({book.unit})", "spent", "left"], rows)
    if deltas.granted:
        granted, spent, left = map(readable, (deltas.granted, deltas.spent, deltas.left))
        say(f"delta: {granted} granted, {spent} spent, {left} left.")
    say("No witness is named: an old copy is noticed by bundles alone." if witness is None else f"Witness: {witness}")


def grant(
    ledger: Place,
    limit: Annotated[str, typer.Argument(help="What may be spent in all: 1, 0.5 or 1/3.")],
    analyst: Annotated[
        str | None, typer.Option("--analyst", help="Whose limit it is; without it, everybody's together.")
    ] = None,
    unit: Annotated[
        str | None, typer.Option("--unit", help="For a new ledger: epsilon (default), or rho for zCDP.")
    ] = None,
    delta: Annotated[
        str | None, typer.Option("--delta", help="The delta that everybody together may spend: 1e-6. Without it, none.")
    ] = None,
    witness: Annotated[
        Path | None, typer.Option("--witness", help="For a new ledger: a second file that exposes an old copy.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Set a limit; a ledger that does not exist yet is made."""
    from sfumato.dp.events import readable
    from sfumato.pipeline.payment import granted as set_limit

    given = set_limit(ledger, limit, analyst=analyst, unit=cast("Unit | None", unit), delta=delta, witness=witness)
    if as_json:
        say_json(_plain(given))
        return
    granted, spent = readable(given.granted), readable(given.spent)
    say(f"{given.analyst or 'everybody together'} may spend {granted}, and has spent {spent}.")


def history(ledger: Place, as_json: Json = False) -> None:
    """Show every charge, oldest first; one that is only reserved was interrupted, and counts all the same."""
    from sfumato.dp.events import readable
    from sfumato.pipeline.payment import opened

    charges = opened(ledger).history()
    if as_json:
        entries = [
            {"id": c.id, "made": c.made, "analyst": c.analyst, "what": c.what, "cost": str(c.cost)}
            | {"event": c.event, "status": c.status}
            for c in charges
        ]
        say_json({"charges": entries})
        return
    table(
        ["number", "made", "analyst", "what", "cost", "status"],
        [[c.id, c.made, c.analyst, c.what, readable(c.cost), c.status] for c in charges],
    )


def check(
    ledger: Place,
    bundles: Annotated[
        list[Path] | None, typer.Option("--bundle", help="A bundle that this ledger paid for; may be given repeatedly.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check that a ledger is whole, and that it holds every event that bundles cite: an old copy of it does not."""
    from sfumato.pipeline.payment import citing, opened, refuse_rolled_back

    book = opened(ledger)
    named = refuse_rolled_back(book, bundles or [], must_cite=True)
    cited = {str(folder): head.event for folder, head in citing(book)} | {str(f): head.event for f, head in named}
    if as_json:
        citations = [{"bundle": name, "event": event} for name, event in cited.items()]
        say_json({**book.head.to_json(), "bundles": citations})
        return
    say(f"{ledger} is whole: {book.head.event} events, each as it was written.")
    for name, event in cited.items():
        say(f"Event {event} paid for {name}.")
    if not cited:
        say("No bundle was found that it paid for; name those that you know with --bundle.")


def witness(
    ledger: Place,
    file: Annotated[Path, typer.Argument(help="The witness: best on another disk, where fewer people may write.")],
    as_json: Json = False,
) -> None:
    """Name the file that always holds the ledger's newest event, so that an old copy of the ledger is noticed."""
    from sfumato.dp.ledger import Ledger
    from sfumato.pipeline.payment import opened

    book = opened(Ledger(ledger, lost_witness=True))
    book.watch(file)
    if as_json:
        say_json({**book.head.to_json(), "witness": str(book.witness)})
        return
    say(f"{book.witness} has seen event {book.head.event} of {ledger}; older copies are refused from now on.")


def bind(
    ledger: Place,
    data: Annotated[Path | None, typer.Option("--input", help="The data file, as it is now.")] = None,
    plan: Annotated[Path | None, typer.Option("--plan", help="The plan that says how the file is read.")] = None,
    as_json: Json = False,
) -> None:
    """Bind a ledger to its table after the table changed; what was spent stays."""
    from sfumato.pipeline.inputs import rows_or_none, whole_file
    from sfumato.pipeline.payment import opened
    from sfumato.pipeline.plan.plan import Plan, with_input

    if data is None and plan is None:
        raise ParameterError("name the table with --input, or a plan that names it with --plan")
    if plan is None:
        mine = whole_file(cast("Path", data))
    else:
        loaded = Plan.load(plan)
        mine = rows_or_none(loaded if data is None else with_input(loaded, data), None)
    book = opened(ledger)
    book.bind(mine)
    if as_json:
        say_json({**book.head.to_json(), "rows": mine.rows})
        return
    say(f"{ledger} is bound to {mine.source} as it is now, {mine.rows:,} rows. What was spent stays spent.")


def backup(
    ledger: Place,
    to: Annotated[Path, typer.Argument(help="The copy.", metavar="FILE")],
    force: Annotated[bool, typer.Option("--force", help="Replace an older backup of the same ledger.")] = False,
    as_json: Json = False,
) -> None:
    """Copy a whole ledger and check the copy; if it is put back later, witness and bundles tell what it lacks."""
    from sfumato.pipeline.payment import opened

    book = opened(ledger)
    book.backup(to, force=force)
    if as_json:
        say_json({**book.head.to_json(), "backup": str(to)})
        return
    say(f"{to} is a whole copy of {ledger}: {book.head.event} events.")


def _plain(account: Account) -> dict[str, Any]:
    return {
        "analyst": account.analyst,
        "granted": str(account.granted),
        "spent": str(account.spent),
        "left": str(account.left),
    }
