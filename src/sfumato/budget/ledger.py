"""The ledger: who may spend how much on one table, and who has spent what; one SQLite file, many processes at once.

A charge is reserved before the data is touched and settled after. What was reserved and never settled (a crash, a lost
connection) stays counted as spent: the budget may be overstated, never understated. Every change is also an event of a
chain (``budget.chain``); a bundle cites the event that paid for it, so a file from an old copy is noticed.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from sfumato.budget import chain
from sfumato.budget.accountants import epsilon_of, rho_of
from sfumato.budget.accounts import Account, Charge
from sfumato.budget.amounts import rounded_up, stored
from sfumato.budget.chain import Head
from sfumato.budget.events import Event, exactly, to_json, written
from sfumato.budget.ledger_file import bring_up_to_date, made_whole, opened, refuse_no_file, refuse_strange, transaction
from sfumato.ground.errors import BudgetError, ParameterError
from sfumato.ground.limits import MOST_NAME
from sfumato.ground.strict_json import read_json

Unit = Literal["epsilon", "rho"]
_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS accounts (name TEXT PRIMARY KEY, granted TEXT NOT NULL, spent TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS charges (
  id INTEGER PRIMARY KEY, made TEXT NOT NULL, analyst TEXT NOT NULL, what TEXT NOT NULL,
  cost TEXT NOT NULL, event TEXT NOT NULL, status TEXT NOT NULL);
"""
_EVERYBODY = ""
"""The account of all analysts together."""


