"""A ledger binds: the plan pins it, a table has one, an old or edited copy is noticed, and a backup is whole."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import BudgetError, PlanError
from sfumato.dp import chain
from sfumato.dp import ledger as witness
from sfumato.dp.chain import digest
from sfumato.dp.events import Pure
from sfumato.dp.ledger import Ledger
from sfumato.pipeline.queries import query
from sfumato.queries import Session
from sfumato.tables.table import Table
from tests.dp.test_chain import PRIVATE
from tests.weights import examples

ONE = Pure(epsilon=1)
PEOPLE = sf.datasets.census(60, seed=1).select("age", "sex")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.create(tmp_path / "l.db", total=10)
    made.grant("ann", 8)
    return made


def other(place: Path, name: str = "mine.db") -> Path:
    """A ledger that an analyst made for themself."""
    Ledger.create(place / name, total=1000).grant("ann", 1000)
    return place / name


def plan(place: Path, **privacy: Any) -> sf.Plan:
    return sf.Plan.parse({**PRIVATE, "privacy": {**PRIVATE["privacy"], **privacy}}, folder=place)


def spent(ledger: Ledger) -> list[str]:
    return [str(one.spent) for one in ledger.accounts()]


# The plan pins its ledger.


def test_the_ledger_of_the_plan_pays_and_no_other(ledger: Ledger, tmp_path: Path):
    """With the steward's ledger exhausted, a ledger of the analyst's own once answered exactly."""
    ledger.reserve("ann", Pure(epsilon=8))
    mine = other(tmp_path)
    for wrong in (mine, Ledger(mine), str(mine), tmp_path / "none.db"):
        with pytest.raises(PlanError, match=r"privacy.ledger: the plan pays from .*l\.db and from no other ledger"):
            query(plan(tmp_path), "SELECT COUNT(*)", epsilon=500, ledger=wrong, analyst="ann", frame=PEOPLE)
    with pytest.raises(BudgetError, match="'ann' has 0 of 8 left"):
        query(plan(tmp_path), "SELECT COUNT(*)", epsilon=500, analyst="ann", frame=PEOPLE)
    assert (spent(ledger), Ledger(mine).history()) == (["8", "8"], [])


def test_a_copy_of_the_ledger_is_another_one(ledger: Ledger, tmp_path: Path):
    shutil.copy(ledger.path, tmp_path / "copy.db")
    with pytest.raises(PlanError, match="no other ledger"):
        query(plan(tmp_path), "SELECT COUNT(*)", epsilon=1, ledger=tmp_path / "copy.db", frame=PEOPLE)


def test_the_same_ledger_by_another_name_will_do(ledger: Ledger, tmp_path: Path):
    (tmp_path / "folder").mkdir()
    named = tmp_path / "folder" / ".." / "l.db"
    assert len(query(plan(tmp_path), "SELECT COUNT(*)", epsilon=1, ledger=named, frame=PEOPLE)) == 1
    assert ledger.history()[0].analyst == "ann", "the plan's analyst"


def test_without_a_ledger_or_an_analyst_nothing_is_asked(tmp_path: Path):
    bare = sf.Plan.parse({"columns": PRIVATE["columns"]}, folder=tmp_path)
    with pytest.raises(PlanError, match=r"privacy.ledger is missing"):
        query(bare, "SELECT COUNT(*)", epsilon=1, analyst="ann", frame=PEOPLE)
    with pytest.raises(PlanError, match=r"privacy.analyst is missing"):
        query(bare, "SELECT COUNT(*)", epsilon=1, ledger=other(tmp_path), frame=PEOPLE)


# A table has one ledger.


def test_a_ledger_refuses_another_table_and_takes_nothing(ledger: Ledger, tmp_path: Path):
    sf.release(plan(tmp_path), PEOPLE)
    before = spent(ledger)
    strangers = sf.datasets.census(60, seed=2).select("age", "sex")
    for attempt in (
        lambda: sf.release(plan(tmp_path), strangers),
        lambda: query(plan(tmp_path), "SELECT COUNT(*)", epsilon=1, frame=strangers),
        lambda: Session(strangers, ledger=ledger, analyst="ann").count(epsilon=1),
    ):
        with pytest.raises(BudgetError, match=r"is bound to another table than .*sfumato budget bind"):
            attempt()
    assert spent(ledger) == before
    assert [(str(one.cost), one.status) for one in ledger.history()[1:]] == [("0", "settled")] * 3
    assert "another table" in ledger.history()[-1].event["what"]
    query(plan(tmp_path), "SELECT COUNT(*)", epsilon=1, frame=PEOPLE)


def test_a_table_that_grew_is_bound_by_the_steward(ledger: Ledger, tmp_path: Path):
    query(plan(tmp_path), "SELECT COUNT(*)", epsilon=1, frame=PEOPLE)
    grown = pl.concat([PEOPLE, PEOPLE.head(1)])
    ledger.bind(Table(frame=grown))
    query(plan(tmp_path), "SELECT COUNT(*)", epsilon=1, frame=grown)
    assert spent(Ledger(ledger.path)) == ["2", "2"]


def test_the_fingerprint_is_keyed(tmp_path: Path):
    """Two ledgers of one table have nothing in common, and the digest itself is nowhere."""
    told = []
    for name in ("a.db", "b.db"):
        book = Ledger.create(tmp_path / name, total=1)
        book.bind(Table(frame=PEOPLE))
        with closing(sqlite3.connect(book.path)) as link:
            told.append(chain.last(link, "bind"))
    assert told[0] != told[1]
    assert all(digest(Table(frame=PEOPLE)) not in json.dumps(one) for one in told)


CELLS = st.one_of(st.none(), st.text(max_size=3), st.integers(-5, 5))


@examples(80)
@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=4), st.data())
def test_tables_have_one_digest_each(rows: list[list[Any]], data: st.DataObject):
    """Compared with the rows written out: equal where all cells are written alike, different where one is not."""

    def made(lines: list[list[Any]]) -> Table:
        texts = [[None if cell is None else str(cell) for cell in line] for line in lines]
        return Table(frame=pl.DataFrame(texts, schema={"a": pl.String, "b": pl.String}, orient="row"))

    others = data.draw(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=len(rows), max_size=len(rows)))
    same = made(rows).frame.rows() == made(others).frame.rows()
    assert (digest(made(rows)) == digest(made(others))) == same
    assert digest(made(rows)) == digest(Table(frame=made(rows).frame.select("b", "a")))
    assert digest(made(rows)) != digest(Table(frame=made(rows).frame.rename({"a": "c"})))
    assert digest(made(rows)) != digest(made([*rows, ["x", "y"]]))


def test_digests_of_every_type():
    """Columns of every type that a frame can have, each changed in one cell."""
    columns: dict[str, tuple[list[Any], list[Any]]] = {
        "texts": (["ab", "c"], ["a", "bc"]),
        "numbers": ([1, None], [1, 0]),
        "reals": ([1.5, None], [1.5, 0.0]),
        "truth": ([True, None], [True, False]),
        "days": ([date(2020, 1, 1), None], [date(2020, 1, 2), None]),
        "lists": ([["a"], ["b"]], [["a", "b"], []]),
        "records": ([{"x": 1}, {"x": 2}], [{"x": 1}, {"x": None}]),
        "bytes": ([b"a", b""], [b"", b"a"]),
    }
    found = [digest(Table(frame=pl.DataFrame({"x": cells}))) for pair in columns.values() for cells in pair]
    assert len(set(found)) == len(found)
    kinds = pl.Series("x", ["ab", "c"], dtype=pl.Categorical)
    assert digest(Table(frame=kinds.to_frame())) == found[0]


# A counter kept elsewhere.


def test_an_old_copy_is_refused_by_the_witness(ledger: Ledger, tmp_path: Path):
    """No bundle was written: before, nothing told."""
    ledger.watch(tmp_path / "witness")
    shutil.copy(ledger.path, tmp_path / "copy.db")
    ledger.reserve("ann", ONE)
    shutil.copy(tmp_path / "copy.db", ledger.path)
    words = r"rolled back or edited: its witness .*witness saw event 4, which .*l\.db does not hold"
    with pytest.raises(BudgetError, match=words):
        Ledger(ledger.path)
    with pytest.raises(BudgetError, match=words):
        Ledger(ledger.path, lost_witness=True)


def test_a_chain_that_was_made_anew_is_refused_by_the_witness(ledger: Ledger, tmp_path: Path):
    """Whoever can write to the ledger has its key, and can rewrite every event; the witness lies elsewhere."""
    ledger.watch(tmp_path / "witness")
    ledger.reserve("ann", ONE)
    with closing(sqlite3.connect(ledger.path)) as link, link:
        link.executescript(
            "DELETE FROM charges; UPDATE accounts SET spent = '0'; DROP TABLE chain;"
            "CREATE TABLE kept AS SELECT * FROM about WHERE name IN ('id', 'key');"
            "DELETE FROM about WHERE name IN ('id', 'key', 'head')"
        )
        chain.begin(link)
        link.executescript(
            "UPDATE about SET value = (SELECT value FROM kept WHERE name = about.name) WHERE name IN ('id', 'key');"
            "UPDATE about SET value = '0 ' || (SELECT value FROM kept WHERE name = 'id') WHERE name = 'head';"
            "DELETE FROM chain; DROP TABLE kept"
        )
        accounts, charges = chain.tables(link)
        chain.append(link, "begun", {"accounts": accounts, "charges": charges})
        for _ in range(4):
            chain.append(link, "witness", {"path": str(tmp_path / "witness")})
    with closing(sqlite3.connect(ledger.path)) as link:
        assert chain.checked(link).ledger == ledger.head.ledger, "the chain itself is whole"
    with pytest.raises(BudgetError, match="rolled back or edited"):
        Ledger(ledger.path)


def test_a_witness_that_is_lost_or_none_is_refused(ledger: Ledger, tmp_path: Path):
    ledger.watch(tmp_path / "witness")
    (tmp_path / "witness").unlink()
    for attempt in (lambda: Ledger(ledger.path), lambda: ledger.reserve("ann", ONE)):
        with pytest.raises(BudgetError, match=r"is not there: .*sfumato budget witness .*l\.db FILE"):
            attempt()
    Ledger(ledger.path, lost_witness=True).watch(tmp_path / "new")
    assert Ledger(ledger.path).witness == (tmp_path / "new").resolve()
    (tmp_path / "new").write_text("[]")
    with pytest.raises(BudgetError, match="is no witness of a ledger"):
        Ledger(ledger.path)


@pytest.mark.parametrize("what", ["a file of somebody", "the witness of another ledger", "no folder"])
def test_only_a_witness_of_this_ledger_is_written_over(ledger: Ledger, tmp_path: Path, what: str):
    place = tmp_path / "file"
    if what == "a file of somebody":
        place.write_text("letter")
    elif what == "no folder":
        place = tmp_path / "none" / "file"
    else:
        Ledger(other(tmp_path)).watch(place)
    before, event = place.read_bytes() if place.exists() else None, ledger.head.event
    with pytest.raises(BudgetError, match=r"witness"):
        ledger.watch(place)
    assert (place.read_bytes() if place.exists() else None, Ledger(ledger.path).head.event) == (before, event)


def test_the_witness_always_has_the_newest_event(ledger: Ledger, tmp_path: Path):
    ledger.watch(tmp_path / "witness")
    number = ledger.reserve("ann", ONE)
    assert witness.read_witness(tmp_path / "witness") == ledger.head
    ledger.settle(number)
    ledger.grant("ann", 9)
    assert witness.read_witness(tmp_path / "witness") == ledger.head
    assert ledger.head.event == 6


def test_a_crash_before_the_witness_hears_leaves_a_ledger_that_opens(ledger: Ledger, tmp_path: Path):
    ledger.watch(tmp_path / "witness")
    script = (
        "import sys, os, signal\nfrom sfumato.dp import ledger\nfrom sfumato.dp.events import Pure\n"
        "from sfumato.dp.ledger import Ledger\nbook = Ledger(sys.argv[1])\n"
        "ledger.write_witness = lambda *given: os.kill(os.getpid(), signal.SIGKILL)\n"
        "book.reserve('ann', Pure(epsilon=1))\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(ledger.path)], check=False)
    assert done.returncode == -signal.SIGKILL
    again = Ledger(ledger.path)
    assert (spent(again), witness.read_witness(tmp_path / "witness").event) == (["1", "1"], again.head.event - 1)
    again.reserve("ann", ONE)
    assert witness.read_witness(tmp_path / "witness") == again.head


def test_a_witness_that_cannot_be_written_stops_the_answer(ledger: Ledger, tmp_path: Path):
    """The charge is counted, and nothing is asked of the data."""
    (tmp_path / "disk").mkdir()
    ledger.watch(tmp_path / "disk" / "witness")
    asked = []
    session = Session(lambda: asked.append(1), ledger=ledger, analyst="ann")
    shutil.rmtree(tmp_path / "disk")
    with pytest.raises(BudgetError, match="is not there"):
        session.count(epsilon=1)
    assert asked == []


def test_processes_share_a_witness(ledger: Ledger, tmp_path: Path):
    ledger.watch(tmp_path / "witness")
    script = (
        "import sys\nfrom sfumato.dp.events import Pure\nfrom sfumato.dp.ledger import Ledger\n"
        "book = Ledger(sys.argv[1])\nfor _ in range(8):\n"
        "    with book.charged('ann', Pure(epsilon='1/10')):\n        pass\n"
    )
    started = [subprocess.Popen([sys.executable, "-c", script, str(ledger.path)]) for _ in range(3)]
    assert [one.wait(timeout=120) for one in started] == [0, 0, 0]
    again = Ledger(ledger.path)
    assert (witness.read_witness(tmp_path / "witness"), spent(again)) == (again.head, ["12/5", "12/5"])


# One command backs it up whole.


def test_a_backup_is_whole_and_an_old_one_is_noticed(ledger: Ledger, tmp_path: Path):
    ledger.watch(tmp_path / "witness")
    ledger.reserve("ann", ONE)
    ledger.backup(tmp_path / "backup.db")
    assert (Ledger(tmp_path / "backup.db").head, spent(Ledger(tmp_path / "backup.db"))) == (ledger.head, ["1", "1"])
    ledger.reserve("ann", ONE)
    shutil.copy(tmp_path / "backup.db", ledger.path)
    with pytest.raises(BudgetError, match="rolled back"):
        Ledger(ledger.path)


def test_a_backup_replaces_nothing_but_an_older_one(ledger: Ledger, tmp_path: Path):
    ledger.backup(tmp_path / "backup.db")
    ledger.reserve("ann", ONE)
    with pytest.raises(BudgetError, match="exists already; --force replaces an older backup"):
        ledger.backup(tmp_path / "backup.db")
    ledger.backup(tmp_path / "backup.db", force=True)
    assert spent(Ledger(tmp_path / "backup.db")) == ["1", "1"]
    (tmp_path / "letter").write_text("dear" * 500)
    for wrong, words in ((other(tmp_path), "no backup of"), (tmp_path / "letter", "letter"), (ledger.path, "itself")):
        content = wrong.read_bytes()
        with pytest.raises(BudgetError, match=words):
            ledger.backup(wrong, force=True)
        assert wrong.read_bytes() == content
    with pytest.raises(BudgetError, match="cannot be made"):
        ledger.backup(tmp_path / "none" / "backup.db")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["backup.db", "l.db", "letter", "mine.db"]
