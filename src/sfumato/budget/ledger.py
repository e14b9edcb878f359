"""The ledger: who may spend how much on one table, and who has spent what; one SQLite file, many processes at once.

A charge is reserved before the data is touched and settled after. What was reserved and never settled (a crash, a lost
connection) stays counted as spent: the budget may be overstated, never understated.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from sfumato.budget.accountants import epsilon_of, rho_of
from sfumato.budget.amounts import rounded_up, stored
from sfumato.budget.events import Event, exactly, to_json, written
from sfumato.ground.errors import BudgetError, ParameterError
from sfumato.ground.limits import MOST_FIELD, MOST_NAME, MOST_TEXT
from sfumato.ground.opening import opened
from sfumato.ground.strict_json import read_json

Unit = Literal["epsilon", "rho"]
WAIT = 60.0
"""How long a process waits for others to finish with the file, in seconds."""
_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS accounts (name TEXT PRIMARY KEY, granted TEXT NOT NULL, spent TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS charges (
  id INTEGER PRIMARY KEY, made TEXT NOT NULL, analyst TEXT NOT NULL, what TEXT NOT NULL,
  cost TEXT NOT NULL, event TEXT NOT NULL, status TEXT NOT NULL);
"""
_EVERYBODY = ""
"""The account of all analysts together."""


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


class Ledger:
    """The budget of one table.

    Claim: at any moment, and whatever crashes, the spent sum is at least the cost of everything that was released.
    How: every change is one immediate transaction, so that two processes never both see the last part of a budget.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            with opened(self.path) as file:
                held = os.fstat(file.fileno()).st_size
        except FileNotFoundError:
            raise BudgetError(f"{self.path} does not exist; `sfumato budget grant` makes a ledger") from None
        except OSError as error:
            raise BudgetError(f"{self.path} is no ledger: {error.strerror}") from None
        if held > MOST_TEXT:
            raise BudgetError(f"{self.path} is no ledger: it has {held:,} bytes; at most {MOST_TEXT:,} are read")
        self._inside(_refuse_strange)
        if self.unit not in ("epsilon", "rho"):
            raise BudgetError(f"{self.path} is no ledger: it counts in {self.unit!r}, not in epsilon or rho")

    @classmethod
    def create(cls, path: str | Path, *, total: Any, unit: Unit = "epsilon") -> Ledger:
        """A new ledger with what everybody together may spend; an existing file is refused."""
        place, most = Path(path), exactly("total", total)
        if unit not in ("epsilon", "rho"):
            raise ParameterError(f"unit must be epsilon or rho, not {unit!r}")
        try:
            with place.open("x"):
                pass
        except OSError as error:
            raise BudgetError(f"{place} cannot be made: {error.strerror}") from error
        try:
            _fill(place, unit, most)
        except BaseException as error:
            for end in ("", "-wal", "-shm", "-journal"):
                place.with_name(place.name + end).unlink(missing_ok=True)
            if isinstance(error, sqlite3.Error):
                raise BudgetError(f"{place} cannot be made: {error}") from error
            raise
        return cls(place)

    @property
    def unit(self) -> Unit:
        """What costs are counted in: pure epsilon, or the rho of zCDP."""
        row = self._inside(lambda link: link.execute("SELECT value FROM about WHERE name = 'unit'").fetchone())
        if row is None:
            raise BudgetError(f"{self.path} is no whole ledger: it does not say what it counts in")
        found: Unit = row[0]
        return found

    def grant(self, analyst: str | None, limit: Any) -> Account:
        """Set what an analyst, or everybody together, may spend in all; never below what is spent already."""
        most = exactly("limit", limit)
        with self._changing() as link:
            row = link.execute("SELECT spent FROM accounts WHERE name = ?", (_name(analyst),)).fetchone()
            spent = _spent(link, _name(analyst), row[0] if row else "0")
            if most < spent:
                raise BudgetError(
                    f"{_title(analyst)} has spent {written(spent)} already; a limit of {written(most)} is less"
                )
            link.execute("INSERT OR REPLACE INTO accounts VALUES (?, ?, ?)", (_name(analyst), str(most), str(spent)))
        return Account(analyst=analyst, granted=most, spent=spent)

    def accounts(self) -> list[Account]:
        """Everybody together first, then the analysts by name."""
        found: list[Account] = self._inside(_accounts)
        return found

    def history(self) -> list[Charge]:
        """Every charge, oldest first."""
        ask = "SELECT id, made, analyst, what, cost, event, status FROM charges ORDER BY id"
        rows = self._inside(lambda link: link.execute(ask).fetchall())
        return [
            Charge(id=i, made=m, analyst=a, what=w, cost=stored(c, "a cost"), event=_event(e), status=s)
            for i, m, a, w, c, e, s in rows
        ]

    def reserve(self, analyst: str, event: Event, *, what: str = "") -> int:
        """Take an event's cost from the analyst's budget and from everybody's, or refuse and take nothing."""
        cost = self._cost(event)
        with self._changing() as link:
            for account in (_name(analyst), _EVERYBODY):
                self._take(link, account, cost)
            line = (
                datetime.now(UTC).isoformat(timespec="seconds"),
                analyst,
                what,
                str(cost),
                json.dumps(to_json(event)),
            )
            made = link.execute(
                "INSERT INTO charges (made, analyst, what, cost, event, status) VALUES (?, ?, ?, ?, ?, 'reserved')",
                line,
            )
            return int(made.lastrowid or 0)

    def settle(self, charge: int) -> None:
        """Mark a reserved charge as used."""
        with self._changing() as link:
            done = link.execute("UPDATE charges SET status = 'settled' WHERE id = ? AND status = 'reserved'", (charge,))
            if done.rowcount != 1:
                raise BudgetError(f"charge {charge} is not reserved in {self.path}")

    @contextmanager
    def charged(self, analyst: str, event: Event, *, what: str = "") -> Iterator[int]:
        """Reserve, do the work inside the block, settle; whatever goes wrong inside, the charge stays."""
        number = self.reserve(analyst, event, what=what)
        yield number
        self.settle(number)

    def _cost(self, event: Event) -> Fraction:
        return rounded_up(epsilon_of(event) if self.unit == "epsilon" else rho_of(event))

    def _take(self, link: sqlite3.Connection, name: str, cost: Fraction) -> None:
        row = link.execute("SELECT granted, spent FROM accounts WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise BudgetError(f"{name!r} has no budget in {self.path}; grant one with `sfumato budget grant`")
        granted, spent = stored(row[0], "a limit"), _spent(link, name, row[1])
        if spent + cost > granted:
            raise BudgetError(
                f"{_title(name or None)} has {written(granted - spent)} of {written(granted)} left, and this costs "
                f"{written(cost)}; nothing was asked of the data"
            )
        link.execute("UPDATE accounts SET spent = ? WHERE name = ?", (str(rounded_up(spent + cost)), name))

    def _inside(self, ask: Any) -> Any:
        try:
            with closing(_open(self.path)) as link:
                return ask(link)
        except (sqlite3.Error, UnicodeError) as error:
            raise BudgetError(f"{self.path} is no ledger, or cannot be read: {error}") from error

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """One transaction that no other process can come between: all of it or nothing."""
        try:
            with closing(_open(self.path)) as link:
                link.execute("BEGIN IMMEDIATE")
                try:
                    yield link
                except BaseException:
                    link.execute("ROLLBACK")
                    raise
                link.execute("COMMIT")
        except (sqlite3.Error, UnicodeError) as error:
            raise BudgetError(f"{self.path} cannot be changed: {error}") from error


def _open(path: Path) -> sqlite3.Connection:
    link = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
    try:
        link.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_FIELD)
        link.execute("PRAGMA trusted_schema = OFF")
        link.execute("PRAGMA synchronous = FULL")
    except BaseException:
        link.close()
        raise
    return link


