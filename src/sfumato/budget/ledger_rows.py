"""What lies in a ledger's tables: accounts, charges, sums."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.budget import chain
from sfumato.budget.accountants import delta_of
from sfumato.budget.accounts import Account, Charge
from sfumato.budget.amounts import rounded_up, stored
from sfumato.budget.events import Event, from_json
from sfumato.budget.ledger_file import opened
from sfumato.ground.errors import LedgerError, ParameterError
from sfumato.ground.limits import MOST_NAME
from sfumato.ground.strict_json import read_json

TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS accounts (name TEXT PRIMARY KEY, granted TEXT NOT NULL, spent TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS charges (
  id INTEGER PRIMARY KEY, made TEXT NOT NULL, analyst TEXT NOT NULL, what TEXT NOT NULL,
  cost TEXT NOT NULL, event TEXT NOT NULL, status TEXT NOT NULL);
"""
EVERYBODY = ""
"""The account of all analysts together."""


def fill(
    path: Path,
    unit: str,
    total: Fraction | None,
    more: Callable[[sqlite3.Connection], None] = lambda link: None,
) -> None:
    """The tables of a new ledger, all of them in one transaction; ``more`` may add events."""
    with closing(opened(path)) as link:
        link.executescript(f"BEGIN; {TABLES}")
        link.execute("INSERT INTO about VALUES ('unit', ?)", (unit,))
        if total is not None:
            link.execute("INSERT INTO accounts VALUES (?, ?, '0')", (EVERYBODY, str(total)))
        chain.begin(link)
        more(link)
        link.execute("COMMIT")


def accounts(link: sqlite3.Connection) -> list[Account]:
    """Everybody together first, then the analysts by name."""
    link.execute("BEGIN")
    rows = link.execute("SELECT name, granted, spent FROM accounts ORDER BY name").fetchall()
    return [
        Account(analyst=name or None, granted=stored(granted, "a limit"), spent=spent(link, name, noted))
        for name, granted, noted in rows
    ]


def spent(link: sqlite3.Connection, name: str, noted: Any) -> Fraction:
    """What somebody has spent: what the account says or what the charges add up to, whichever is more."""
    ask = "SELECT cost, COUNT(*) FROM charges WHERE ? IN (analyst, '') GROUP BY cost ORDER BY cost"
    total = Fraction(0)
    for cost, times in link.execute(ask, (name,)):
        total = rounded_up(total + stored(cost, "a cost") * times)
    return max(total, stored(noted, "a spent sum"))


def deltas(link: sqlite3.Connection) -> Account:
    """The delta that everybody together may spend, and what the charges have spent of it."""
    told = chain.last(link, "delta")
    ask = "SELECT event FROM charges WHERE event LIKE '%\"delta\"%'"
    total = sum((delta_of(event_of(text)) for (text,) in link.execute(ask)), Fraction(0))
    limit = Fraction(0) if told is None else stored(told["limit"], "a limit")
    return Account(analyst=None, granted=limit, spent=rounded_up(total))


def charges(link: sqlite3.Connection) -> list[Charge]:
    """Every charge, oldest first."""
    ask = "SELECT id, made, analyst, what, cost, event, status FROM charges ORDER BY id"
    return [
        Charge(id=i, made=m, analyst=a, what=w, cost=stored(c, "a cost"), event=event(e), status=s)
        for i, m, a, w, c, e, s in link.execute(ask).fetchall()
    ]


def event(text: Any) -> dict[str, Any]:
    """An event as it is stored."""
    try:
        found = read_json(text)
    except (TypeError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise LedgerError(f"the ledger is damaged: an event is {str(text)[:40]!r}")
    return found


def event_of(text: Any) -> Event:
    """The same as an event."""
    return from_json(event(text))


def account_of(analyst: str | None) -> str:
    """The name of somebody's account."""
    if analyst == EVERYBODY:
        raise ParameterError("analyst must have a name, not ''")
    if analyst is not None and (len(analyst) > MOST_NAME or re.search(r"[\ud800-\udfff]", analyst)):
        raise ParameterError(f"analyst must have a name of at most {MOST_NAME:,} characters that UTF-8 can hold")
    return EVERYBODY if analyst is None else analyst


def title(analyst: str | None) -> str:
    """Somebody in a message."""
    return "everybody together" if analyst is None else repr(analyst)
