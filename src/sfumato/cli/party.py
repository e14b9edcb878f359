"""``sfumato party``: several organisations compute one result, and none of them shows its data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import Json, say, say_json, table

if TYPE_CHECKING:
    from sfumato.parties.protocols import JointResult
    from sfumato.pipeline.joint.demo import Seen
    from sfumato.pipeline.joint.session import Asked, Taking

SessionFile = Annotated[Path, typer.Argument(help="The session file, in TOML.", metavar="SESSION")]
_MOST = 40
"""So many rows of a result are printed."""


def init(
    name: Annotated[str, typer.Argument(help="What the party is called in sessions.")],
    address: Annotated[
        str, typer.Option("--address", help="Where the others reach this party: HOST:PORT.")
    ] = "127.0.0.1:7400",
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder for NAME.key and NAME.card.")] = Path("."),
    as_json: Json = False,
) -> None:
    """Make a party's key and certificate, and the card to hand to the others."""
    from sfumato.parties.network.certificates import Address, PartyKey

    party_key = PartyKey.new(name, Address.parse(address, what="--address"))
    key, card = party_key.write(output)
    if as_json:
        say_json({"key": str(key), "card": str(card), "fingerprint": party_key.card.fingerprint, "address": address})
        return
    say(f"{key} is the key of {name}: it stays here, readable by you only.")
    say(f"{card} is the card, with the address {party_key.card.address}: hand it to the other parties.")
    say(f"Its fingerprint, to be compared over the telephone: {party_key.card.fingerprint}")


def card(path: Annotated[Path, typer.Argument(help="The card.")], as_json: Json = False) -> None:
    """Show who a party's card is about, and the fingerprint to compare."""
    from sfumato.parties.network.certificates import PartyCard

    party_card = PartyCard.load(path)
    until = f"{party_card.ends:%Y-%m-%d}"
    if as_json:
        content = {
            "name": party_card.name,
            "address": str(party_card.address),
            "fingerprint": party_card.fingerprint,
            "until": until,
        }
        say_json(content)
        return
    say(f"{party_card.name} at {party_card.address}, good until {until}")
    say(party_card.fingerprint)


def show(path: SessionFile, as_json: Json = False) -> None:
    """Show what a session will tell whom; nobody is called."""
    from sfumato.pipeline.joint.session import asked_by

    request = asked_by(path)
    if as_json:
        say_json(request.to_json())
        return
    _show(request)


def run(
    path: SessionFile,
    name: Annotated[str, typer.Option("--as", help="Which of the parties you are.")],
    data: Annotated[Path, typer.Option("--input", help="Your own data file; it stays here.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder for the result.")] = Path("joint"),
    key: Annotated[Path | None, typer.Option("--key", help="Your key; beside your card by default.")] = None,
    listen: Annotated[
        str | None, typer.Option("--listen", help="Listen at HOST:PORT, where a router leads others.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option("--record", help="Keep every message in this file; it is private.")
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="Your own ledger, which pays for a private release.")
    ] = None,
    analyst: Annotated[str, typer.Option("--analyst", help="Whose budget in the ledger pays.")] = "release",
    yes: Annotated[bool, typer.Option("--yes", help="Agree without being asked; for services.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing result.")] = False,
    as_json: Json = False,
) -> None:
    """Take part in a session: show what will be told to whom, ask, run, and write the result or nothing."""
    from sfumato.pipeline.joint.session import asked_by, run_party, take

    request = asked_by(path)

    def ready() -> Taking:
        own = {"key": key, "listen": listen, "force": force, "record": record, "ledger": ledger, "analyst": analyst}
        return take(request, name, data, output, **own)  # type: ignore[arg-type]

    taking = None if request.cost is not None else ready()
    if not as_json:
        _show(request)
        say(f"You are {name}. {_put_in(taking, ledger)}")
    _refuse_unapproved(yes=yes, as_json=as_json)
    taking = taking or ready()
    if not as_json:
        say(f"Waiting for {_others(taking)} ...")
    took = run_party(taking)
    if as_json:
        kept = {} if taking.secret is None else {"secret": str(taking.secret)}
        say_json({"output": str(output), **kept, **took.about, "result": took.result.document})
        return
    _tell(took.result, output)
    about = took.about
    if taking.secret is not None:
        say(f"{taking.secret}: the secret, readable by you only. Keep a copy, and hand it to nobody.")
    say(f"{about['sent']:,} bytes sent, {about['received']:,} received, {about['rounds']} rounds.")


