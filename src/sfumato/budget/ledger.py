"""The ledger: who may spend how much on one table, and who has spent what; one SQLite file, many processes at once.

A charge is reserved before the data is touched, for the most that it can cost, and settled after for what it did cost.
What was reserved and never settled (a crash, a lost connection) stays counted as spent: the budget may be overstated,
never understated. Every change is also an event of a chain (``budget.chain``); a bundle cites the event that paid for
it, and a second file that the steward names holds the newest one (``budget.witness``), so a file from an old copy is
noticed. A ledger is bound to its table (``budget.fingerprints``): another one is refused.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.budget import chain, ledger_rows
from sfumato.budget.accountants import Unit, delta_of, epsilon_of, rho_of
from sfumato.budget.accounts import Account, Charge
from sfumato.budget.amounts import rounded_up, stored
from sfumato.budget.chain import Head
from sfumato.budget.events import Event, Sequential, exactly, to_json, written
from sfumato.budget.fingerprints import bindings
from sfumato.budget.ledger_book import Book
from sfumato.budget.ledger_file import made_whole
from sfumato.budget.ledger_rows import EVERYBODY, account_of, spent, title
from sfumato.data.table import Table
from sfumato.ground.errors import BudgetError, LedgerError, ParameterError

__all__ = ["Ledger", "Unit"]


class Ledger(Book):
    """The budget of one table.

    Claim: at any moment, and whatever crashes, the spent sum is at least the cost of everything that was released.
        Costs that depend on earlier answers add up like fixed ones, for epsilon (Rogers, Roth, Ullman and Vadhan 2016)
        and for rho (Feldman and Zrnic 2021), because nothing begins unless the most that it can cost is left.
    How: every change is one immediate transaction, so that two processes never both see the last part of a budget.
    Opening it goes through all events of its chain; later steps look at the last one, and at the one seen before.
    """

    @classmethod
    def create(cls, path: str | Path, *, total: Any, unit: Unit = "epsilon") -> Ledger:
        """A new ledger with what everybody together may spend; an existing file is refused."""
        place, most = Path(path), exactly("total", total)
        if unit not in ("epsilon", "rho"):
            raise ParameterError(f"unit must be epsilon or rho, not {unit!r}")
        try:
            if place.exists():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            made_whole(place, lambda new: ledger_rows.fill(new, unit, most))
        except OSError as error:
            raise LedgerError(f"{place} cannot be made: {error.strerror}") from error
        except sqlite3.Error as error:
            raise LedgerError(f"{place} cannot be made: {error}") from error
        return cls(place)

    def grant(self, analyst: str | None, limit: Any) -> Account:
        """Set what an analyst, or everybody together, may spend in all; never below what is spent already."""
        most, name = exactly("limit", limit), account_of(analyst)
        with self._changing() as link:
            row = link.execute("SELECT spent FROM accounts WHERE name = ?", (name,)).fetchone()
            gone = spent(link, name, row[0] if row else "0")
            _refuse_below(title(analyst), most, gone)
            link.execute("INSERT OR REPLACE INTO accounts VALUES (?, ?, ?)", (name, str(most), str(gone)))
            chain.append(link, "grant", {"account": name, "granted": str(most), "spent": str(gone)})
        return Account(analyst=analyst, granted=most, spent=gone)

    def grant_delta(self, limit: Any) -> Account:
        """Set the delta that everybody together may spend; without it, nothing that has a delta is paid for."""
        most = exactly("delta", limit)
        if most >= 1:
            raise ParameterError(f"delta must be below 1, not {written(most)}")
        with self._changing() as link:
            gone = ledger_rows.deltas(link).spent
            _refuse_below("everybody together", most, gone, "a delta of ")
            chain.append(link, "delta", {"limit": str(most)})
        return Account(analyst=None, granted=most, spent=gone)

    def accounts(self) -> list[Account]:
        """Everybody together first, then the analysts by name."""
        found: list[Account] = self._inside(ledger_rows.accounts)
        return found

    def deltas(self) -> Account:
        """The delta that everybody together may spend, and has spent."""
        found: Account = self._inside(ledger_rows.deltas)
        return found

    def history(self) -> list[Charge]:
        """Every charge, oldest first; a settled one with what it did cost."""
        found: list[Charge] = self._inside(ledger_rows.charges)
        return found

    def reserve(self, analyst: str, event: Event, *, what: str = "") -> int:
        """Take an event's cost from the analyst's budget and from everybody's, or refuse and take nothing."""
        cost, unlikely = self._cost(event), delta_of(event)
        with self._changing() as link:
            sums = {account: self._take(link, account, cost) for account in (account_of(analyst), EVERYBODY)}
            if unlikely:
                self._refuse_delta(link, unlikely)
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
            chain.append(link, "reserve", {"charge": [number, *line], "spent": sums}, charge=number)
        return number

    def settle(self, charge: int, event: Event | None = None) -> None:
        """Mark a reserved charge as used; with what it was made up of in the end, what it did not need is given back.

        An event that costs more than was reserved is refused, and the charge stays as it is.
        """
        with self._changing() as link:
            ask = "SELECT analyst, cost, event FROM charges WHERE id = ? AND status = 'reserved'"
            row = link.execute(ask, (charge,)).fetchone()
            if row is None:
                raise BudgetError(f"charge {charge} is not reserved in {self.path}")
            told: dict[str, Any] = {"charge": charge}
            if event is not None:
                told |= self._lowered(link, charge, row, event)
            link.execute("UPDATE charges SET status = 'settled' WHERE id = ?", (charge,))
            chain.append(link, "settle", told, charge=charge)

    def give_back(self, charge: int, why: str) -> None:
        """Settle a reserved charge for nothing: no answer was made. The line stays, with the reason."""
        self.settle(charge, Sequential(parts=(), what=why))

    def receipt(self, charge: int) -> Head:
        """The event that took a charge: what a bundle cites."""
        ask = "SELECT number, hash FROM chain WHERE kind = 'reserve' AND charge = ?"
        row = self._inside(lambda link: link.execute(ask, (charge,)).fetchone())
        if row is None:
            raise BudgetError(f"charge {charge} is not in the chain of {self.path}")
        return Head(ledger=self._seen.ledger, event=row[0], head=row[1])

    def note_bundle(self, folder: Path, charge: int) -> None:
        """Note where the bundle lies that a charge paid for: its citation is looked at when the ledger is used."""
        with self._changing() as link:
            chain.append(link, "bundle", {"bundle": str(folder.resolve())}, charge=charge)

    def bundles(self) -> list[Path]:
        """Where the bundles lay that were paid for, each once, the latest first."""
        told = self._inside(lambda link: chain.every(link, "bundle"))
        return list(dict.fromkeys(Path(one["bundle"]) for one in told))

    def bind(self, table: Table) -> None:
        """Say that this is the ledger's table, or that its table looks like this now; what was spent stays."""
        with self._changing() as link:
            chain.append(link, "bind", {"table": bindings(link, table)[0]})

    def refuse_other(self, table: Table, charge: int | None = None) -> None:
        """Bind a ledger to the first table that it pays for, and refuse every other; that charge is given back."""
        mine, known = self._inside(lambda link: bindings(link, table))
        if not known:
            with self._changing() as link:
                mine, known = bindings(link, table)
                if not known:
                    chain.append(link, "bind", {"table": mine})
        if not known or mine in known:
            return
        if charge is not None:
            self.give_back(charge, "refused: the ledger is bound to another table")
        raise BudgetError(
            f"{self.path} is bound to another table than {table.source}; a table has one ledger. If this is the same "
            f"table after a change, say so with `sfumato budget bind {self.path} --input DATA`; what was spent stays"
        )

    @contextmanager
    def charged(self, analyst: str, event: Event, *, what: str = "") -> Iterator[int]:
        """Reserve, do the work inside the block, settle; whatever goes wrong inside, the charge stays."""
        number = self.reserve(analyst, event, what=what)
        yield number
        self.settle(number)

    def _cost(self, event: Event) -> Fraction:
        if self.unit == "rho":
            return rounded_up(rho_of(event))
        try:
            return rounded_up(epsilon_of(event))
        except ParameterError:
            raise BudgetError(
                f"{self.path} counts in epsilon and cannot pay for Gaussian noise, which a plan with delta or rho asks "
                "for; make a ledger with `sfumato budget grant FILE TOTAL --unit rho`, which pays for both"
            ) from None

    def _take(self, link: sqlite3.Connection, name: str, cost: Fraction) -> str:
        row = link.execute("SELECT granted, spent FROM accounts WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise BudgetError(f"{name!r} has no budget in {self.path}; grant one with `sfumato budget grant`")
        granted, gone = stored(row[0], "a limit"), spent(link, name, row[1])
        if gone + cost > granted:
            raise BudgetError(
                f"{title(name or None)} has {written(granted - gone)} of {written(granted)} left, and this costs "
                f"{written(cost)}; nothing was asked of the data"
            )
        return _set(link, name, rounded_up(gone + cost))

    def _refuse_delta(self, link: sqlite3.Connection, unlikely: Fraction) -> None:
        """Refuse more delta than was granted."""
        account = ledger_rows.deltas(link)
        if account.spent + unlikely > account.granted:
            raise BudgetError(
                f"everybody together has a delta of {written(account.left)} left in {self.path}, and this needs "
                f"{written(unlikely)}; `sfumato budget grant {self.path} TOTAL --delta DELTA` sets the limit"
            )

    def _lowered(self, link: sqlite3.Connection, charge: int, row: Any, event: Event) -> dict[str, Any]:
        """Put what was done in the place of what was reserved, and give the rest back."""
        analyst, reserved = row[0], stored(row[1], "a cost")
        cost, before = self._cost(event), ledger_rows.event_of(row[2])
        if cost > reserved or delta_of(event) > delta_of(before):
            raise BudgetError(f"charge {charge} has {written(reserved)} reserved, and {written(cost)} was spent")
        sums = {}
        for name in (account_of(analyst), EVERYBODY):
            (noted,) = link.execute("SELECT spent FROM accounts WHERE name = ?", (name,)).fetchone()
            sums[name] = _set(link, name, spent(link, name, noted) - reserved + cost)
        told = json.dumps(to_json(event))
        link.execute("UPDATE charges SET cost = ?, event = ? WHERE id = ?", (str(cost), told, charge))
        return {"cost": str(cost), "event": told, "spent": sums}


def _set(link: sqlite3.Connection, name: str, amount: Fraction) -> str:
    link.execute("UPDATE accounts SET spent = ? WHERE name = ?", (str(amount), name))
    return str(amount)


def _refuse_below(whose: str, most: Fraction, gone: Fraction, of: str = "") -> None:
    if most < gone:
        raise BudgetError(f"{whose} has spent {of}{written(gone)} already; a limit of {written(most)} is less")
