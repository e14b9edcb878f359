"""``sfumato query --exact`` and ``sfumato audit`` as a user meets them."""

from __future__ import annotations

from pathlib import Path

import pytest

PLAN = """
[input]
path = "people.csv"
[columns.age]
role = "quasi"
hierarchy = { kind = "intervals", widths = [10], low = 0, high = 100 }
[columns.sex]
role = "quasi"
values = ["F", "M"]
[columns.income]
role = "sensitive"
[audit]
values = ["income"]
log = "log.db"
"""
DATA = "age,sex,income\n31,F,3100\n31,M,2900\n45,F,5200\n45,M,4100\n52,F,2500.5\n58,F,3900\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(PLAN)
    Path("people.csv").write_text(DATA)
    return tmp_path


def test_answers_refusals_and_looking_back(run, place: Path):
    ask = ("query", "plan.toml", "--exact", "--json")
    none = run(*ask, "SELECT SUM(income)")
    assert (none.code, "--new-log begins one" in none.json["error"]) == (2, True)
    total = run(*ask, "SELECT SUM(income), AVG(income)", "--new-log")
    assert [one["exact"] for one in total.json["answers"]] == ["43401/2", "14467/4"]
    assert total.code == 0
    refused = run(*ask, "SELECT SUM(income) WHERE age < 58")
    assert refused.code == 3
    assert refused.json["answers"][0]["exact"] is None
    shown = run("query", "plan.toml", "SELECT sex, AVG(income) GROUP BY sex", "--exact")
    assert (shown.code, "3675.125" in shown.out) == (0, True)
    told = run("query", "plan.toml", "SELECT MAX(income) WHERE sex = 'M' AND age > 40", "--exact")
    assert (told.code, "refused: it is about fewer than 2 people" in told.out) == (3, True)
    back = run("audit", "log.db", "plan.toml", "--json")
    assert (back.code, back.json["compromised"]) == (0, 0)
    Path("told.sql").write_text("-- elsewhere\nSELECT SUM(income);\nSELECT SUM(income) WHERE age < 58\n")
    found = run("audit", "told.sql", "plan.toml")
    assert found.code == 1
    assert "WHERE age < 58" in found.out
    (one,) = run("audit", "told.sql", "plan.toml", "--json").json["audited"][0]["found"]
    assert (one["rows"], one["what"], one["number"]) == ([6], "value", 2)


def test_intervals_are_told_where_a_width_is_declared(run, place: Path):
    pytest.importorskip("scipy")
    more = "[audit.width.income]\nlow = 0\nhigh = 10000\nwidth = 4000\nmeans = [2000, 8000]\n"
    Path("plan.toml").write_text(PLAN + more)
    Path("told.sql").write_text("SELECT SUM(income)\nSELECT SUM(income) WHERE age = 31\n")
    found = run("audit", "told.sql", "plan.toml", "--json").json["audited"][0]["found"]
    assert found == []
    Path("told.sql").write_text("SELECT SUM(income)\nSELECT MAX(income) WHERE age = 31\n")
    found = run("audit", "told.sql", "plan.toml", "--json").json["audited"][0]["found"]
    assert [(one["rows"], one["low"], one["high"], one["number"]) for one in found] == [
        ([1], 0, 3100, 2),
        ([2], 0, 3100, 2),
    ]
    small = run("query", "plan.toml", "SELECT SUM(income) WHERE age < 32", "--exact", "--new-log")
    assert (small.code, Path("log.db").exists()) == (0, True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("[audit]\n", "[audits]\n"), "unknown key; did you mean 'audit'?"),
        (('values = ["income"]\n', ""), "audit.values is missing"),
        (('["income"]\n', '["wage"]\n'), "'wage' is no column"),
        (('["income"]\n', '["income"]\nk = 1\n'), "audit.k must be at least 2"),
        (('["income"]\n', '["income"]\npublic = ["income"]\n'), "'income' is sensitive"),
        (('["income"]\n', '["income"]\ngroups = [["a"], ["a"]]\n'), "hold every analyst once"),
        (('["income"]\n', '["income"]\nwidth = { income = { low = 0 } }\n'), "audit.width.income.high is missing"),
    ],
)
def test_bad_plans(run, place: Path, change: tuple[str, str], said: str):
    Path("plan.toml").write_text(PLAN.replace(*change))
    done = run("query", "plan.toml", "SELECT SUM(income)", "--exact", "--new-log")
    assert (done.code, said in done.err) == (2, True), done.err
    assert not Path("log.db").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--exact", "--epsilon", "1"), "go with noisy answers"),
        (("--log", "x.db", "--epsilon", "1"), "go with --exact"),
        ((), "--epsilon is missing"),
        (("--exact", "--log", "other.db"), "and no other"),
    ],
)
def test_bad_options(run, place: Path, arguments: tuple[str, ...], said: str):
    done = run("query", "plan.toml", "SELECT SUM(income)", *arguments)
    assert (done.code, said in done.err) == (2, True), done.err


def test_a_history_that_cannot_be_read(run, place: Path):
    assert run("audit", "none.sql", "plan.toml").code == 2
    Path("told.sql").write_text("SELECT SUM(income)\nSELECT MEDIAN(income)\n")
    bad = run("audit", "told.sql", "plan.toml")
    assert (bad.code, "question 2: MEDIAN(income) is not answered" in bad.err) == (2, True)
    Path("told.sql").write_bytes(b"\xff\xfe\x00")
    assert "neither a log nor a text" in run("audit", "told.sql", "plan.toml").err
