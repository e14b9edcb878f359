"""A counter kept elsewhere: a second file, which the steward names, holds the newest event of a ledger.

Claim: a ledger that lacks the event which its witness saw, or has another one in its place, is refused. So a copy that
was put back is noticed, and a chain that was made anew under the ledger's own key too, unless the witness was changed
with it; keep it on another disk, or where fewer people may write.
How: after every change the newest event is written to the witness, while no other process can change the ledger. What a
crash can leave is a witness one event behind, which holds all the same. Where the witness lies is an event itself.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from sfumato.budget import chain
from sfumato.budget.chain import Head
from sfumato.ground import opening
from sfumato.ground.errors import LedgerError
from sfumato.ground.scratch import scratch, sync
from sfumato.ground.strict_json import read_json

_MOST = 10_000
"""A witness has no more bytes."""


def place_of(link: sqlite3.Connection) -> Path | None:
    """Where the witness of a ledger lies; None where it has none."""
    told = chain.last(link, "witness")
    return None if told is None else Path(str(told["path"]))


def read(place: Path) -> Head:
    """The event that a witness saw last."""
    try:
        with opening.opened(place) as file:
            return Head.from_json(read_json(file.read(_MOST).decode()))
    except OSError as error:
        raise LedgerError(f"{place} is no witness of a ledger: {error.strerror}") from error
    except ValueError as error:
        raise LedgerError(f"{place} is no witness of a ledger: {error}") from error


def write(place: Path, head: Head) -> None:
    """Put the newest event there, whole or not at all."""
    try:
        with scratch(place.parent, place.name) as made:
            made.new.touch(mode=0o600)
            made.new.write_text(json.dumps(head.to_json()) + "\n", encoding="utf-8")
            sync(made.new)
            os.replace(made.new, place)
            with suppress(OSError):
                sync(place.parent)
    except OSError as error:
        raise LedgerError(f"{place}, the witness of the ledger, cannot be written: {error.strerror}") from error


def refuse_older(link: sqlite3.Connection, ledger: Path, *, missing: bool = False) -> None:
    """Refuse a ledger that does not hold what its witness saw; ``missing`` says that there may be no witness."""
    place = place_of(link)
    if place is None or (missing and not place.exists()):
        return
    if not place.exists():
        raise LedgerError(
            f"{place}, the witness of {ledger}, is not there: nobody can tell whether this ledger is an old copy; put "
            f"it back, or name another one with `sfumato budget witness {ledger} FILE`"
        )
    refuse_unheld(link, ledger, place)


def refuse_unheld(link: sqlite3.Connection, ledger: Path, place: Path) -> None:
    """Refuse a ledger that does not hold what a file saw. The file is read first: the ledger only grows."""
    seen = read(place)
    if not chain.held(link, seen):
        raise LedgerError(
            f"the ledger was rolled back or edited: its witness {place} saw event {seen.event}, which {ledger} does "
            "not hold; put its newer copy back, for this one has forgotten charges"
        )
