"""The log of exact answers: one file for one table, shared by all who ask, with the chain of a ledger.

Every question stands in it before its answer leaves: an event of the chain, written in the same transaction in which it
was decided. So processes that ask at once are answered one after the other, and what a crash leaves is a question whose
answer nobody saw; asked again it is answered again, for it tells nothing new.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sfumato.core.errors import LedgerError, PlanError
from sfumato.dp import chain, ledger_file
from sfumato.dp.chain import bindings
from sfumato.dp.ledger import Book
from sfumato.dp.ledger_file import made_whole
from sfumato.tables.table import Table

Asked = tuple[int, dict[str, Any]]
"""The number of an event, and what was asked and told."""


class AnswerLog(Book):
    """What was asked about one table and what was told.

    Claim: whatever crashes, everything that was told stands in it; and the rules that it was begun with stay.
    """

    units = ("answers",)
    made_by = "--new-log begins one, which knows nothing of what was told before; a table has one log"

    @classmethod
    def create(cls, path: str | Path, rules: Mapping[str, Any], table: Table) -> AnswerLog:
        """A new log under some rules, bound to its table; an existing file is refused."""
        place = Path(path)

        def begun(link: sqlite3.Connection) -> None:
            chain.append(link, "rules", rules)
            chain.append(link, "bind", {"table": bindings(link, table)[0]})

        try:
            if place.exists():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            made_whole(place, lambda new: ledger_file.fill(new, "answers", None, begun))
        except OSError as error:
            raise LedgerError(f"{place} cannot be made: {error.strerror}") from error
        except sqlite3.Error as error:
            raise LedgerError(f"{place} cannot be made: {error}") from error
        return cls(place)

    @property
    def rules(self) -> dict[str, Any]:
        """The rules that it was begun with."""
        rules: dict[str, Any] | None = self._inside(lambda link: chain.last(link, "rules"))
        if rules is None:
            raise LedgerError(f"{self.path} is no log of exact answers: it does not say by which rules it was begun")
        return rules

    @property
    def key(self) -> str:
        """What all who open the log draw from, and nobody else can."""
        return str(self._inside(lambda link: chain.keyed(link, "exact answers")))

    def refuse_rules(self, rules: Mapping[str, Any]) -> None:
        """Refuse other rules than those that the log was begun with."""
        begun, now = self.rules, json.loads(json.dumps(rules))
        for name in sorted({*begun, *now}):
            if begun.get(name) != now.get(name):
                raise PlanError(
                    f"audit.{name}: the log {self.path} was begun with {begun.get(name)!r}, and the plan says "
                    f"{now.get(name)!r}; the rules of a log stay"
                )

    def refuse_other(self, table: Table) -> None:
        """Refuse every table but the one that the log was begun with, unchanged."""
        mine, known = self._inside(lambda link: bindings(link, table))
        if mine not in known:
            raise LedgerError(
                f"{self.path} is the log of another table than {table.source}, or of this one before rows were added, "
                "removed or changed: answers about both would tell of the rows that differ. Ask about the table as it "
                "was, or answer with noise"
            )

    def history(self) -> list[Asked]:
        """Everything that was asked, oldest first."""
        return list(self._inside(lambda link: list(_asked(link, 0))))

    @contextmanager
    def asking(self, after: int) -> Iterator[tuple[list[Asked], Callable[[Mapping[str, Any]], int]]]:
        """One transaction: what was asked since an event, and a function that notes a question; it gives its number."""
        with self._changing() as link:
            yield list(_asked(link, after)), lambda question: chain.append(link, "asked", question).event


def _asked(link: sqlite3.Connection, after: int) -> Iterator[Asked]:
    ask = "SELECT number, content FROM chain WHERE number > ? AND kind = 'asked' ORDER BY number"
    for number, content in link.execute(ask, (after,)):
        yield int(number), json.loads(content)
