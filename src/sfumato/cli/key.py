"""``sfumato key``: keys by which bundles are signed, and the cards by which others know them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.show import Json, say, say_json


def new(
    name: Annotated[str, typer.Argument(help="Who signs, as it is to stand on the card.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file of the key; signer.key by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a key to sign bundles with, and the card that others check signatures by."""
    from sfumato.bundle.signatures import Signer

    signer, path = Signer.new(name), output or Path("signer.key")
    card = signer.write(path)
    if as_json:
        say_json({"key": str(path), "card": str(card), "name": name, "fingerprint": signer.card.fingerprint})
        return
    say(f"{path} is the key of {name}: keep it secret, apart from releases, with a copy elsewhere.")
    say(f"{card} is the card: hand it out. Its fingerprint is {signer.card.fingerprint}; let others compare it.")
    say(f"Next: sfumato release PLAN --sign {path}; others: sfumato verify BUNDLE --signer {card}")


def card(
    path: Annotated[Path, typer.Argument(help="The card.")],
    as_json: Json = False,
) -> None:
    """Show who a card is about, and the fingerprint to compare."""
    from sfumato.bundle.signatures import Card

    found = Card.load(path)
    if as_json:
        say_json({"name": found.name, "fingerprint": found.fingerprint})
    else:
        say(f"{found.name}: {found.fingerprint}")
