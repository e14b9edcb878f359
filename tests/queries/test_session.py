"""A session pays first, then looks; what it may not answer costs nothing."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from sfumato.core.errors import BudgetError, DataError, ParameterError, UnknownColumn
from sfumato.dp.accounting import epsilon_of
from sfumato.dp.events import from_json
from sfumato.dp.ledger import Ledger
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.queries import query
from sfumato.queries import Aggregate, Categories, Numbers, Question, Session
from sfumato.queries.questions import Among, Compare, Either, Not
from sfumato.tables.frames import from_frame
from sfumato.tables.table import Table

FRAME = pl.DataFrame(
    {"age": [20, 30, 40, 50, None], "sex": ["f", "m", "f", "x", "f"], "pay": [1.0, 2.0, 3.0, 4.0, 5.0]}
)
DOMAINS = {"age": Numbers(low=0, high=100, grid=50), "sex": Categories(values=("f", "m"))}
MUCH = 10**7


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.create(tmp_path / "l.db", total=10**9)
    made.grant("ann", 10**9)
    return made


@pytest.fixture
def session(ledger: Ledger) -> Session:
    return Session(FRAME, domains=DOMAINS, ledger=ledger, analyst="ann")


def test_answers_without_visible_noise(session: Session):
    assert session.count(epsilon=MUCH).value == 5
    assert session.count(epsilon=MUCH, where="age >= 30 AND NOT sex = 'x'").value == 2
    by = session.count(epsilon=MUCH, by=["sex", "age"])
    assert by.groups == (("f", "[0-50)"), ("f", "[50-100]"), ("m", "[0-50)"), ("m", "[50-100]"))
    assert by.values.tolist() == [2, 0, 1, 0]
    assert session.sum("age", epsilon=MUCH).value == pytest.approx(140, abs=1e-3)
    assert session.sum("age", epsilon=MUCH, bounds=(0, 25)).value == pytest.approx(95, abs=1e-3)
    assert session.mean("age", epsilon=MUCH).value == pytest.approx(35, abs=1e-3)
    assert session.mean("pay", epsilon=MUCH, bounds=(0, 10), by=["sex"]).values == pytest.approx([3, 2], abs=1e-3)
    assert session.variance("age", epsilon=MUCH).value == pytest.approx(125, abs=1e-2)
    assert 20 <= session.median("age", epsilon=MUCH).value <= 40
    assert session.quantile("age", 0.9, epsilon=MUCH).value == 50
    assert session.histogram("sex", epsilon=MUCH).values.tolist() == [3, 1]
    assert session.histogram("age", epsilon=MUCH, bins=10).values.tolist() == [0, 0, 1, 1, 1, 1, 0, 0, 0, 0]


def test_every_answer_is_charged_what_it_says(session: Session, ledger: Ledger):
    answers = [
        session.count(epsilon="1/3"),
        session.sum("age", epsilon=0.1),
        session.mean("age", epsilon=1),
        session.variance("age", epsilon=1),
        session.quantile("age", 0.9, epsilon=2, by=["sex"]),
        session.histogram("sex", epsilon=0.5),
    ]
    assert [one.epsilon for one in answers] == [Fraction(1, 3), Fraction(1, 10), 1, 1, 2, Fraction(1, 2)]
    charges = ledger.history()
    assert [charge.cost for charge in charges] == [one.epsilon for one in answers]
    assert {charge.status for charge in charges} == {"settled"}
    assert [epsilon_of(from_json(charge.event)) for charge in charges] == [one.epsilon for one in answers]
    assert from_json(charges[2].event) == answers[2].event
    shares = [part["epsilon"] for part in answers[3].to_json()["event"]["parts"]]
    assert shares == ["1/3"] * 3


def test_several_figures_share_the_budget(session: Session):
    asked = Question(aggregates=(Aggregate(kind="count"), Aggregate(kind="mean", column="age")))
    answers = session.ask(asked, epsilon=1)
    assert [one.epsilon for one in answers] == [Fraction(1, 2), Fraction(1, 2)]
    assert answers[1].scales["count"] == pytest.approx(4)
    assert answers[0].scales == pytest.approx({"count": 2})


def test_the_data_is_not_touched_before_it_is_paid_for(tmp_path: Path):
    ledger = Ledger.create(tmp_path / "b.db", total=1)
    ledger.grant("ann", 1)
    looked: list[list[str]] = []

    def load() -> Table:
        looked.append([charge.status for charge in ledger.history()])
        return Table(frame=FRAME)

    session = Session(load, domains=DOMAINS, ledger=ledger, analyst="ann")
    with pytest.raises(BudgetError) as refusal:
        session.count(epsilon=2)
    assert refusal.value.exit_code == 3
    assert looked == []
    session.count(epsilon="1/2")
    session.count(epsilon="1/4")
    assert looked == [["reserved"]]


def test_a_failure_while_reading_stays_charged(ledger: Ledger):
    def load() -> Table:
        raise DataError("the disk is gone")

    session = Session(load, domains=DOMAINS, ledger=ledger, analyst="ann")
    with pytest.raises(DataError):
        session.count(epsilon=1)
    assert [(charge.cost, charge.status) for charge in ledger.history()] == [(1, "reserved")]


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda s: s.count(epsilon=0), ParameterError, "epsilon"),
        (lambda s: s.count(epsilon=1, confidence=1), ParameterError, "confidence"),
        (lambda s: s.count(epsilon=1, confidence=0), ParameterError, "confidence"),
        (lambda s: s.count(epsilon=1, where="no = 1"), UnknownColumn, "WHERE"),
        (lambda s: s.count(epsilon=1, by=["pay"]), ParameterError, "no declared domain"),
        (lambda s: s.count(epsilon=1, by=["sex", "sex"]), ParameterError, "once"),
        (lambda s: s.sum("pay", epsilon=1), ParameterError, "no declared domain"),
        (lambda s: s.sum("sex", epsilon=1), ParameterError, "no numbers"),
        (lambda s: s.sum("no", epsilon=1, bounds=(0, 1)), UnknownColumn, "no column 'no'"),
        (lambda s: s.quantile("age", 1.5, epsilon=1), ParameterError, "share"),
        (lambda s: s.histogram("sex", epsilon=1, bins=3), ParameterError, "bins"),
        (lambda s: s.histogram("age", epsilon=1, bins=0), ParameterError, "bins"),
        (lambda s: s.ask(Question(aggregates=()), epsilon=1), ParameterError, "aggregates"),
        (lambda s: s.ask("SELECT COUNT(*)", epsilon=1), ParameterError, "question"),
        (lambda s: s.count(epsilon="1e999999999"), ParameterError, "digits"),
        (lambda s: s.count(epsilon=1, where=3), ParameterError, "where"),
        (lambda s: s.count(epsilon=1, where=""), ParameterError, "WHERE|SQL"),
        (lambda s: s.count(epsilon=1, where=Not(condition=3)), ParameterError, "where"),
        (lambda s: s.count(epsilon=1, where=Compare(column="age", operator="=", value=None)), ParameterError, "value"),
        (lambda s: s.count(epsilon=1, where=Among(column="age", values=(1, "a"))), ParameterError, "all numbers"),
        (lambda s: s.count(epsilon=1, by="sex"), ParameterError, "by"),
        (lambda s: s.count(epsilon=1, by=[3]), ParameterError, "by"),
        (lambda s: s.sum(3, epsilon=1, bounds=(0, 1)), ParameterError, "column"),
        (lambda s: s.sum("age", epsilon=1, bounds=7), ParameterError, "bounds"),
        (lambda s: s.sum("age", epsilon=1, bounds=(0, 1, 2)), ParameterError, "bounds"),
        (lambda s: s.sum("age", epsilon=1, bounds=("a", "b")), ParameterError, "low"),
        (lambda s: s.histogram("age", epsilon=1, domain="x"), ParameterError, "domains"),
        (lambda s: s.histogram("sex", epsilon=1, domain=Categories(values=(1, 2))), ParameterError, "values"),
    ],
)
def test_what_cannot_be_answered_costs_nothing(session: Session, ledger: Ledger, ask, error, said):
    with pytest.raises(error, match=said):
        ask(session)
    assert ledger.history() == []


def test_too_many_groups_are_refused(ledger: Ledger):
    wide = {name: Numbers(low=0, high=1, grid=1e-3) for name in "abc"}
    session = Session(pl.DataFrame({name: [0.5] for name in "abc"}), domains=wide, ledger=ledger, analyst="ann")
    with pytest.raises(ParameterError, match="more than 1,048,576"):
        session.count(epsilon=1, by=["a", "b", "c"])
    with pytest.raises(ParameterError, match="quantiles"):
        session.median("c", epsilon=1, by=["a", "b"])
    assert ledger.history() == []


def test_any_frame_and_an_empty_one(ledger: Ledger):
    for frame in (FRAME.to_pandas(), pd.DataFrame({"age": [1], "sex": ["f"]})):
        ledger.bind(from_frame(frame))
        session = Session(frame, domains=DOMAINS, ledger=ledger, analyst="ann")
        assert session.count(epsilon=MUCH).value == len(frame)
    ledger.bind(from_frame(FRAME.clear()))
    empty = Session(FRAME.clear(), domains=DOMAINS, ledger=ledger, analyst="ann")
    assert empty.count(epsilon=MUCH, by=["sex"]).values.tolist() == [0, 0]
    assert 0 <= empty.mean("age", epsilon=1).value <= 100
    assert 0 <= empty.median("age", epsilon=1).value <= 100


def test_lists_are_refused_and_single_figures_are_single(ledger: Ledger, session: Session):
    lists = Session(pl.DataFrame({"age": [[1]]}), domains=DOMAINS, ledger=ledger, analyst="ann")
    with pytest.raises(DataError, match="lists"):
        lists.sum("age", epsilon=1)
    several = session.count(epsilon=MUCH, by=["sex"])
    with pytest.raises(ParameterError, match="2 groups"):
        _ = several.value
    low, high = session.count(epsilon=MUCH).interval
    assert (low, high) == (5, 5)


def test_an_analyst_without_a_name_or_a_budget(ledger: Ledger):
    with pytest.raises(ParameterError, match="analyst"):
        Session(FRAME, ledger=ledger, analyst="")
    with pytest.raises(BudgetError, match="no budget"):
        Session(FRAME, ledger=ledger, analyst="eve").count(epsilon=1)


def test_bounds_may_be_a_list(session: Session):
    assert session.sum("age", epsilon=MUCH, bounds=[0, 25]).value == pytest.approx(95, abs=1e-3)


@pytest.mark.parametrize(
    "dtype", [pl.Binary, pl.Object, pl.Duration, pl.List(pl.Int8), pl.Array(pl.Int8, 2), pl.Struct({"a": pl.Int8})]
)
def test_types_that_cannot_be_read_are_refused_before_payment(ledger: Ledger, dtype):
    session = Session(Table(frame=pl.DataFrame(schema={"age": dtype})), domains=DOMAINS, ledger=ledger, analyst="ann")
    for ask in (
        lambda: session.sum("age", epsilon=1),
        lambda: session.count(epsilon=1, by=["age"]),
        lambda: session.count(epsilon=1, where="age = 'x'"),
    ):
        with pytest.raises(DataError, match="not asked about"):
            ask()
    assert ledger.history() == []


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["7", "60", "-9", "x"])])
def test_missing_markers_are_no_numbers_in_groups_figures_and_conditions(ledger: Ledger, dtype):
    cells = pl.Series("age", ["7", "60", "-9", "x", None], dtype=dtype)
    table = Table(frame=cells.to_frame(), missing=("-9",))
    session = Session(table, domains=DOMAINS, ledger=ledger, analyst="ann")
    assert session.count(epsilon=MUCH, by=["age"]).values.tolist() == [1, 1]
    assert session.sum("age", epsilon=MUCH).value == pytest.approx(67, abs=1e-3)
    assert session.count(epsilon=MUCH, where="age < 50").value == 1


@pytest.mark.parametrize("dtype", [pl.Null, pl.Boolean, pl.Date, pl.Datetime, pl.Time, pl.Decimal(9, 2), pl.Int8])
def test_other_types_are_answered(ledger: Ledger, dtype):
    frame = pl.DataFrame({"age": [None, None]}, schema={"age": dtype})
    session = Session(frame, domains=DOMAINS, ledger=ledger, analyst="ann")
    assert session.sum("age", epsilon=MUCH).value == pytest.approx(0, abs=1e-3)
    assert session.count(epsilon=MUCH, by=["age"], where="age = 'x' OR age = 1").values.tolist() == [0, 0]


def test_conditions_that_are_nested_too_deep_are_refused(session: Session, ledger: Ledger):
    deep = one = Compare(column="age", operator="=", value=1)
    for _ in range(5000):
        deep = Either(left=deep, right=one)
    for where in (deep, " OR ".join(["age = 1"] * 900)):
        with pytest.raises(ParameterError, match="100 conditions deep"):
            session.count(epsilon=1, where=where)
    assert ledger.history() == []


HEADED = """
[input]
path = "t.{kind}"
{more}
[columns.age]
role = "quasi"
hierarchy = {{ kind = "intervals", widths = [50], low = 0, high = 100 }}
[columns.sex]
role = "quasi"
values = ["f", "m"]
"""


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "bare.csv"])
def test_a_file_without_rows_is_answered_like_any_other(tmp_path: Path, ledger: Ledger, kind: str):
    empty, path = pl.DataFrame(schema={"sex": pl.String, "age": pl.String}), tmp_path / f"t.{kind}"
    {"csv": empty.write_csv, "parquet": empty.write_parquet, "arrow": empty.write_ipc}.get(kind, Path.touch)(path)
    more = 'header = false\nnames = ["sex", "age"]' if kind == "bare.csv" else ""
    (tmp_path / "plan.toml").write_text(HEADED.format(kind=kind, more=more))
    plan = Plan.load(tmp_path / "plan.toml")
    sql = "SELECT COUNT(*), SUM(age) WHERE age > 3 AND sex = 'f' GROUP BY sex"
    counts, sums = query(plan, sql, epsilon=MUCH, ledger=ledger, analyst="ann")
    assert counts.values.tolist() == [0, 0]
    assert sums.values == pytest.approx([0, 0], abs=1e-3)
    assert [charge.status for charge in ledger.history()] == ["settled"]