def _tell(result: JointResult, output: Path) -> None:
    """A release as `sfumato release` tells it; of anything else the first rows."""
    from sfumato.cli.release import show as show_release

    if result.release is not None:
        show_release(result.release, output, None)
        return
    table(result.columns, result.rows[:_MOST])
    more = f" The first {_MOST} of {len(result.rows):,} rows are shown." if len(result.rows) > _MOST else ""
    say(f"{output}: the result.{more}")


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to put the parties' files.")] = Path(
        "sfumato-parties"
    ),
    as_json: Json = False,
) -> None:
    """Let three made-up hospitals count together, as three processes of this machine, and tell what each saw."""
    from sfumato.pipeline.joint.demo import demonstrate

    demonstration = demonstrate(output)
    if as_json:
        say_json(demonstration.to_json())
        return
    say(
        f"1  {', '.join(demonstration.parties)}: three folders in {output}, each with a key, a card, and patients "
        "who do not"
    )
    say("   exist. All have the cards of the others, and the same session.toml.")
    words = "sfumato party run session.toml --as NAME --input patients.csv"
    say(f"2  three processes ran `{words}` ({demonstration.seconds:.1f} s).")
    for line in demonstration.leakage:
        say(f"   {line}")
    for view in demonstration.seen:
        _show_seen(view, demonstration.cells)
    say(f"6  Added up in the clear, all three tables give the same counts: {'yes' if demonstration.right else 'NO'}.")
    say("   The masks differ in every run, and the sum does not: run it again.")
    say("")
    say("next:")
    say("   sfumato party init NAME --address HOST:PORT     then read docs/guide/together.md")


def _show_seen(view: Seen, cells: tuple[str, ...]) -> None:
    rows = [[cell, *row] for cell, row in zip(cells, view.rows, strict=True)]
    table(
        [
            f"{view.number}  what {view.name} saw",
            "its own count",
            *(f"came from {name}" for name in view.peers),
            "the sum",
        ],
        rows,
    )
    say(f"   {view.messages} messages in all. What came is uniformly random to {view.name}, but for the sum.")


def _show(request: Asked) -> None:
    session = request.session
    say(f"{request.protocol.name}: {request.protocol.about}")
    table(
        ["party", "address", "fingerprint of its card"],
        [[place.card.name, place.address, place.card.fingerprint] for place in session.places],
    )
    leakage = request.leakage
    rows = [[disclosure.to, disclosure.what] for disclosure in leakage.result]
    rows += [[disclosure.to, f"besides: {disclosure.what}"] for disclosure in leakage.beyond]
    table(["who learns", "what"], rows)
    say(f"It withstands: {leakage.withstands}.")
    say(f"It does not protect against: {leakage.limits}.")
    if request.cost is not None:
        from sfumato.dp.accounting import epsilon_of
        from sfumato.dp.events import written

        say(f"It costs everybody in your table epsilon = {written(epsilon_of(request.cost))}.")
    limits = session.limits
    say(f"Everybody must come within {limits.join:g} s; a party that is silent for {limits.silence:g} s ends it.")
    say(f"The terms, which must be the same for all: {session.digest}")


def _put_in(taking: Taking | None, ledger: Path | None) -> str:
    """What the party puts in; where that costs something, its data is not read before it agrees."""
    if taking is not None:
        return f"You put in {taking.given}."
    from sfumato.reports.private import UNPAID

    return UNPAID if ledger is None else f"When you agree, {ledger} is charged before your data is read."


def _others(taking: Taking) -> str:
    return ", ".join(name for name in taking.asked.session.names if name != taking.name)


def _refuse_unapproved(*, yes: bool, as_json: bool) -> None:
    from sfumato.core.errors import SessionError

    if yes:
        return
    if as_json or not sys.stdin.isatty():
        raise SessionError("nobody is here to agree to what will be told; say --yes if that is decided already")
    if input("Take part on these terms? [y/N] ").strip().lower() not in ("y", "yes"):
        raise SessionError("you did not agree; nobody was called and nothing was sent")
