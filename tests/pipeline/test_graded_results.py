"""Parts of several sites are joined, a miner's results are translated, and equal what the original gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import BundleError, DataError
from sfumato.mining.document_json import read_tree, tree_of, write_tree
from sfumato.mining.prediction import path_match
from sfumato.mining.records import read_records
from sfumato.mining.rule_document import rules_of, write_rules
from sfumato.mining.tree_learning import TreeLearner
from sfumato.pipeline.graded_sites import interpret, joined, plan_for
from sfumato.pipeline.rules import as_texts
from sfumato.pipeline.rules import rules as mined
from sfumato.tables.graded_grouping import read_terms
from sfumato.tables.graded_secret import GradedSecret
from sfumato.tables.schema import Categories, Numbers
from tests.weights import examples

SCHOOLS = sorted(sf.datasets.census(3000, seed=1)["education"].unique().to_list())
TERMS = {
    "age": {"low": 15, "high": 95, "categories": 5},
    "hours-per-week": {"ranges": [[0, 20], [20, 45], [45, 100]], "gap": 3},
    "education": SCHOOLS,
}
NAMED = ["age", "hours-per-week", "education", "sex", "income"]


def people(rows: int = 400, seed: int = 1) -> pl.DataFrame:
    return sf.datasets.census(rows, seed=seed).select(NAMED)


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sites with one secret, and a bundle of each; a third bundle of another agreement."""
    folder = tmp_path_factory.mktemp("sites")
    GradedSecret.new(read_terms(TERMS)).write(folder / "sites.secret")
    GradedSecret.new(read_terms(TERMS)).write(folder / "other.secret")
    for name, rows, secret in (
        ("a", people()[:250], "sites"),
        ("b", people()[250:], "sites"),
        ("c", people(), "other"),
    ):
        rows.write_csv(folder / f"{name}.csv")
        made = sf.release(plan_for(folder / f"{name}.csv", folder / f"{secret}.secret"))
        made.write(folder / name)
    return folder


@pytest.fixture
def secret(sites: Path) -> GradedSecret:
    return GradedSecret.load(sites / "sites.secret")


def test_the_joined_rows_come_back_as_all_rows(sites: Path, secret: GradedSecret, tmp_path: Path):
    whole = joined([sites / "a", sites / "b"])
    whole.write_csv(tmp_path / "joined.csv")
    back = interpret(tmp_path / "joined.csv", secret).frame
    assert back is not None
    assert back.sort(pl.all()).equals(people().cast(pl.String).sort(pl.all()))
    one = interpret(sites / "a", secret).frame
    assert one is not None
    assert one.height == 250


def test_what_does_not_belong_together_is_refused(sites: Path, secret: GradedSecret, tmp_path: Path):
    with pytest.raises(BundleError, match="different agreements"):
        joined([sites / "a", sites / "c"])
    with pytest.raises(BundleError, match="count twice"):
        joined([sites / "a", sites / "a"])
    with pytest.raises(BundleError, match="at least two"):
        joined([sites / "a"])
    with pytest.raises(BundleError, match="another agreement"):
        interpret(sites / "c", secret)
    fewer = sf.release(plan_for(sites / "b.csv", sites / "sites.secret", drop=["sex"]))
    fewer.write(tmp_path / "fewer")
    with pytest.raises(BundleError, match=r"differ in data\.columns"):
        joined([sites / "a", tmp_path / "fewer"])


@pytest.mark.parametrize("form", ["csv", "parquet", "json", "session"])
def test_rules_are_those_of_the_original(sites: Path, secret: GradedSecret, tmp_path: Path, form: str):
    columns = ["education", "sex", "income"]
    asked: dict[str, Any] = {"columns": columns, "min_support": 0.05, "min_confidence": 0.6}
    found, due = (mined(one, **asked).frame() for one in (joined([sites / "a", sites / "b"]), people()))
    if form in ("csv", "parquet"):
        path = tmp_path / f"rules.{form}"
        as_texts(found).write_csv(path) if form == "csv" else found.write_parquet(path)
        back = interpret(path, secret).frame
        assert back is not None
        rules = [
            (x.split("|") if form == "csv" else x, y.split("|") if form == "csv" else y, n)
            for x, y, n in back.select("antecedent", "consequent", "rows").iter_rows()
        ]
    else:
        path, key = tmp_path / "rules.json", "strongest" if form == "json" else "rules"
        sets = {"sets": [{"items": ["education=education_1"], "rows": 3}]} if form == "session" else {}
        path.write_text(json.dumps({key: found.to_dicts(), **sets}))
        (document,) = interpret(path, secret).documents
        rules = [(one["antecedent"], one["consequent"], one["rows"]) for one in document[key]]
        if sets:
            assert document["sets"][0]["items"] == [f"education={secret.columns['education'].behind('education_1')}"]
    theirs = due.select("antecedent", "consequent", "rows").iter_rows()
    assert {(frozenset(x), frozenset(y), int(n)) for x, y, n in rules} == {
        (frozenset(x), frozenset(y), n) for x, y, n in theirs
    }
    assert len(rules) > 5


