"""What is kept beside a log of exact answers: it decides as the whole history does, or is not used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sfumato.dp.answer_log import AnswerLog
from sfumato.queries.exact import session as exact_session
from sfumato.queries.exact.session import ExactRules, ExactSession, recall, state_file
from tests.queries.asking_at_once import people, questions

RULES = ExactRules(values=("income",), public=("age", "sex"), k=3, groups=(("ann",), ("bob/x",)))


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_session, "EVERY", 5)


def opened(place: Path, *, new: bool = False) -> ExactSession:
    table = people()
    log = AnswerLog.create(place, RULES.to_json(), table) if new else AnswerLog(place)
    return ExactSession(table, rules=RULES, log=log)


def asked(session: ExactSession, seed: int, many: int = 12) -> list[tuple[str, str]]:
    found = []
    for at, sql in enumerate(questions(seed, many)):
        (one,) = session.ask(sql, analyst=("ann", "bob/x")[at % 2])
        found.append((str(one.value), one.refused))
    return found


def test_a_session_goes_on_as_if_it_had_gone_through_the_history(tmp_path: Path):
    asked(opened(tmp_path / "l.db", new=True), 1, 33)
    assert state_file(tmp_path / "l.db").exists()
    with_state = opened(tmp_path / "l.db")
    copy = tmp_path / "copy.db"
    copy.write_bytes((tmp_path / "l.db").read_bytes())
    without = opened(copy)
    assert asked(with_state, 2) == asked(without, 2)
    for name, auditor in with_state._auditors.items():
        mine, theirs = auditor.state(), without._auditors[name].state()
        for part in ("codes", "sizes", "pivots", "inverse", "extreme members", "values"):
            assert np.array_equal(mine[part], theirs[part]), part


def test_only_what_the_log_holds_is_used(tmp_path: Path):
    place = tmp_path / "l.db"
    session = opened(place, new=True)
    old = place.read_bytes()
    asked(session, 1)
    kept = state_file(place).read_bytes()
    key = session.log.key
    assert recall(place, key) is not None
    assert recall(place, "another") is None
    for wrong in (kept[:-1], kept[:20], b"", kept[:40] + b"x" + kept[41:]):
        state_file(place).write_bytes(wrong)
        assert recall(place, key) is None
        asked(opened(place), 3, 1)
    place.write_bytes(old)  # put back: the events that the file knows are gone
    state_file(place).write_bytes(kept)
    again = opened(place)
    again.ask("SELECT COUNT(*)", analyst="ann")
    assert again._auditors == {}


def test_a_file_that_cannot_be_written_costs_no_answer(tmp_path: Path):
    session = opened(tmp_path / "l.db", new=True)
    state_file(tmp_path / "l.db").mkdir()
    assert len(asked(session, 1)) == 12
    assert len(asked(opened(tmp_path / "l.db"), 2)) == 12
