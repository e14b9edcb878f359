"""The ledger: who may spend how much on a table, and who has spent what."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from sfumato.core import input_files
from sfumato.core.errors import BudgetError, LedgerError, ParameterError
from sfumato.core.fractions import rounded_up, stored
from sfumato.core.scratch import scratch, sync
from sfumato.core.strict_parsing import read_json
from sfumato.dp import chain, ledger_file
from sfumato.dp.accounting import Unit, delta_of, epsilon_of, rho_of
from sfumato.dp.chain import Head, bindings
from sfumato.dp.events import Event, Sequential, exactly, to_json, written
from sfumato.dp.ledger_file import (
    EVERYBODY,
    Account,
    Charge,
    account_of,
    bring_up_to_date,
    copied,
    made_whole,
    opened,
    refuse_no_file,
    refuse_strange,
    spent,
    title,
    transaction,
)
from sfumato.tables.table import Table

# A counter kept elsewhere: a second file, which the steward names, holds the newest event of a ledger.
#
# Claim: a ledger that lacks the event which its witness saw, or has another one in its place, is refused. So a copy
# that was put back is noticed, and a chain that was made anew under the ledger's own key too, unless the witness was
# changed with it; keep it on another disk, or where fewer people may write. How: after every change the newest event
# is written to the witness, while no other process can change the ledger. What a crash can leave is a witness one
# event behind, which holds all the same. Where the witness lies is an event itself.


_MOST = 10_000
"""A witness has no more bytes."""


def witness_path(link: sqlite3.Connection) -> Path | None:
    """Where the witness of a ledger lies; None where it has none."""
    event = chain.last(link, "witness")
    return None if event is None else Path(str(event["path"]))


def read_witness(place: Path) -> Head:
    """The event that a witness saw last."""
    try:
        with input_files.opened(place) as file:
            return Head.from_json(read_json(file.read(_MOST).decode()))
    except OSError as error:
        raise LedgerError(f"{place} is no witness of a ledger: {error.strerror}") from error
    except ValueError as error:
        raise LedgerError(f"{place} is no witness of a ledger: {error}") from error


def write_witness(place: Path, head: Head) -> None:
    """Put the newest event there, whole or not at all."""
    try:
        with scratch(place.parent, place.name) as workspace:
            workspace.new.touch(mode=0o600)
            workspace.new.write_text(json.dumps(head.to_json()) + "\n", encoding="utf-8")
            sync(workspace.new)
            os.replace(workspace.new, place)
            with suppress(OSError):
                sync(place.parent)
    except OSError as error:
        raise LedgerError(f"{place}, the witness of the ledger, cannot be written: {error.strerror}") from error


def refuse_older(link: sqlite3.Connection, ledger: Path, *, missing: bool = False) -> None:
    """Refuse a ledger that does not hold what its witness saw; ``missing`` says that there may be no witness."""
    place = witness_path(link)
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
    seen = read_witness(place)
    if not chain.held(link, seen):
        raise LedgerError(
            f"the ledger was rolled back or edited: its witness {place} saw event {seen.event}, which {ledger} does "
            "not hold; put its newer copy back, for this one has forgotten charges"
        )


# The file of a ledger as everybody meets it: opened, compared with its witness, changed in one transaction.


class Book:
    """A whole ledger: every event of its chain is as it was written, and it holds what its witness saw."""

    units: ClassVar[tuple[str, ...]] = ("epsilon", "rho")
    """What it can count in."""
    made_by: ClassVar[str] = "`sfumato budget grant` makes a ledger"
    """Where one comes from."""

    def __init__(self, path: str | Path, *, lost_witness: bool = False) -> None:
        """``lost_witness`` opens a ledger whose witness is not there any more, so that another can be named."""
        self.path, self._lost = Path(path), lost_witness
        refuse_no_file(self.path, self.made_by)
        self._seen: Head = self._opened()
        if self.unit not in self.units:
            units = " or ".join(self.units)
            raise LedgerError(f"{self.path} is no ledger of this sort: it counts in {self.unit!r}, not in {units}")

    @property
    def head(self) -> Head:
        """The last event that this object has seen."""
        return self._seen

    @property
    def unit(self) -> Unit:
        """What costs are counted in: pure epsilon, or the rho of zCDP."""
        row = self._inside(lambda link: link.execute("SELECT value FROM about WHERE name = 'unit'").fetchone())
        if row is None:
            raise LedgerError(f"{self.path} is no whole ledger: it does not say what it counts in")
        unit: Unit = row[0]
        return unit

    def holds(self, cited: Head) -> bool:
        """Whether this is the cited ledger and it holds the cited event."""
        return bool(self._inside(lambda link: chain.held(link, cited)))

    def watch(self, place: str | Path) -> None:
        """Name the witness: after every change it holds the newest event. An existing one must agree."""
        file = Path(place).resolve()
        with self._changing() as link:
            if file.exists():
                refuse_unheld(link, self.path, file)
            write_witness(file, chain.newest(link))
            chain.append(link, "witness", {"path": str(file)})
        self._lost = False

    @property
    def witness(self) -> Path | None:
        """Where the witness lies, if there is one."""
        path: Path | None = self._inside(witness_path)
        return path

    def backup(self, to: str | Path, *, force: bool = False) -> None:
        """A whole copy, checked; ``force`` replaces an older copy of the same ledger."""
        try:
            copied(self.path, Path(to), force=force)
        except OSError as error:
            raise LedgerError(f"{to} cannot be made: {error.strerror}") from error
        except sqlite3.Error as error:
            raise LedgerError(f"{to} cannot be made: {error}") from error

    def _inside(self, ask: Any) -> Any:
        try:
            with closing(opened(self.path)) as link:
                return ask(link)
        except (sqlite3.Error, UnicodeError) as error:
            raise LedgerError(f"{self.path} is no ledger, or cannot be read: {error}") from error

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, in the ledger that was opened and no older copy of it; then the witness hears of it."""
        try:
            with transaction(self.path) as link:
                if not chain.held(link, self._seen):
                    raise LedgerError(
                        f"the ledger was rolled back: {self.path} does not hold event {self._seen.event} any more, "
                        "which was there when it was opened"
                    )
                refuse_older(link, self.path, missing=self._lost)
                yield link
                seen, place = chain.newest(link), witness_path(link)
            self._seen = seen
            if place is not None:
                with transaction(self.path) as link:
                    write_witness(place, chain.newest(link))
        except (sqlite3.Error, UnicodeError) as error:
            raise LedgerError(f"{self.path} cannot be changed: {error}") from error

    def _opened(self) -> Head:
        """Bring the file up to date, go through all events, and compare with the witness."""
        self._inside(lambda link: refuse_strange(link, ledger_file.TABLES))
        try:
            bring_up_to_date(self.path)
        except OSError as error:
            raise LedgerError(f"{self.path} cannot be read: {error.strerror}") from error
        except sqlite3.Error as error:
            raise LedgerError(f"{self.path} is no ledger, or cannot be read: {error}") from error
        try:
            head: Head = self._inside(_checked)
        except BudgetError as error:
            raise LedgerError(f"{self.path}: {error}") from error
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise LedgerError(f"{self.path}: the ledger was changed: its chain of events cannot be read") from error
        self._inside(lambda link: refuse_older(link, self.path, missing=self._lost))
        return head


