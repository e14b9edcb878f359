"""The hash chain of a ledger, and the digest by which it recognises its table."""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import polars as pl

from sfumato.core.errors import LedgerError
from sfumato.core.randomness import fresh_key
from sfumato.tables.table import Table

# The chain of a ledger: every change is an event, and the hash of an event covers the hash of the one before.
#
# Claim: an event that was edited, removed or moved is noticed when the ledger is opened; and whoever holds the number
# and the hash of an event can tell whether a ledger still holds it. A file that was put back from an old copy does
# not. How: HMAC-SHA-256 under a random key that lies in the ledger. A hash is published in the manifest of a bundle;
# without the key nobody can try out what it may be the hash of. What it tells is the number of the event. It does not
# protect against whoever can write to the file and recomputes the chain: the key lies in it.


TABLE = """
CREATE TABLE chain (
  number INTEGER PRIMARY KEY, kind TEXT NOT NULL, charge INTEGER, content TEXT NOT NULL, hash TEXT NOT NULL)
"""
_CHARGE = "id, made, analyst, what, cost, event, status"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """One event of one ledger, as a bundle cites it."""

    ledger: str
    """The ledger's own name, drawn when it was made."""
    event: int
    """The event's number."""
    head: str
    """Its hash."""

    def to_json(self) -> dict[str, Any]:
        """As a manifest has it."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Any) -> Head:
        """From a manifest; a ValueError says that it is none."""
        if not isinstance(content, Mapping) or set(content) != {"ledger", "event", "head"}:
            raise ValueError("it does not name a ledger, an event and its hash")
        if not isinstance(content["event"], int) or not all(isinstance(content[k], str) for k in ("ledger", "head")):
            raise ValueError("the number of the event must be whole, and ledger and hash texts")
        return cls(**content)


@dataclass(slots=True, kw_only=True)
class _State:
    """What the events so far say that the tables hold."""

    accounts: dict[str, tuple[str, str]] = field(default_factory=dict)
    charges: dict[int, list[Any]] = field(default_factory=dict)

    def take(self, kind: str, payload: Any) -> None:
        """Go one event further."""
        if kind == "begun":
            self.accounts = {name: (granted, spent) for name, granted, spent in payload["accounts"]}
            self.charges = {line[0]: line for line in payload["charges"]}
        elif kind == "grant":
            self.accounts[payload["account"]] = (payload["granted"], payload["spent"])
        elif kind == "reserve":
            self.charges[payload["charge"][0]] = [*payload["charge"], "reserved"]
            for name, spent in payload["spent"].items():
                self.accounts[name] = (self.accounts[name][0], spent)
        elif kind == "settle":
            line = self.charges[payload["charge"]]
            line[-3:] = [payload.get("cost", line[-3]), payload.get("event", line[-2]), "settled"]
            for name, spent in payload.get("spent", {}).items():
                self.accounts[name] = (self.accounts[name][0], spent)

    def holds_in(self, link: sqlite3.Connection) -> bool:
        """Whether the tables say the same."""
        accounts, charges = tables(link)
        return self.accounts == {n: (g, s) for n, g, s in accounts} and list(self.charges.values()) == charges


def tables(link: sqlite3.Connection) -> tuple[list[list[Any]], list[list[Any]]]:
    """All accounts and all charges, in order."""
    accounts = link.execute("SELECT name, granted, spent FROM accounts ORDER BY name").fetchall()
    charges = link.execute(f"SELECT {_CHARGE} FROM charges ORDER BY id").fetchall()
    return [list(line) for line in accounts], [list(line) for line in charges]


def is_chained(link: sqlite3.Connection) -> bool:
    """Whether the ledger has a chain; those of older versions have none."""
    return link.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'chain'").fetchone() is not None


def begin(link: sqlite3.Connection) -> None:
    """Begin a chain with all that the tables hold, within a transaction."""
    link.execute(TABLE)
    name, key = fresh_key(16).hex(), fresh_key().hex()
    link.executemany("INSERT INTO about VALUES (?, ?)", [("id", name), ("key", key), ("head", f"0 {name}")])
    accounts, charges = tables(link)
    append(link, "begun", {"accounts": accounts, "charges": charges})


def append(link: sqlite3.Connection, kind: str, payload: Mapping[str, Any], *, charge: int | None = None) -> Head:
    """Add an event, within a transaction."""
    about = _about(link)
    last, before = head_of(link)
    content = json.dumps(payload, sort_keys=True)
    event_hash = _hash(about["key"], before, last + 1, kind, charge, content)
    link.execute("INSERT INTO chain VALUES (?, ?, ?, ?, ?)", (last + 1, kind, charge, content, event_hash))
    link.execute("UPDATE about SET value = ? WHERE name = 'head'", (f"{last + 1} {event_hash}",))
    return Head(ledger=about["id"], event=last + 1, head=event_hash)


def head_of(link: sqlite3.Connection) -> tuple[int, str]:
    """The number and the hash of the last event; it must be where the ledger says."""
    number, _, noted = _about(link)["head"].partition(" ")
    row = link.execute("SELECT number, hash FROM chain ORDER BY number DESC LIMIT 1").fetchone()
    if row is not None and (str(row[0]), row[1]) != (number, noted):
        raise LedgerError(f"the ledger was changed: its last event is {row[0]}, and it was {number[:20]}")
    return (0, noted) if row is None else (row[0], row[1])


def newest(link: sqlite3.Connection) -> Head:
    """The last event, as others cite it."""
    number, noted = head_of(link)
    return Head(ledger=_about(link)["id"], event=number, head=noted)


def last(link: sqlite3.Connection, kind: str) -> dict[str, Any] | None:
    """What the last event of a kind says; None where there was none."""
    return next(iter(every(link, kind)), None)


def every(link: sqlite3.Connection, kind: str) -> list[dict[str, Any]]:
    """What all events of a kind say, the latest first."""
    ask = "SELECT content FROM chain WHERE kind = ? ORDER BY number DESC"
    return [json.loads(content) for (content,) in link.execute(ask, (kind,))]


def keyed(link: sqlite3.Connection, text: str) -> str:
    """A text under the ledger's own key: nobody without the ledger can try out what it may be."""
    return hmac.new(bytes.fromhex(_about(link)["key"]), text.encode(), hashlib.sha256).hexdigest()