def tree_pair(secret: GradedSecret, rows: pl.DataFrame) -> tuple[Any, Any]:
    """A tree of the original, and one of its codes; cuts lie on the grid, and ties are broken alike."""
    learner = TreeLearner(min_leaf=3)
    domains = {"age": Numbers(low=15, high=95, grid=1), "education": Categories(values=tuple(SCHOOLS))}
    named = ["age", "education", "sex", "income"]
    original = learner(read_records(rows.select(named), target="income", domains=domains))
    age, schools = secret.columns["age"], secret.columns["education"]
    first = age.grouping.values[0]  # type: ignore[union-attr]
    shown = rows.select(named).with_columns(
        pl.Series("age", [float(age.shown(str(one))) for one in rows["age"]]),
        pl.Series("education", [schools.shown(one) for one in rows["education"]]),
    )
    coded = {
        "age": Numbers(low=first, high=first + 5, grid=1 / 16),
        "education": Categories(values=tuple(schools.shown(one) for one in SCHOOLS)),
    }
    return original, learner(read_records(shown, target="income", domains=coded))


@examples(20)
@given(seed=st.integers(1, 10**6))
def test_a_tree_of_codes_is_the_tree_of_the_original(seed: int, tmp_path_factory: pytest.TempPathFactory):
    secret = GradedSecret.new(read_terms(TERMS))
    original, coded = tree_pair(secret, people(200, seed=seed % 50))
    folder = tmp_path_factory.mktemp("trees")
    (folder / "tree.json").write_text(write_tree(coded))
    (document,) = interpret(folder / "tree.json", secret).documents
    back = tree_of(document)
    assert path_match(back, original) == 1.0
    assert back.counts is not None
    assert original.counts is not None
    assert sorted(map(tuple, back.counts[back.leaves].tolist())) == sorted(
        map(tuple, original.counts[original.leaves].tolist())
    )


def test_classification_rules_and_mapped_classes(secret: GradedSecret, tmp_path: Path):
    original, coded = tree_pair(secret, people())
    (tmp_path / "rules.json").write_text(write_rules(rules_of(coded)))
    (document,) = interpret(tmp_path / "rules.json", secret).documents
    due = json.loads(write_rules(rules_of(original)))
    assert document["rules"] == due["rules"]
    shown = people().with_columns(
        pl.Series("education", [secret.columns["education"].shown(one) for one in people()["education"]])
    )
    tree = TreeLearner(min_leaf=20)(read_records(shown.select("education", "sex"), target="education"))
    (tmp_path / "classes.json").write_text(write_tree(tree))
    (document,) = interpret(tmp_path / "classes.json", secret).documents
    assert set(document["target"]["values"]) <= set(SCHOOLS)
    assert read_tree(json.dumps(document)).records == 400


def test_centres_of_uniform_ranges_are_means(secret: GradedSecret, tmp_path: Path):
    """The codes of uniform ranges are one straight line of the numbers, so a mean of codes is the code of the mean."""
    ages = people()["age"]
    codes = [float(secret.columns["age"].shown(str(age))) for age in ages]
    document = {"columns": ["age", "records"], "clusters": [[sum(codes) / len(codes), 400]], "squared distances": 3.0}
    (tmp_path / "means.json").write_text(json.dumps(document))
    (found,) = interpret(tmp_path / "means.json", secret).documents
    assert found["clusters"][0] == [pytest.approx(ages.mean(), abs=1e-9), 400]
    assert "squared distances" not in found
    pl.DataFrame({"age": [f"{sum(codes) / len(codes):.9f}"], "size": [400]}).write_csv(tmp_path / "means.csv")
    table = interpret(tmp_path / "means.csv", secret).frame
    assert table is not None
    assert float(table["age"][0]) == pytest.approx(ages.mean(), abs=1e-6)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.json", "", "is empty"),
        ("x.json", "{", "not acceptable JSON"),
        ("x.json", '{"what": 1}', "none of those that can be interpreted"),
        ("x.json", '{"rules": [{"antecedent": ["education=education_99"], "consequent": []}]}', "another agreement"),
        ("x.json", '{"rules": [{"antecedent": 3, "consequent": []}]}', "broken"),
        ("x.json", '{"columns": ["age"], "clusters": [[1e9]]}', "codes lie between"),
        ("x.csv", "age,education\n", "but no rows"),
        ("x.csv", "", "empty"),
        ("x.csv", "city\nUlm\n", "none of the agreed columns"),
        ("x.csv", "education\neducation_99\n", "no alias of this agreement"),
        ("x.csv", "antecedent,consequent\neducation=education_99,sex=Male\n", "no alias of this agreement"),
        ("x.csv", "age\n-5\n", "codes lie between"),
    ],
)
def test_results_that_are_none_are_refused(secret: GradedSecret, tmp_path: Path, name: str, content: str, said: str):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=said):
        interpret(tmp_path / name, secret)