class Ledger:
    """The budget of one table.

    Claim: at any moment, and whatever crashes, the spent sum is at least the cost of everything that was released.
    How: every change is one immediate transaction, so that two processes never both see the last part of a budget.
    Opening it goes through all events of its chain; later steps look at the last one, and at the one seen before.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        refuse_no_file(self.path)
        self._seen: Head = self._opened()
        if self.unit not in ("epsilon", "rho"):
            raise BudgetError(f"{self.path} is no ledger: it counts in {self.unit!r}, not in epsilon or rho")

    @classmethod
    def create(cls, path: str | Path, *, total: Any, unit: Unit = "epsilon") -> Ledger:
        """A new ledger with what everybody together may spend; an existing file is refused."""
        place, most = Path(path), exactly("total", total)
        if unit not in ("epsilon", "rho"):
            raise ParameterError(f"unit must be epsilon or rho, not {unit!r}")
        try:
            if place.exists():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            made_whole(place, lambda new: _fill(new, unit, most))
        except OSError as error:
            raise BudgetError(f"{place} cannot be made: {error.strerror}") from error
        except sqlite3.Error as error:
            raise BudgetError(f"{place} cannot be made: {error}") from error
        return cls(place)

    @property
    def head(self) -> Head:
        """The last event that this object has seen."""
        return self._seen

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
            told = {"account": _name(analyst), "granted": str(most), "spent": str(spent)}
            seen = chain.append(link, "grant", told)
        self._seen = seen
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
            sums = {account: self._take(link, account, cost) for account in (_name(analyst), _EVERYBODY)}
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
            number = int(made.lastrowid or 0)
            told = {"charge": [number, *line], "spent": sums}
            seen = chain.append(link, "reserve", told, charge=number)
        self._seen = seen
        return number

    def settle(self, charge: int) -> None:
        """Mark a reserved charge as used."""
        with self._changing() as link:
            done = link.execute("UPDATE charges SET status = 'settled' WHERE id = ? AND status = 'reserved'", (charge,))
            if done.rowcount != 1:
                raise BudgetError(f"charge {charge} is not reserved in {self.path}")
            seen = chain.append(link, "settle", {"charge": charge}, charge=charge)
        self._seen = seen

    def receipt(self, charge: int) -> Head:
        """The event that took a charge: what a bundle cites."""
        ask = "SELECT number, hash FROM chain WHERE kind = 'reserve' AND charge = ?"
        row = self._inside(lambda link: link.execute(ask, (charge,)).fetchone())
        if row is None:
            raise BudgetError(f"charge {charge} is not in the chain of {self.path}")
        return Head(ledger=self._seen.ledger, event=row[0], head=row[1])

    def holds(self, cited: Head) -> bool:
        """Whether this is the cited ledger and it holds the cited event."""
        return bool(self._inside(lambda link: chain.held(link, cited)))

    def note_bundle(self, folder: Path, charge: int) -> None:
        """Note where the bundle lies that a charge paid for: its citation is looked at when the ledger is used."""
        with self._changing() as link:
            seen = chain.append(link, "bundle", {"bundle": str(folder.resolve())}, charge=charge)
        self._seen = seen

    def bundles(self) -> list[Path]:
        """Where the bundles lay that were paid for, each once, the latest first."""
        ask = "SELECT content FROM chain WHERE kind = 'bundle' ORDER BY number DESC"
        rows = self._inside(lambda link: link.execute(ask).fetchall())
        return list(dict.fromkeys(Path(json.loads(content)["bundle"]) for (content,) in rows))

    @contextmanager
    def charged(self, analyst: str, event: Event, *, what: str = "") -> Iterator[int]:
        """Reserve, do the work inside the block, settle; whatever goes wrong inside, the charge stays."""
        number = self.reserve(analyst, event, what=what)
        yield number
        self.settle(number)

    def _cost(self, event: Event) -> Fraction:
        return rounded_up(epsilon_of(event) if self.unit == "epsilon" else rho_of(event))

    def _take(self, link: sqlite3.Connection, name: str, cost: Fraction) -> str:
        row = link.execute("SELECT granted, spent FROM accounts WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise BudgetError(f"{name!r} has no budget in {self.path}; grant one with `sfumato budget grant`")
        granted, spent = stored(row[0], "a limit"), _spent(link, name, row[1])
        if spent + cost > granted:
            raise BudgetError(
                f"{_title(name or None)} has {written(granted - spent)} of {written(granted)} left, and this costs "
                f"{written(cost)}; nothing was asked of the data"
            )
        total = str(rounded_up(spent + cost))
        link.execute("UPDATE accounts SET spent = ? WHERE name = ?", (total, name))
        return total

    def _inside(self, ask: Any) -> Any:
        try:
            with closing(opened(self.path)) as link:
                return ask(link)
        except (sqlite3.Error, UnicodeError) as error:
            raise BudgetError(f"{self.path} is no ledger, or cannot be read: {error}") from error

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, in the ledger that was opened and no older copy of it."""
        try:
            with transaction(self.path) as link:
                if not chain.held(link, self._seen):
                    raise BudgetError(
                        f"the ledger was rolled back: {self.path} does not hold event {self._seen.event} any more, "
                        "which was there when it was opened"
                    )
                yield link
        except (sqlite3.Error, UnicodeError) as error:
            raise BudgetError(f"{self.path} cannot be changed: {error}") from error

    def _opened(self) -> Head:
        """Bring the file up to date, and go through all events."""
        self._inside(lambda link: refuse_strange(link, _TABLES))
        try:
            bring_up_to_date(self.path)
        except OSError as error:
            raise BudgetError(f"{self.path} cannot be read: {error.strerror}") from error
        except sqlite3.Error as error:
            raise BudgetError(f"{self.path} is no ledger, or cannot be read: {error}") from error
        try:
            found: Head = self._inside(_checked)
        except BudgetError as error:
            raise BudgetError(f"{self.path}: {error}") from error
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise BudgetError(f"{self.path}: the ledger was changed: its chain of events cannot be read") from error
        return found


def _fill(path: Path, unit: Unit, total: Fraction) -> None:
    """The tables of a new ledger, all of them in one transaction."""
    with closing(opened(path)) as link:
        link.executescript(f"BEGIN; {_TABLES}")
        link.execute("INSERT INTO about VALUES ('unit', ?)", (unit,))
        link.execute("INSERT INTO accounts VALUES (?, ?, '0')", (_EVERYBODY, str(total)))
        chain.begin(link)
        link.execute("COMMIT")


def _checked(link: sqlite3.Connection) -> Head:
    link.execute("BEGIN")
    return chain.checked(link)


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
