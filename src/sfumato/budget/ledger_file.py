"""The file of a ledger: one file whenever nobody writes, made whole or not at all, brought up to date when opened."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from sfumato.budget import chain
from sfumato.ground import opening
from sfumato.ground.deferring import unstopped
from sfumato.ground.errors import BudgetError, LedgerError
from sfumato.ground.limits import MOST_TEXT
from sfumato.ground.scratch import give_name, scratch, sync

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
        with opening.opened(path) as file:
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
        said = tuple(str(sql).removeprefix("CREATE TABLE ").split())
        if kind != "table" or said not in plain:
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
    for one in (path, to):
        refuse_no_file(one)
        with closing(opened(one)) as link:
            try:
                names.append(chain.newest(link).ledger)
            except (sqlite3.Error, BudgetError):
                names.append(str(one))
    if names[0] != names[1]:
        raise LedgerError(f"{to} is no backup of {path}, so --force does not replace it")
