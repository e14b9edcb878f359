"""``sfumato query`` and ``sfumato budget`` as a user meets them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.queries import declared_domains
from sfumato.tables.schema import Categories, Numbers

PLAN = """
[input]
path = "census.csv"
missing = ["?"]

[columns.age]
role = "quasi"
hierarchy = { kind = "intervals", widths = [10, 20], low = 0, high = 100 }

[columns."hours-per-week"]
role = "keep"
hierarchy = { kind = "grown", low = 0, high = 100, grid = 25 }

[columns.sex]
role = "quasi"
hierarchy = { bundled = "census/sex" }

[columns.income]
role = "target"
values = ["<=50K", ">50K"]

[columns.race]
role = "quasi"
hierarchy = { kind = "flat" }

[columns.occupation]
role = "drop"
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    sf.datasets.census(400, seed=5).write_csv(tmp_path / "census.csv")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


@pytest.fixture
def ask(run, place: Path):
    run("budget", "grant", place / "l.db", "1000000000")
    run("budget", "grant", place / "l.db", "1000000000", "--analyst", "ann")

    def call(sql: str, *more: object, epsilon: object = "1000000"):
        return run(
            "query",
            place / "plan.toml",
            sql,
            "--epsilon",
            epsilon,
            "--ledger",
            place / "l.db",
            "--analyst",
            "ann",
            *more,
        )

    return call


def test_domains_come_from_the_plan(place: Path):
    assert declared_domains(Plan.load(place / "plan.toml")) == {
        "age": Numbers(low=0, high=100, grid=10),
        "hours-per-week": Numbers(low=0, high=100, grid=25),
        "sex": Categories(values=("Female", "Male", "?")),
        "income": Categories(values=("<=50K", ">50K", "?")),
    }


def test_answers_are_those_of_the_table(ask, place: Path):
    frame = sf.datasets.census(400, seed=5)
    found = ask("SELECT COUNT(*) WHERE age >= 40", "--json").json
    assert found["answers"][0]["rows"][0]["value"] == (frame["age"].cast(int) >= 40).sum()
    assert found["left"] == "999000000"
    means = ask("SELECT sex, AVG(age) AS m, COUNT(*) GROUP BY sex", "--json").json["answers"]
    assert [one["name"] for one in means] == ["m", "count(*)"]
    assert [row["group"] for row in means[1]["rows"]] == [["Female"], ["Male"], ["?"]]
    assert [row["value"] for row in means[1]["rows"]] == [
        (frame["sex"] == name).sum() for name in ("Female", "Male", "?")
    ]
    assert [Fraction(one["epsilon"]) for one in means] == [500000, 500000]
    ages = ask("SELECT COUNT(*) GROUP BY age", "--json").json["answers"][0]["rows"]
    assert [row["group"][0] for row in ages][:2] == ["[0-10)", "[10-20)"]
    assert sum(row["value"] for row in ages) == 400


def test_what_a_person_sees(ask, run, place: Path):
    told = ask('SELECT MEDIAN("hours-per-week"), VARIANCE(age)', epsilon="2").out
    for word in (
        "quantile(hours-per-week, 0.5)",
        "variance(age)",
        "with 0.95 confidence",
        "scale of the noise",
        "left",
    ):
        assert word in told
    shown = run("budget", "show", place / "l.db")
    assert "everybody together" in shown.out
    history = run("budget", "history", place / "l.db")
    assert "settled" in history.out
    (charge,) = run("budget", "history", place / "l.db", "--json").json["charges"]
    assert (charge["analyst"], charge["cost"], charge["status"]) == ("ann", "2", "settled")
    assert "MEDIAN" in charge["what"]


def test_a_budget_ends(run, place: Path):
    book = place / "b.db"
    assert run("budget", "grant", book, "1/2", "--json").json == {
        "analyst": None,
        "granted": "1/2",
        "spent": "0",
        "left": "1/2",
    }
    assert run("budget", "grant", book, "1", "--analyst", "ann").code == 0
    asked = ["query", place / "plan.toml", "SELECT COUNT(*)", "--ledger", book, "--analyst", "ann", "--epsilon", "0.3"]
    assert run(*asked).code == 0
    (place / "census.csv").unlink()
    refused = run(*asked)
    assert (refused.code, "everybody together has 0.2 of 0.5 left" in refused.err) == (3, True)
    assert run(*asked, "--json").json["exit_code"] == 3
    accounts = run("budget", "show", book, "--json").json["accounts"]
    assert [account["spent"] for account in accounts] == ["3/10", "3/10"]
    less = run("budget", "grant", book, "0.1", "--analyst", "ann")
    assert (less.code, "has spent 0.3 already" in less.err) == (3, True)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT MAX(age)", "Allowed: SELECT with COUNT(*)"),
        ("SELECT COUNT(*) WHERE wage > 3", "opens no such column"),
        ("SELECT COUNT(*) WHERE occupation = 'x'", "opens no such column to questions"),
        ("SELECT COUNT(*) GROUP BY race", "no declared domain"),
        ("SELECT SUM(sex)", "no numbers"),
    ],
)
def test_refusals_cost_nothing(ask, run, place: Path, sql: str, said: str):
    done = ask(sql)
    assert (done.code, said in done.err) == (2, True), done.err
    assert run("budget", "history", place / "l.db", "--json").json == {"charges": []}


def test_wrong_ledgers_and_units(run, place: Path):
    assert run("budget", "show", place / "none.db").code == 2
    assert run("budget", "grant", place / "new.db", "1", "--analyst", "ann").code == 2
    assert run("budget", "grant", place / "new.db", "1", "--unit", "delta").code == 2
    assert run("budget", "grant", place / "new.db", "0").code == 2
    assert not (place / "new.db").exists()
    assert run("budget", "grant", place / "new.db", "1", "--unit", "rho").code == 0
    assert run("budget", "grant", place / "new.db", "2", "--unit", "rho").code == 2
    assert run("budget", "show", place / "new.db", "--json").json["unit"] == "rho"
    (place / "text.db").write_text("no ledger" * 100)
    assert run("budget", "show", place / "text.db").code == 2