def held(link: sqlite3.Connection, cited: Head) -> bool:
    """Whether the ledger is the cited one and holds the cited event."""
    row = link.execute("SELECT hash FROM chain WHERE number = ?", (cited.event,)).fetchone()
    return _about(link)["id"] == cited.ledger and row is not None and row[0] == cited.head


def checked(link: sqlite3.Connection) -> Head:
    """The last event; every event must be as it was written, and the tables must say what the events say."""
    about, state = _about(link), _State()
    number, before = 0, about["id"]
    for place, kind, charge, content, noted in link.execute("SELECT * FROM chain ORDER BY number"):
        number += 1
        if place != number or noted != _hash(about["key"], before, number, kind, charge, content):
            raise LedgerError(
                f"the ledger was changed: event {number} is not what was written there (edited, removed or moved); "
                "use a copy that nothing but sfumato has written to"
            )
        state.take(kind, json.loads(content))
        before = noted
    if about["head"] != f"{number} {before}":
        raise LedgerError(f"the ledger was changed: the events after {number} were removed")
    if not state.holds_in(link):
        raise LedgerError(
            "the ledger was changed: its accounts or charges are not what its events say; use a copy that nothing but "
            "sfumato has written to"
        )
    return Head(ledger=about["id"], event=number, head=before)


def _hash(key: str, before: str, number: int, kind: str, charge: int | None, content: str) -> str:
    message = json.dumps([before, number, kind, charge, content])
    return hmac.new(bytes.fromhex(key), message.encode(), hashlib.sha256).hexdigest()


def _about(link: sqlite3.Connection) -> dict[str, str]:
    about = dict(link.execute("SELECT name, value FROM about").fetchall())
    if not {"id", "key", "head"} <= set(about):
        raise LedgerError("the ledger was changed: it does not say where its chain of events begins or ends")
    return about


# The digest of a table, by which a ledger knows it again: over cells alone, the same on every machine and version.
#
# A column of text and one of whole numbers that are written alike have the same digest: a file without types and the
# frame that was read from it are one table. Columns count in the order of their names; rows in their own order.


def digest(table: Table) -> str:
    """128 hexadecimal digits over names, nulls and cells.

    >>> digest(Table(frame=pl.DataFrame({"a": ["1", None]}))) == digest(Table(frame=pl.DataFrame({"a": [1, None]})))
    True
    """
    hasher = hashlib.blake2b(f"{table.frame.height} rows".encode())
    for name in sorted(table.frame.columns):
        _text(hasher, name)
        _column(hasher, table.frame[name].rechunk())
    return hasher.hexdigest()


def bindings(link: sqlite3.Connection, table: Table) -> tuple[str, list[str]]:
    """The keyed fingerprint of a table, and those that a ledger is bound to."""
    return keyed(link, f"table {digest(table)}"), [str(event["table"]) for event in every(link, "bind")]


def _text(hasher: Any, text: str) -> None:
    data = text.encode()
    hasher.update(len(data).to_bytes(8, "little") + data)


def _column(hasher: Any, cells: pl.Series) -> None:
    """Nulls, then cells by what they are made of."""
    kind = cells.dtype
    hasher.update(np.packbits(cells.is_null().to_numpy(), bitorder="little").tobytes())
    if isinstance(kind, pl.List | pl.Array):
        plain = cells if isinstance(kind, pl.List) else cells.arr.to_list()
        _numbers(hasher, plain.list.len().fill_null(0))
        _column(hasher, plain.filter(plain.list.len().fill_null(0) > 0).explode())
    elif isinstance(kind, pl.Struct):
        for field in kind.fields:
            _text(hasher, field.name)
            _column(hasher, cells.struct.field(field.name))
    elif kind.is_float():
        _text(hasher, "real")
        hasher.update(cells.cast(pl.Float64).fill_null(0.0).to_numpy().astype("<f8").tobytes())
    elif isinstance(kind, pl.Binary | pl.Object):
        for cell in cells.to_list():
            _text(hasher, repr(cell))
    else:
        _texts(hasher, cells)


def _texts(hasher: Any, cells: pl.Series) -> None:
    """Text, and whatever is written the same everywhere: whole numbers, categories, truth, days and times as counts."""
    if cells.dtype.is_temporal():
        _text(hasher, str(cells.dtype))
        cells = cells.to_physical()
    text = cells.cast(pl.String).fill_null("")
    _numbers(hasher, text.str.len_bytes())
    hasher.update(str(text.str.join("")[0]).encode())


def _numbers(hasher: Any, numbers: pl.Series) -> None:
    hasher.update(numbers.cast(pl.Int64).to_numpy().astype("<i8").tobytes())
