"""The file of a ledger as everybody meets it: opened, compared with its witness, changed in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar

from sfumato.budget import chain, ledger_rows, witness
from sfumato.budget.accountants import Unit
from sfumato.budget.chain import Head
from sfumato.budget.ledger_file import bring_up_to_date, copied, opened, refuse_no_file, refuse_strange, transaction
from sfumato.ground.errors import BudgetError, LedgerError


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
            told = " or ".join(self.units)
            raise LedgerError(f"{self.path} is no ledger of this sort: it counts in {self.unit!r}, not in {told}")

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
        found: Unit = row[0]
        return found

    def holds(self, cited: Head) -> bool:
        """Whether this is the cited ledger and it holds the cited event."""
        return bool(self._inside(lambda link: chain.held(link, cited)))

    def watch(self, place: str | Path) -> None:
        """Name the witness: after every change it holds the newest event. An existing one must agree."""
        file = Path(place).resolve()
        with self._changing() as link:
            if file.exists():
                witness.refuse_unheld(link, self.path, file)
            witness.write(file, chain.newest(link))
            chain.append(link, "witness", {"path": str(file)})
        self._lost = False

    @property
    def witness(self) -> Path | None:
        """Where the witness lies, if there is one."""
        found: Path | None = self._inside(witness.place_of)
        return found

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
                witness.refuse_older(link, self.path, missing=self._lost)
                yield link
                seen, place = chain.newest(link), witness.place_of(link)
            self._seen = seen
            if place is not None:
                with transaction(self.path) as link:
                    witness.write(place, chain.newest(link))
        except (sqlite3.Error, UnicodeError) as error:
            raise LedgerError(f"{self.path} cannot be changed: {error}") from error

    def _opened(self) -> Head:
        """Bring the file up to date, go through all events, and compare with the witness."""
        self._inside(lambda link: refuse_strange(link, ledger_rows.TABLES))
        try:
            bring_up_to_date(self.path)
        except OSError as error:
            raise LedgerError(f"{self.path} cannot be read: {error.strerror}") from error
        except sqlite3.Error as error:
            raise LedgerError(f"{self.path} is no ledger, or cannot be read: {error}") from error
        try:
            found: Head = self._inside(_checked)
        except BudgetError as error:
            raise LedgerError(f"{self.path}: {error}") from error
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise LedgerError(f"{self.path}: the ledger was changed: its chain of events cannot be read") from error
        self._inside(lambda link: witness.refuse_older(link, self.path, missing=self._lost))
        return found


def _checked(link: sqlite3.Connection) -> Head:
    link.execute("BEGIN")
    return chain.checked(link)
