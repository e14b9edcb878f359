"""The log of exact answers: what crashes, who asks at once, what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

from sfumato.core.errors import BudgetError, DataError, ParameterError, PlanError
from sfumato.dp.answer_log import AnswerLog
from sfumato.dp.ledger import Ledger
from sfumato.queries.exact.session import ExactRules, ExactSession
from tests.queries.asking_at_once import RULES, people

ROOT = Path(__file__).parents[2]


def begun(place: Path, rules: ExactRules = RULES) -> ExactSession:
    table = people()
    return ExactSession(table, rules=rules, log=AnswerLog.create(place, rules.to_json(), table))


def asking(path: Path, processes: int, many: int, *, killed: bool) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-m", "tests.queries.asking_at_once", str(path), str(processes), str(many)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen([*arguments, str(int(killed))], cwd=ROOT, text=True, **pipes)


def again(path: Path, other: Path) -> None:
    """What was decided is what a session by itself decides in the order of the log."""
    fresh = begun(other)
    for _, told in AnswerLog(path).history():
        fresh.ask(told["sql"], analyst=told["analyst"])
    first, second = ([told for _, told in AnswerLog(one).history()] for one in (path, other))
    assert first == second


@pytest.mark.slow
def test_eight_processes_decide_as_one_after_the_other_would(tmp_path: Path):
    begun(tmp_path / "l.db")
    said, _ = asking(tmp_path / "l.db", 8, 12, killed=False).communicate()
    told = AnswerLog(tmp_path / "l.db").history()
    assert len(told) == len(said.splitlines()) == 96
    assert 0 < sum(bool(one["told"][0][1]) for _, one in told) < 96
    again(tmp_path / "l.db", tmp_path / "fresh.db")


@pytest.mark.slow
def test_a_killed_process_loses_nothing_and_repeats_nothing(tmp_path: Path):
    begun(tmp_path / "l.db")
    with asking(tmp_path / "l.db", 1, 100_000, killed=True) as run:
        seen = [json.loads(run.stdout.readline()) for _ in range(20)]
        said, _ = run.communicate("now\n")
    seen += [json.loads(line) for line in said.splitlines() if line.endswith("]")]
    told = [one for _, one in AnswerLog(tmp_path / "l.db").history()]
    assert len(seen) <= len(told) <= len(seen) + 1  # the last may be noted and not be printed
    assert [one["sql"] for one in told][: len(seen)] == [sql for sql, *_ in seen]
    again(tmp_path / "l.db", tmp_path / "fresh.db")


def test_answers_are_exact(tmp_path: Path):
    table = replace(
        people(), frame=pl.DataFrame({"age": [1, 1, 2], "sex": ["F", "M", "F"], "income": ["0.1", "0.2", "7"]})
    )
    session = ExactSession(table, rules=RULES, log=AnswerLog.create(tmp_path / "l.db", RULES.to_json(), table))
    found = session.ask("SELECT SUM(income), AVG(income), COUNT(*), MAX(income)")
    assert [one.value for one in found] == [Fraction(73, 10), Fraction(73, 30), 3, None]
    groups = session.ask("SELECT sex, COUNT(*), SUM(income) GROUP BY sex")
    assert [(one.group, one.value) for one in groups] == [(("F",), 2), (("F",), None), (("M",), 1), (("M",), None)]
    assert session.ask("SELECT SUM(income), AVG(income) WHERE age > 9")[0].value == 0


def test_groups_that_do_not_talk_have_histories_of_their_own(tmp_path: Path):
    rules = replace(RULES, groups=(("ann", "bob"), ("eve",)))
    session = begun(tmp_path / "l.db", rules)
    assert not session.ask("SELECT SUM(income)", analyst="ann")[0].refused
    without = "SELECT SUM(income) WHERE NOT (age = 20 AND sex = 'F')"
    assert session.ask(without, analyst="bob")[0].refused
    assert not session.ask(without, analyst="eve")[0].refused
    assert session.ask("SELECT SUM(income)", analyst="eve")[0].refused
    with pytest.raises(ParameterError, match="in no group"):
        session.ask("SELECT SUM(income)", analyst="zoe")


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT SUM(income) WHERE income > 3", "'income' is not public"),
        ("SELECT SUM(age)", "'age' is not audited"),
        ("SELECT MEDIAN(income)", "Allowed: SELECT with COUNT(*), SUM(x), AVG(x), MIN(x), MAX(x)"),
        ("SELECT income", "is not answered"),
        ("SELECT SUM(income) WHERE age IN (SELECT 1)", "is not answered"),
        ("DROP TABLE people", "is not answered"),
        ("SELECT SUM(income", "cannot be read as SQL"),
        ("SELECT SUM(income) GROUP BY sex, sex", "each column once"),
        ("SELECT SUM(DISTINCT income)", "is not answered"),
        ("SELECT SUM(income) LIMIT 1", "LIMIT is not answered"),
    ],
)
def test_what_is_not_in_the_subset_is_refused_and_not_noted(tmp_path: Path, sql: str, said: str):
    session = begun(tmp_path / "l.db")
    with pytest.raises(ParameterError) as error:
        session.ask(sql)
    assert said in str(error.value)
    assert session.log.history() == []


def test_other_tables_rules_and_files_are_refused(tmp_path: Path):
    begun(tmp_path / "l.db")
    table = people()
    other = replace(table, frame=table.frame.head(39))
    log = AnswerLog(tmp_path / "l.db")
    with pytest.raises(BudgetError, match="the log of another table"):
        ExactSession(other, rules=RULES, log=log)
    with pytest.raises(PlanError, match=r"audit\.k: the log .* was begun with 2, and the plan says 3"):
        ExactSession(table, rules=replace(RULES, k=3), log=log)
    with pytest.raises(BudgetError, match="cannot be made: File exists"):
        AnswerLog.create(tmp_path / "l.db", {}, table)
    with pytest.raises(BudgetError, match="counts in 'answers'"):
        Ledger(tmp_path / "l.db")
    Ledger.create(tmp_path / "ledger.db", total=1)
    with pytest.raises(BudgetError, match="counts in 'epsilon', not in answers"):
        AnswerLog(tmp_path / "ledger.db")
    with pytest.raises(BudgetError, match="--new-log begins one"):
        AnswerLog(tmp_path / "none.db")
    holed = replace(table, frame=table.frame.with_columns(income=pl.when(pl.col("age") > 30).then(pl.col("income"))))
    with pytest.raises(DataError, match="row 1 has no number"):
        ExactSession(holed, rules=RULES, log=AnswerLog.create(tmp_path / "holed.db", RULES.to_json(), holed))


def test_a_log_that_was_put_back_is_noticed(tmp_path: Path):
    session = begun(tmp_path / "l.db")
    session.log.watch(tmp_path / "seen")
    old = (tmp_path / "l.db").read_bytes()
    session.ask("SELECT SUM(income)")
    (tmp_path / "l.db").write_bytes(old)
    with pytest.raises(BudgetError, match="rolled back"):
        AnswerLog(tmp_path / "l.db")
    with pytest.raises(BudgetError, match="rolled back"):
        session.ask("SELECT COUNT(*)")
