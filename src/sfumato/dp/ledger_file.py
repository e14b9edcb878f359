"""The SQLite file of a ledger, its accounts and its charges."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.core import input_files
from sfumato.core.errors import BudgetError, LedgerError, ParameterError
from sfumato.core.fractions import rounded_up, stored
from sfumato.core.input_files import MOST_NAME, MOST_TEXT
from sfumato.core.run_context import unstopped
from sfumato.core.scratch import give_name, scratch, sync
from sfumato.core.strict_parsing import read_json
from sfumato.dp import chain
from sfumato.dp.accounting import delta_of
from sfumato.dp.events import Event, from_json

# The lines of a ledger, as they are shown.


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What somebody may spend and has spent."""

    analyst: str | None
    """Who; None for everybody together."""
    granted: Fraction
    """The limit."""
    spent: Fraction
    """Settled and reserved charges together."""

    @property
    def left(self) -> Fraction:
        """What may still be spent."""
        return self.granted - self.spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One line of the ledger."""

    id: int
    """Its number."""
    made: str
    """When, in UTC."""
    analyst: str
    """Who."""
    what: str
    """For what."""
    cost: Fraction
    """How much."""
    event: dict[str, Any]
    """Of what it is made up."""
    status: str
    """reserved or settled."""


# The file of a ledger: one file whenever nobody writes, made whole or not at all, brought up to date when opened.


WAIT = 60.0
"""How long a process waits for others to finish with the file, in seconds."""
_WAL = 2
"""What bytes 18 and 19 of an SQLite file say where charges may lie in a second file, ``-wal``."""


def opened(path: Path) -> sqlite3.Connection:
    """A connection; a commit is on disk when it returns, also where the power fails then."""
    link = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
    try:
        link.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_TEXT)
        link.execute("PRAGMA trusted_schema = OFF")
        link.execute("PRAGMA synchronous = EXTRA")
    except BaseException:
        link.close()
        raise
    return link


def refuse_no_file(path: Path, made_by: str = "") -> None:
    """Refuse what is no regular file, or too large for a ledger."""
    try:
        with input_files.opened(path) as file:
            held = os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        raise LedgerError(f"{path} does not exist" + (f"; {made_by}" if made_by else "")) from None
    except OSError as error:
        raise LedgerError(f"{path} is no ledger: {error.strerror}") from None
    if held > MOST_TEXT:
        raise LedgerError(f"{path} is no ledger: it has {held:,} bytes; at most {MOST_TEXT:,} are read")


def refuse_strange(link: sqlite3.Connection, tables: str) -> None:
    """Refuse a file whose names stand for something that runs: a view, a trigger, or a table that computes."""
    known = re.findall(r"CREATE TABLE (?:IF NOT EXISTS )?([^;]*)(?:;|$)", f"{tables};{chain.TABLE}")
    plain = {tuple(line.split()) for line in known}
    rows = link.execute("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
    for kind, name, sql in rows:
        words = tuple(str(sql).removeprefix("CREATE TABLE ").split())
        if kind != "table" or words not in plain:
            raise LedgerError(f"the ledger is damaged: it has a {kind} {str(name)[:40]!r} that no ledger has")


@contextmanager
def transaction(path: Path) -> Iterator[sqlite3.Connection]:
    """One transaction that no other process can come between: all of it or nothing."""
    with closing(opened(path)) as link:
        link.execute("BEGIN IMMEDIATE")
        try:
            yield link
            link.execute("COMMIT")
        except BaseException:
            if link.in_transaction:  # where the disk is full, SQLite has ended it already
                link.execute("ROLLBACK")
            raise


def made_whole(path: Path, fill: Callable[[Path], None]) -> None:
    """Make a file that is filled before it has its name; one that exists stays as it is."""
    with scratch(path.parent, path.name) as place:
        place.new.touch(mode=0o600)
        fill(place.new)
        sync(place.new)
        with unstopped():
            give_name(place.new, path)
            with suppress(OSError):
                sync(path.parent)


def bring_up_to_date(path: Path) -> None:
    """Give a ledger of an older version its chain, and fold a file of pending charges (``-wal``) into it.

    Older versions kept charges in ``-wal`` until the last process closed the ledger: a copy without it lost them.
    """
    with path.open("rb") as file:
        pending = file.read(20)[18:] == bytes((_WAL, _WAL))
    if pending:
        with closing(opened(path)) as link:
            (mode,) = link.execute("PRAGMA journal_mode = DELETE").fetchone()
            if mode != "delete":
                raise LedgerError(f"{path} is in use by an older version of sfumato; try again when that has ended")
    with closing(opened(path)) as link:
        ready = chain.is_chained(link)
    if not ready:
        with transaction(path) as link:
            unit = link.execute("SELECT value FROM about WHERE name = 'unit'").fetchone()
            if unit is None:
                raise LedgerError(f"{path} is no whole ledger: it does not say what it counts in")
            if not chain.is_chained(link):
                chain.begin(link)


def copied(path: Path, to: Path, *, force: bool) -> None:
    """A whole copy of a ledger, made while nobody changes it and checked before it has its name."""
    if to.exists():
        _refuse_replacing(path, to, force=force)
    with scratch(to.parent, to.name) as place:
        with transaction(path), closing(opened(path)) as link, closing(sqlite3.connect(place.new)) as copy:
            link.backup(copy)  # by a second connection: one that holds the lock for changes cannot be read from
        with closing(opened(place.new)) as copy:
            chain.checked(copy)
        sync(place.new)
        with unstopped():
            if force:
                place.new.replace(to)
            else:
                give_name(place.new, to)
            with suppress(OSError):
                sync(to.parent)


def _refuse_replacing(path: Path, to: Path, *, force: bool) -> None:
    """An older copy of the same ledger may be replaced; nothing else, and not the ledger itself."""
    if not force:
        raise LedgerError(f"{to} exists already; --force replaces an older backup of the same ledger")
    if to.samefile(path):
        raise LedgerError(f"{to} is the ledger itself; name another file")
    names = []
    for ledger_path in (path, to):
        refuse_no_file(ledger_path)
        with closing(opened(ledger_path)) as link:
            try:
                names.append(chain.newest(link).ledger)
            except (sqlite3.Error, BudgetError):
                names.append(str(ledger_path))
    if names[0] != names[1]:
        raise LedgerError(f"{to} is no backup of {path}, so --force does not replace it")


# What lies in a ledger's tables: accounts, charges, sums.


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
    payload = chain.last(link, "delta")
    ask = "SELECT event FROM charges WHERE event LIKE '%\"delta\"%'"
    total = sum((delta_of(event_of(text)) for (text,) in link.execute(ask)), Fraction(0))
    limit = Fraction(0) if payload is None else stored(payload["limit"], "a limit")
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
        document = read_json(text)
    except (TypeError, ValueError):
        document = None
    if not isinstance(document, dict):
        raise LedgerError(f"the ledger is damaged: an event is {str(text)[:40]!r}")
    return document


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
