"""The part of SQL that is understood means what a database means by it; the rest is refused."""

from __future__ import annotations

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import ParameterError
from sfumato.queries.questions import Among, Both, Compare, Either, Not, columns_of, holding
from sfumato.queries.sql import parse_condition, parse_question
from sfumato.tables.table import Table
from tests.weights import examples


def test_a_whole_statement():
    found = parse_question(
        "SELECT sex, COUNT(*), AVG(age) AS mean_age, SUM(age), VARIANCE(age), VAR_POP(age), MEDIAN(age), "
        "QUANTILE(age, 0.9) FROM people WHERE age >= 40 AND (sex IN ('m', 'f') OR NOT pay BETWEEN -1 AND 2.5) "
        'GROUP BY sex, "marital-status"'
    )
    assert [(one.kind, one.column, one.name) for one in found.aggregates] == [
        ("count", None, "count(*)"),
        ("mean", "age", "mean_age"),
        ("sum", "age", "sum(age)"),
        ("variance", "age", "variance(age)"),
        ("variance", "age", "variance(age)"),
        ("quantile", "age", "quantile(age, 0.5)"),
        ("quantile", "age", "quantile(age, 0.9)"),
    ]
    assert found.by == ("sex", "marital-status")
    assert found.where == Both(
        left=Compare(column="age", operator=">=", value=40.0),
        right=Either(
            left=Among(column="sex", values=("m", "f")),
            right=Not(
                condition=Both(
                    left=Compare(column="pay", operator=">=", value=-1.0),
                    right=Compare(column="pay", operator="<=", value=2.5),
                )
            ),
        ),
    )
    assert list(columns_of(found.where)) == ["age", "sex", "pay", "pay"]


def test_a_value_may_stand_first():
    assert parse_condition("40 < age") == Compare(column="age", operator=">", value=40.0)
    assert parse_condition("'a' = name") == Compare(column="name", operator="=", value="a")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT *",
        "SELECT age FROM t",
        "SELECT 1",
        "SELECT COUNT(age)",
        "SELECT COUNT(DISTINCT age)",
        "SELECT SUM(age + 1)",
        "SELECT SUM(DISTINCT age)",
        "SELECT MAX(age)",
        "SELECT MIN(age)",
        "SELECT STDDEV(age)",
        "SELECT VAR_SAMP(age)",
        "SELECT QUANTILE(age)",
        "SELECT QUANTILE(age, 'x')",
        "SELECT QUANTILE(age, pay)",
        "SELECT COUNT(*) OVER (PARTITION BY sex)",
        "SELECT COUNT(*) FILTER (WHERE age > 3)",
        "SELECT COUNT(*) * 2",
        "SELECT DISTINCT COUNT(*)",
        "SELECT sex, COUNT(*)",
        "SELECT sex FROM t GROUP BY sex",
        "SELECT COUNT(*) FROM a, b",
        "SELECT COUNT(*) FROM a JOIN b ON a.x = b.x",
        "SELECT COUNT(*) FROM (SELECT 1)",
        "SELECT COUNT(*) FROM a TABLESAMPLE (10)",
        "SELECT COUNT(*) FROM main.a",
        "WITH a AS (SELECT 1) SELECT COUNT(*) FROM a",
        "SELECT COUNT(*) GROUP BY ROLLUP (sex)",
        "SELECT COUNT(*) GROUP BY 1",
        "SELECT COUNT(*) GROUP BY sex HAVING COUNT(*) > 3",
        "SELECT COUNT(*) ORDER BY 1",
        "SELECT COUNT(*) LIMIT 3",
        "SELECT COUNT(*) WHERE name LIKE 'A%'",
        "SELECT COUNT(*) WHERE age IS NULL",
        "SELECT COUNT(*) WHERE age = pay",
        "SELECT COUNT(*) WHERE age",
        "SELECT COUNT(*) WHERE 1 = 1",
        "SELECT COUNT(*) WHERE age > 1 + 1",
        "SELECT COUNT(*) WHERE t.age > 1",
        "SELECT COUNT(*) WHERE age IN (SELECT 1)",
        "SELECT COUNT(*) WHERE age IN (1, 'a')",
        "SELECT COUNT(*) WHERE age = (SELECT 1)",
        "SELECT COUNT(*) WHERE f(age) = 1",
        "SELECT COUNT(*) WHERE CASE WHEN age > 1 THEN TRUE ELSE FALSE END",
        "SELECT COUNT(*) WHERE age = -'a'",
        "SELECT COUNT(*) UNION SELECT COUNT(*)",
        "SELECT COUNT(*); SELECT COUNT(*)",
        "DELETE FROM t",
        "DROP TABLE t",
        "",
        "SELECT COUNT(* WHERE",
        "what?",
    ],
)
def test_everything_else_is_refused(sql: str):
    with pytest.raises(ParameterError, match=r"Allowed|one statement|behind IN"):
        parse_question(sql)


