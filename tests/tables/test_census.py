"""The synthetic census looks like one, can be learnt from, and is covered by its hierarchies."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.tree import DecisionTreeClassifier

from sfumato.core.errors import ParameterError
from sfumato.tables.datasets.synthetic_census import COLUMNS, census, census_hierarchies

NUMBERS = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
PEOPLE = census(30_000, seed=7)


def share(condition: pl.Expr, among: pl.Expr | None = None) -> float:
    people = PEOPLE if among is None else PEOPLE.filter(among)
    return float(people.select(condition.mean()).item())


def is_(column: str, value: str) -> pl.Expr:
    return pl.col(column) == value


def test_columns_and_types_are_those_of_adult() -> None:
    expected = {name: pl.Int64 if name in NUMBERS else pl.String for name in COLUMNS}
    assert len(COLUMNS) == 15
    assert dict(PEOPLE.schema) == expected
    assert dict(census(0, seed=1).schema) == expected
    assert census(0, seed=1).height == 0
    assert sum(PEOPLE.null_count().row(0)) == 0


def test_equal_seeds_give_equal_people() -> None:
    assert census(500, seed=3).equals(census(500, seed=3))
    assert not census(500, seed=3).equals(census(500, seed=4))


@pytest.mark.parametrize(("rows", "seed"), [(-1, 1), (2.5, 1), (True, 1), (1, -1), (1, None)])
def test_impossible_sizes_and_seeds_are_refused(rows: int, seed: int) -> None:
    with pytest.raises(ParameterError, match=r"rows must|seed must"):
        census(rows, seed=seed)


def test_the_marginals_are_plausible() -> None:
    assert share(is_("income", ">50K")) == pytest.approx(0.24, abs=0.02)
    assert share(is_("native-country", "United-States")) == pytest.approx(0.9, abs=0.02)
    assert share(is_("sex", "Male")) == pytest.approx(0.66, abs=0.02)
    assert share(is_("workclass", "Private")) == pytest.approx(0.72, abs=0.04)
    assert share(is_("race", "White")) == pytest.approx(0.86, abs=0.03)
    assert share(pl.col("capital-gain") > 0) < 0.1
    assert share(pl.col("capital-loss") > 0) < 0.06
    assert share((pl.col("capital-loss") > 0) & (pl.col("capital-gain") > 0)) == 0
    assert PEOPLE["age"].min() == 17
    assert PEOPLE["age"].max() == 90
    assert 0 < PEOPLE["hours-per-week"].min() <= PEOPLE["hours-per-week"].max() <= 99  # type: ignore[operator]
    assert PEOPLE["native-country"].n_unique() >= 20


def test_attributes_depend_on_each_other() -> None:
    young = pl.col("age") < 25
    assert share(is_("marital-status", "Never-married"), young) > 0.65
    assert share(is_("marital-status", "Never-married"), pl.col("age") > 45) < 0.15
    assert share(is_("occupation", "Adm-clerical"), is_("sex", "Female")) > 0.2
    assert share(is_("occupation", "Craft-repair"), is_("sex", "Female")) < 0.05
    assert share(is_("occupation", "Prof-specialty"), is_("education", "Masters")) > 0.5
    assert share(is_("race", "Asian-Pac-Islander"), is_("native-country", "Philippines")) > 0.7
    managers = PEOPLE.filter(occupation="Exec-managerial")["hours-per-week"].mean()
    servants = PEOPLE.filter(occupation="Other-service")["hours-per-week"].mean()
    assert managers > servants + 5  # type: ignore[operator]


def test_no_one_contradicts_himself() -> None:
    assert share(is_("sex", "Male"), is_("relationship", "Husband")) == 1
    assert share(is_("sex", "Female"), is_("relationship", "Wife")) == 1
    married = pl.col("marital-status").is_in(["Married-civ-spouse", "Married-AF-spouse"])
    assert share(married, pl.col("relationship").is_in(["Husband", "Wife"])) == 1
    assert PEOPLE.select("education", "education-num").unique().height == PEOPLE["education"].n_unique() == 16


def test_a_tree_learns_the_income() -> None:
    target = (PEOPLE["income"] == ">50K").to_numpy()
    facts = PEOPLE.drop("income").with_columns(pl.col(pl.String).rank("dense")).to_numpy().astype(np.float64)
    tree = DecisionTreeClassifier(max_depth=8, min_samples_leaf=20, random_state=0).fit(facts[:20_000], target[:20_000])
    majority = 1 - target[20_000:].mean()
    assert tree.score(facts[20_000:], target[20_000:]) >= majority + 0.06


def test_every_quasi_identifier_has_a_hierarchy() -> None:
    assert list(census_hierarchies()) == sorted(
        "age workclass education marital-status occupation relationship race sex native-country".split()  # noqa: SIM905
    )


def test_the_ages_are_grouped_by_5_10_and_20_years() -> None:
    lines = census_hierarchies()["age"].read_text().splitlines()
    assert (lines[0], lines[-1]) == ("17;15-19;10-19;0-19;*", "90;90-94;90-99;80-99;*")
