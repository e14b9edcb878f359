"""The chain of a ledger: whatever was edited, removed, moved or rolled back is noticed; heads tell nothing."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import BudgetError
from sfumato.dp.chain import Head
from sfumato.dp.events import Pure
from sfumato.dp.ledger import Ledger
from sfumato.pipeline.payment import cited_by, citing, opened
from tests.weights import examples

PRIVATE: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 100, "grid": 25}},
        "sex": {"role": "quasi", "values": ["Male", "Female"]},
    },
    "privacy": {"epsilon": 1, "ledger": "l.db", "analyst": "ann"},
}
OLD = """
PRAGMA journal_mode = WAL;
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE accounts (name TEXT PRIMARY KEY, granted TEXT NOT NULL, spent TEXT NOT NULL);
CREATE TABLE charges (
  id INTEGER PRIMARY KEY, made TEXT NOT NULL, analyst TEXT NOT NULL, what TEXT NOT NULL,
  cost TEXT NOT NULL, event TEXT NOT NULL, status TEXT NOT NULL);
INSERT INTO about VALUES ('unit', 'epsilon');
INSERT INTO accounts VALUES ('', '2', '1/2'), ('ann', '1', '1/2');
INSERT INTO charges VALUES (1, '2026-01-01T00:00:00+00:00', 'ann', 'q', '1/2', '{"kind": "pure"}', 'settled');
"""
"""A ledger as older versions made it."""


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.create(tmp_path / "l.db", total=10)
    made.grant("ann", 8)
    for number in range(3):
        with made.charged("ann", Pure(epsilon=1), what=f"answer {number}"):
            pass
    return made


def changed(path: Path, change: str) -> None:
    with closing(sqlite3.connect(path)) as link, link:
        link.executescript(change)


def made(place: Path, name: str, **more: Any) -> Path:
    """A private release that the ledger pays for."""
    frame = sf.datasets.census(60, seed=1).select("age", "sex")
    sf.release(sf.Plan.parse(PRIVATE, folder=place), frame).write(place / name, **more)
    return place / name


EDITS = {
    "an edited event": "UPDATE chain SET content = replace(content, '\"1\"', '\"0\"') WHERE number = 3",
    "another kind": "UPDATE chain SET kind = 'noted' WHERE number = 3",
    "another charge": "UPDATE chain SET charge = 2 WHERE number = 3",
    "a removed event": "DELETE FROM chain WHERE number = 4",
    "removed and counted anew": "DELETE FROM chain WHERE number = 4; UPDATE chain SET number = number - 1"
    " WHERE number > 4",
    "two events in another order": "UPDATE chain SET number = -1 WHERE number = 3; UPDATE chain SET number = 3"
    " WHERE number = 4; UPDATE chain SET number = 4 WHERE number = -1",
    "the last events removed": "DELETE FROM chain WHERE number > 6",
    "the first event removed": "DELETE FROM chain WHERE number = 1",
    "all events removed": "DELETE FROM chain",
    "a charge removed": "DELETE FROM charges WHERE id = 3",
    "a charge made cheaper": "UPDATE charges SET cost = '1/100' WHERE id = 2",
    "a charge of somebody else": "UPDATE charges SET analyst = 'bob' WHERE id = 2",
    "a charge added": "INSERT INTO charges SELECT 9, made, analyst, what, cost, event, status FROM charges LIMIT 1",
    "a larger limit": "UPDATE accounts SET granted = '100' WHERE name = 'ann'",
    "a smaller sum": "UPDATE accounts SET spent = '0'",
    "an account removed": "DELETE FROM accounts WHERE name = 'ann'",
    "another key": "UPDATE about SET value = '00' WHERE name = 'key'",
    "a broken key": "UPDATE about SET value = 'key' WHERE name = 'key'",
    "no key": "DELETE FROM about WHERE name = 'key'",
    "another name": "UPDATE about SET value = '00' WHERE name = 'id'",
    "another head": "UPDATE about SET value = '4 ' || substr(value, 3) WHERE name = 'head'",
}


@pytest.mark.parametrize("what", EDITS)
def test_whatever_was_changed_by_hand_is_refused(ledger: Ledger, what: str):
    changed(ledger.path, EDITS[what])
    with pytest.raises(BudgetError, match=r"l\.db: the ledger was changed") as refusal:
        Ledger(ledger.path)
    assert refusal.value.exit_code == 2


@examples(60)
@given(data=st.data())
def test_no_single_byte_of_the_chain_can_change_unseen(data, tmp_path_factory):
    """Any text cell of any event, any character, any other character."""
    place = tmp_path_factory.mktemp("ledger")
    book = Ledger.create(place / "l.db", total=10)
    book.grant("ann", 5)
    with book.charged("ann", Pure(epsilon=1)):
        pass
    with closing(sqlite3.connect(book.path)) as link, link:
        column = data.draw(st.sampled_from(["kind", "content", "hash"]))
        number = data.draw(st.integers(1, book.head.event))
        (text,) = link.execute(f"SELECT {column} FROM chain WHERE number = ?", (number,)).fetchone()
        at = data.draw(st.integers(0, len(text) - 1))
        other = data.draw(st.characters(codec="ascii").filter(lambda c: c != text[at]))
        link.execute(f"UPDATE chain SET {column} = ? WHERE number = ?", (text[:at] + other + text[at + 1 :], number))
    with pytest.raises(BudgetError, match="the ledger was changed"):
        Ledger(book.path)


def test_a_running_session_notices_that_its_ledger_was_rolled_back(ledger: Ledger, tmp_path: Path):
    shutil.copy(ledger.path, tmp_path / "copy.db")
    ledger.reserve("ann", Pure(epsilon=1))
    shutil.copy(tmp_path / "copy.db", ledger.path)
    with pytest.raises(BudgetError, match="rolled back"):
        ledger.reserve("ann", Pure(epsilon=1))
    changed(ledger.path, "DELETE FROM chain WHERE number = 8")
    with pytest.raises(BudgetError, match="its last event is 7, and it was 8"):
        Ledger.reserve(_seen(ledger, 7), "ann", Pure(epsilon=1))


def _seen(ledger: Ledger, number: int) -> Ledger:
    """A ledger that saw nothing after an event."""
    with closing(sqlite3.connect(ledger.path)) as link:
        (noted,) = link.execute("SELECT hash FROM chain WHERE number = ?", (number,)).fetchone()
    ledger._seen = Head(ledger=ledger.head.ledger, event=number, head=noted)
    return ledger


def test_one_file_holds_everything(ledger: Ledger, tmp_path: Path):
    """While other objects have it open, and without any companion file."""
    other = Ledger(ledger.path)
    ledger.reserve("ann", Pure(epsilon=1))
    assert [path.name for path in tmp_path.iterdir()] == ["l.db"]
    shutil.copy(ledger.path, tmp_path / "copy.db")
    assert len(Ledger(tmp_path / "copy.db").history()) == len(other.history()) == 4


def test_a_ledger_of_an_older_version_gets_its_chain_once(tmp_path: Path):
    path = tmp_path / "old.db"
    changed(path, OLD)
    first = Ledger(path)
    assert [path.name for path in tmp_path.iterdir()] == ["old.db"]
    assert path.read_bytes()[18:20] == b"\x01\x01"
    assert (first.head.event, len(first.history()), first.accounts()[1].spent) == (1, 1, first.history()[0].cost)
    assert Ledger(path).head == first.head
    with pytest.raises(BudgetError, match="not in the chain"):
        first.receipt(1)
    number = first.reserve("ann", Pure(epsilon="1/2"))
    assert first.receipt(number).event == 2


def test_pending_charges_of_an_older_version_are_folded_in(tmp_path: Path):
    """They lie in -wal while a process of that version has the ledger open; killed, it leaves them there."""
    changed(tmp_path / "old.db", OLD)
    with closing(sqlite3.connect(tmp_path / "old.db", isolation_level=None)) as link:
        link.execute("UPDATE accounts SET spent = '3/4'")
        for end in ("", "-wal"):
            shutil.copy(tmp_path / f"old.db{end}", tmp_path / f"new.db{end}")
    assert Ledger(tmp_path / "new.db").accounts()[0].spent == sf.Ledger(tmp_path / "new.db").accounts()[1].spent
    assert [str(one.spent) for one in Ledger(tmp_path / "new.db").accounts()] == ["3/4", "3/4"]
    assert not (tmp_path / "new.db-wal").exists()


def test_heads_of_equal_ledgers_differ(tmp_path: Path):
    """The hash is keyed: whoever knows every event cannot find it, nor compare two ledgers by it."""
    heads = set()
    for place in range(3):
        book = Ledger.create(tmp_path / f"{place}.db", total=1)
        heads |= {book.head.head, book.head.ledger}
    assert len(heads) == 6
    assert all(len(one) in (32, 64) for one in heads)


def test_a_private_bundle_cites_the_event_that_paid(tmp_path: Path, ledger: Ledger):
    bundle = made(tmp_path, "one")
    cited = cited_by(bundle)
    assert cited is not None
    assert sf.verify(bundle).holds
    book = Ledger(ledger.path)
    assert book.holds(cited)
    assert cited == book.receipt(book.history()[-1].id)
    assert book.bundles() == [bundle]
    assert [folder for folder, _ in citing(book)] == [bundle]
    told = (bundle / "manifest.json").read_text()
    assert "ann" not in told
    assert str(tmp_path) not in told


@pytest.mark.parametrize("where", ["the same folder", "another folder"])
def test_a_ledger_from_an_old_copy_is_refused(tmp_path: Path, ledger: Ledger, where: str):
    made(tmp_path, "one")
    shutil.copy(ledger.path, tmp_path / "backup.db")
    newer = made(tmp_path, "one" if where == "the same folder" else "two", force=True)
    shutil.copy(tmp_path / "backup.db", ledger.path)
    cited = cited_by(newer)
    assert cited is not None
    words = f"the ledger was rolled back: {newer} cites event {cited.event}, which"
    with pytest.raises(BudgetError, match=words):
        opened(ledger.path)
    with pytest.raises(BudgetError, match=words):
        made(tmp_path, "three")
    assert len(Ledger(ledger.path).history()) == 4


def test_a_rolled_back_ledger_that_went_on_is_refused_too(tmp_path: Path, ledger: Ledger):
    """It has an event of that number, with another hash."""
    shutil.copy(ledger.path, tmp_path / "backup.db")
    made(tmp_path, "one")
    shutil.copy(tmp_path / "backup.db", ledger.path)
    forked = Ledger(ledger.path)
    for _ in range(3):
        forked.reserve("ann", Pure(epsilon="1/10"))
    with pytest.raises(BudgetError, match="rolled back"):
        made(tmp_path, "one", force=True)
    assert cited_by(tmp_path / "one") is not None


def test_other_bundles_do_not_matter(tmp_path: Path, ledger: Ledger):
    made(tmp_path, "one")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "manifest.json").write_text(json.dumps({"paid": ledger.head.ledger}))
    Ledger.create(tmp_path / "other.db", total=9).grant("ann", 9)
    sf.release(
        sf.Plan.parse({**PRIVATE, "privacy": {**PRIVATE["privacy"], "ledger": "other.db"}}, folder=tmp_path),
        sf.datasets.census(60, seed=1).select("age", "sex"),
    ).write(tmp_path / "two")
    assert [folder.name for folder, _ in citing(opened(ledger.path))] == ["one"]


@pytest.mark.parametrize(
    "told", [{}, [], {"ledger": "a", "event": "1", "head": "b"}, {"ledger": 1, "event": 1, "head": ""}]
)
def test_citations_that_are_none_are_refused(told: Any):
    with pytest.raises(ValueError, match="ledger"):
        Head.from_json(told)