def _checked(link: sqlite3.Connection) -> Head:
    link.execute("BEGIN")
    return chain.checked(link)


# The ledger: who may spend how much on one table, and who has spent what; one SQLite file, many processes at once.
#
# A charge is reserved before the data is touched, for the most that it can cost, and settled after for what it did
# cost. What was reserved and never settled (a crash, a lost connection) stays counted as spent: the budget may be
# overstated, never understated. Every change is also an event of a chain (``dp.chain``); a bundle cites the event
# that paid for it, and a second file that the steward names holds the newest one (``dp.ledger``), so a file from
# an old copy is noticed. A ledger is bound to its table (``dp.chain``): another one is refused.


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
            made_whole(place, lambda new: ledger_file.fill(new, unit, most))
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
            gone = ledger_file.deltas(link).spent
            _refuse_below("everybody together", most, gone, "a delta of ")
            chain.append(link, "delta", {"limit": str(most)})
        return Account(analyst=None, granted=most, spent=gone)

    def accounts(self) -> list[Account]:
        """Everybody together first, then the analysts by name."""
        accounts: list[Account] = self._inside(ledger_file.accounts)
        return accounts

    def deltas(self) -> Account:
        """The delta that everybody together may spend, and has spent."""
        account: Account = self._inside(ledger_file.deltas)
        return account

    def history(self) -> list[Charge]:
        """Every charge, oldest first; a settled one with what it did cost."""
        charges: list[Charge] = self._inside(ledger_file.charges)
        return charges

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
            cursor = link.execute(
                "INSERT INTO charges (made, analyst, what, cost, event, status) VALUES (?, ?, ?, ?, ?, 'reserved')",
                line,
            )
            number = int(cursor.lastrowid or 0)
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
            payload: dict[str, Any] = {"charge": charge}
            if event is not None:
                payload |= self._lowered(link, charge, row, event)
            link.execute("UPDATE charges SET status = 'settled' WHERE id = ?", (charge,))
            chain.append(link, "settle", payload, charge=charge)

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
        events = self._inside(lambda link: chain.every(link, "bundle"))
        return list(dict.fromkeys(Path(event["bundle"]) for event in events))

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
        account = ledger_file.deltas(link)
        if account.spent + unlikely > account.granted:
            raise BudgetError(
                f"everybody together has a delta of {written(account.left)} left in {self.path}, and this needs "
                f"{written(unlikely)}; `sfumato budget grant {self.path} TOTAL --delta DELTA` sets the limit"
            )

    def _lowered(self, link: sqlite3.Connection, charge: int, row: Any, event: Event) -> dict[str, Any]:
        """Put what was done in the place of what was reserved, and give the rest back."""
        analyst, reserved = row[0], stored(row[1], "a cost")
        cost, before = self._cost(event), ledger_file.event_of(row[2])
        if cost > reserved or delta_of(event) > delta_of(before):
            raise BudgetError(f"charge {charge} has {written(reserved)} reserved, and {written(cost)} was spent")
        sums = {}
        for name in (account_of(analyst), EVERYBODY):
            (noted,) = link.execute("SELECT spent FROM accounts WHERE name = ?", (name,)).fetchone()
            sums[name] = _set(link, name, spent(link, name, noted) - reserved + cost)
        event_text = json.dumps(to_json(event))
        link.execute("UPDATE charges SET cost = ?, event = ? WHERE id = ?", (str(cost), event_text, charge))
        return {"cost": str(cost), "event": event_text, "spent": sums}


def _set(link: sqlite3.Connection, name: str, amount: Fraction) -> str:
    link.execute("UPDATE accounts SET spent = ? WHERE name = ?", (str(amount), name))
    return str(amount)


def _refuse_below(whose: str, most: Fraction, gone: Fraction, of: str = "") -> None:
    if most < gone:
        raise BudgetError(f"{whose} has spent {of}{written(gone)} already; a limit of {written(most)} is less")