def _refuse_strange(link: sqlite3.Connection) -> None:
    """Refuse a file whose names stand for something that runs: a view, a trigger, or a table that computes."""
    plain = {tuple(line.split()) for line in re.findall(r"CREATE TABLE IF NOT EXISTS ([^;]*);", _TABLES)}
    rows = link.execute("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
    for kind, name, sql in rows:
        said = tuple(str(sql).removeprefix("CREATE TABLE ").split())
        if kind != "table" or said not in plain:
            raise BudgetError(f"the ledger is damaged: it has a {kind} {str(name)[:40]!r} that no ledger has")


def _fill(path: Path, unit: Unit, total: Fraction) -> None:
    """The tables of a new ledger, all of them in one transaction."""
    with closing(_open(path)) as link:
        link.executescript(f"PRAGMA journal_mode = WAL; BEGIN; {_TABLES}")
        link.execute("INSERT INTO about VALUES ('unit', ?)", (unit,))
        link.execute("INSERT INTO accounts VALUES (?, ?, '0')", (_EVERYBODY, str(total)))
        link.execute("COMMIT")


def _accounts(link: sqlite3.Connection) -> list[Account]:
    link.execute("BEGIN")
    rows = link.execute("SELECT name, granted, spent FROM accounts ORDER BY name").fetchall()
    return [
        Account(analyst=name or None, granted=stored(granted, "a limit"), spent=_spent(link, name, spent))
        for name, granted, spent in rows
    ]


def _spent(link: sqlite3.Connection, name: str, noted: Any) -> Fraction:
    """What somebody has spent: what the account says or what the charges add up to, whichever is more."""
    ask = "SELECT cost, COUNT(*) FROM charges WHERE ? IN (analyst, '') GROUP BY cost ORDER BY cost"
    total = Fraction(0)
    for cost, times in link.execute(ask, (name,)):
        total = rounded_up(total + stored(cost, "a cost") * times)
    return max(total, stored(noted, "a spent sum"))


def _event(text: Any) -> dict[str, Any]:
    try:
        found = read_json(text)
    except (TypeError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise BudgetError(f"the ledger is damaged: an event is {str(text)[:40]!r}")
    return found


def _name(analyst: str | None) -> str:
    if analyst == _EVERYBODY:
        raise ParameterError("analyst must have a name, not ''")
    if analyst is not None and (len(analyst) > MOST_NAME or re.search(r"[\ud800-\udfff]", analyst)):
        raise ParameterError(f"analyst must have a name of at most {MOST_NAME:,} characters that UTF-8 can hold")
    return _EVERYBODY if analyst is None else analyst


def _title(analyst: str | None) -> str:
    return "everybody together" if analyst is None else repr(analyst)