@pytest.mark.parametrize(
    "sql", ["age > 3 GROUP BY sex", "age > 3; DROP TABLE t", "age > 3 UNION SELECT 1", "", "age >"]
)
def test_a_condition_is_only_a_condition(sql: str):
    with pytest.raises(ParameterError):
        parse_condition(sql)


NUMBER = st.integers(-3, 3).map(str)
WORD = st.sampled_from(["'a'", "'b'", "'it''s'"])
OPERATOR = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
LEAVES = st.one_of(
    st.builds("x {} {}".format, OPERATOR, NUMBER),
    st.builds("{} {} x".format, NUMBER, OPERATOR),
    st.builds("w {} {}".format, OPERATOR, WORD),
    st.builds("x IN ({}, {})".format, NUMBER, NUMBER),
    st.builds("w NOT IN ({}, {})".format, WORD, WORD),
    st.builds("x BETWEEN {} AND {}".format, NUMBER, NUMBER),
    st.builds("x NOT BETWEEN {} AND {}".format, NUMBER, NUMBER),
)
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("{} OR {}".format, inner, inner),
        st.builds("NOT ({})".format, inner),
    ),
    max_leaves=6,
)


@examples(100)
@given(
    sql=CONDITIONS,
    rows=st.lists(
        st.tuples(st.one_of(st.none(), st.integers(-3, 3)), st.one_of(st.none(), st.sampled_from(["a", "b", "it's"]))),
        max_size=8,
    ),
)
def test_conditions_hold_where_duckdb_says(sql, rows):
    """Also with missing cells, for which a comparison is neither true nor false."""
    frame = pl.DataFrame(
        {"n": range(len(rows)), "x": [r[0] for r in rows], "w": [r[1] for r in rows]},
        schema={"n": pl.Int64, "x": pl.Int64, "w": pl.String},
    )
    with duckdb.connect() as link:
        link.execute("CREATE TABLE t (n BIGINT, x BIGINT, w VARCHAR)")
        if rows:
            link.executemany("INSERT INTO t VALUES (?, ?, ?)", frame.rows())
        expected = {row[0] for row in link.execute(f"SELECT n FROM t WHERE {sql}").fetchall()}
    as_text = frame.with_columns(pl.col("x").cast(pl.String).fill_null("?"))
    for table in (Table(frame=frame), Table(frame=as_text, missing=("?",))):
        assert {n for n, holds in enumerate(holding(parse_condition(sql), table)) if holds} == expected


@pytest.mark.parametrize("many", [900, 5_000])
@pytest.mark.parametrize("shape", ["{} OR {}", "({}) AND {}", "NOT {0}"])
def test_deep_conditions_are_refused_in_one_sentence(many, shape):
    one = "age = 1"
    sql = {
        "{} OR {}": " OR ".join([one] * many),
        "({}) AND {}": "(" * many + one + f") AND {one}" * many,
        "NOT {0}": "NOT " * many + one,
    }[shape]
    for read in (lambda: parse_condition(sql), lambda: parse_question(f"SELECT COUNT(*) WHERE {sql}")):
        with pytest.raises(ParameterError, match="100 conditions deep") as refusal:
            read()
        assert len(str(refusal.value)) < 200


def test_chains_that_are_not_too_long_are_read():
    assert len(list(columns_of(parse_condition(" OR ".join(["age = 1"] * 90))))) == 90
