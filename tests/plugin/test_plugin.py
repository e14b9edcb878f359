"""A package from outside brings one part of each kind, and plans ask for them like for ours."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.attacks.sparse_sets import ItemSubject
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.tables.files import read
from sfumato.testing.attacks import census_subject, check_attack, refuses
from sfumato.testing.formats import check_format
from sfumato.testing.mechanisms import check_private
from sfumato.testing.metrics import BrokenMetric, check_metric
from sfumato.testing.models import check_model, classes_of
from sfumato.testing.searches import check_search
from tests.testing.test_search_kit import problems

INSTALLED = Path(__file__).parent / "installed"
AGES = {"kind": "intervals", "widths": [10, 50], "low": 0, "high": 100}
COLUMNS = {
    "age": {"role": "quasi", "hierarchy": AGES},
    "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
    "occupation": {"role": "sensitive"},
}
PLAIN = {"columns": COLUMNS, "privacy": {"k_anonymity": 5}, "attack": {"trials": 50}}
BASKETS = ["bread|milk", "bread|tea", "bread|milk|gin", "tea", "bread", "milk|tea"] * 6 + ["rum"]


def installed(place: Path) -> None:
    """The catalog as it is with what lies in a folder."""
    sys.path.insert(0, str(place))
    importlib.invalidate_caches()
    catalog.cache_clear()


@pytest.fixture
def sample() -> Iterator[Any]:
    """The sample package, installed for one test."""
    before, known = list(sys.path), set(sys.modules)
    installed(INSTALLED)
    yield importlib.import_module("sfumato_sample")
    sys.path[:] = before
    for name in set(sys.modules) - known:
        if name.startswith("sfumato_sample"):
            del sys.modules[name]
    importlib.invalidate_caches()
    catalog.cache_clear()


def people(rows: int = 200, seed: int = 4) -> pl.DataFrame:
    return sf.datasets.census(rows, seed=seed).select("age", "sex", "occupation", "income")


def made(tree: dict[str, Any], frame: pl.DataFrame, folder: Path, **more: Any) -> sf.Release:
    """A release from a plan, written and verified."""
    found = sf.release(sf.Plan.parse(tree), frame, **more)
    checked = found.write(folder)
    assert checked.holds, [check for check in checked.checks if not check.holds]
    assert sf.verify(folder).holds
    return found


def test_the_catalog_without_it_knows_none_of_it():
    assert "p-sensitive" not in catalog().models
    assert "pipes" not in catalog().formats


def test_every_part_passes_its_kit(sample: Any):
    table = classes_of({"zip": ["1", "1", "2", "2"], "ill": ["flu", "hiv", "flu", "flu"]}, quasi=["zip"])
    for p, k in ((1, 2), (2, 2), (3, 1)):
        assert check_model(sample.PSensitive(p=p, k=k, column="ill"), lambda rng: [table, table]) == 2
    check_metric(sample.WorstColumn)
    for run in (sample.Stairs(), sample.staircase):
        check_search(run, problems(run), complete=False)
    check_attack(sample.OneColumn(), census_subject(300))
    refuses(sample.OneColumn, trials=0)
    baskets = pl.Series([sorted({str(n * k % 97) for k in (1, 2, 3)}) for n in range(97)])
    check_attack(sample.OneItem(trials=97), ItemSubject(released=baskets, people=baskets, covers={}))
    check_private(sample.FirstColumn)
    check_format(sample.PIPES)


def test_a_metric_that_needs_what_nobody_has_breaks_nothing(sample: Any, tmp_path: Path):
    with pytest.raises(BrokenMetric, match="weather"):
        check_metric(sample.Weather)
    found = made(PLAIN, people(), tmp_path / "out")
    assert "weather" not in found.utility
    assert 0 < found.utility["worst-column"] <= 1
    with pytest.raises(sf.PlanError, match=r"utility.metric: weather needs 'weather', which no release offers"):
        sf.release(sf.Plan.parse({**PLAIN, "utility": {"metric": "weather"}}), people())


def test_undeclared_sizes_do_not_break_verification(sample: Any, tmp_path: Path):
    """Without a declared domain the sizes of labels are not published; metrics that read them are not recomputed."""
    columns = {**COLUMNS, "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10, 50]}}}
    found = made({**PLAIN, "columns": columns, "utility": {"metric": "worst-column"}}, people(), tmp_path / "out")
    told = [check.what for check in sf.verify(tmp_path / "out").checks]
    assert "utility: worst-column" in told
    assert "utility: loss" not in told
    assert {"loss", "worst-column"} <= set(found.utility)


@pytest.mark.parametrize("algorithm", ["stairs", "staircase", "optimal", "mondrian"])
def test_a_model_from_a_plan(sample: Any, tmp_path: Path, algorithm: str):
    asked = {"p_sensitive": {"p": 2, "k": 6}}
    found = made({**PLAIN, "privacy": asked, "algorithm": {"name": algorithm}}, people(), tmp_path / "out")
    assert [(claim.model, claim.holds) for claim in found.claims] == [("p-sensitive", True)]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Every group has at least 6 rows and shows at least 2 values of occupation." in page
    assert "one of the 2 values may be far more frequent" in page
    assert "the share of its hierarchy that the worst column climbed" in page
    assert "one-column" in [one.attack for one in found.audit.findings]


def test_its_promises_bound_attacks(sample: Any, tmp_path: Path):
    asked = {"p_sensitive": {"p": 2, "k": 6}}
    found = made({**PLAIN, "privacy": asked, "attack": {"trials": 60, "attacks": ["all"]}}, people(), tmp_path / "out")
    limits = {one.attack: one.limit for one in found.audit.findings}
    for name in ("linkage", "one-column"):
        assert limits[name] is not None
        assert limits[name].value == pytest.approx(1 / 6)
        assert limits[name].why == "claim p-sensitive (p = 2, k = 6, column = occupation)"
    again = sf.attack(tmp_path / "out", people(), attacks=["one-column"], trials=60, seed=1)
    assert [one.attack for one in again.findings] == ["one-column"]
    assert again.findings[0].limit == limits["one-column"]


def test_models_and_algorithms_as_objects(sample: Any):
    found = sf.release(
        people(),
        quasi=["age", "sex"],
        sensitive=["occupation"],
        models=[sample.PSensitive(p=2, k=6, column="occupation")],
        algorithm=sample.Stairs(first=1),
    )
    assert found.algorithm == "stairs"
    assert min(found.levels.values()) >= 1


def test_options_and_parameters_are_refused_by_their_path(sample: Any):
    for change, told in (
        ({"algorithm": {"name": "stairs", "last": 1}}, r"algorithm.last: unknown key"),
        ({"algorithm": {"name": "stairs", "first": -1}}, r"algorithm.first must be at least 0"),
        ({"algorithm": {"name": "staircase", "first": 1}}, r"algorithm.first: unknown key"),
        ({"algorithm": {"name": "stair"}}, r"algorithm.name: 'stair' is not known.*stairs"),
        ({"algorithm": {"name": "drop-rare"}}, r"algorithm.name: 'drop-rare' needs a column of type set or trajectory"),
        ({"privacy": {"p_sensitive": 3}}, r"privacy.p_sensitive: write it as"),
        ({"privacy": {"p_sensitive": {"p": 0, "k": 1}}}, r"privacy.p_sensitive: p must be"),
        ({"privacy": {"item_support": 3}}, r"privacy.item_support: unknown key"),
        ({"attack": {"attacks": ["one-item"]}}, r"attack.attacks: 'one-item' is not known.*one-column"),
        ({"privacy": {"epsilon": 1, "p_sensitive": {}}}, r"privacy.p_sensitive: a differentially private release"),
    ):
        with pytest.raises(sf.PlanError, match=told):
            sf.release(sf.Plan.parse({**PLAIN, **change}), people())


def test_what_cannot_be_met_is_explained(sample: Any):
    with pytest.raises(sf.Infeasible, match="too few rows or values of occupation for k = 900"):
        sf.release(sf.Plan.parse({**PLAIN, "privacy": {"p_sensitive": {"p": 2, "k": 900}}}), people())


def test_a_model_that_needs_a_population(sample: Any, tmp_path: Path):
    tree = {**PLAIN, "privacy": {"crowd": 12}}
    with pytest.raises(
        sf.PlanError, match=r"input.population: delta_presence, k_map and crowd need a population table"
    ):
        sf.release(sf.Plan.parse(tree), people())
    everyone = pl.concat([people(), people(seed=5)])
    found = made(tree, people(), tmp_path / "out", population=everyone)
    assert found.claims[0].reached >= 12


def test_items(sample: Any, tmp_path: Path):
    tree = {
        "columns": {"bought": {"role": "quasi", "type": "set"}},
        "privacy": {"item_support": 8},
        "algorithm": {"name": "drop-rare"},
        "attack": {"trials": 30, "attacks": ["all"]},
    }
    found = made(tree, pl.DataFrame({"bought": BASKETS}), tmp_path / "out")
    shown = {item for cell in found.rows["bought"].drop_nulls() for item in cell.split("|") if item}
    assert shown == {"bread", "milk", "tea"}
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Whoever knows one item of a person finds at least 8 records." in page
    assert "somebody who knows two items" in page
    by_name = {one.attack: one for one in found.audit.findings}
    assert by_name["one-item"].limit is not None
    assert by_name["one-item"].limit.value == pytest.approx(1 / 8)
    assert by_name["sparse, 1 known"].limit == by_name["one-item"].limit
    only = sf.release(
        sf.Plan.parse({**tree, "attack": {"trials": 30, "attacks": ["one-item"]}}), pl.DataFrame({"bought": BASKETS})
    )
    assert [one.attack for one in only.audit.findings] == ["one-item"]
    for name in ("sets", "auto"):
        sf.release(sf.Plan.parse({**tree, "algorithm": {"name": name}}), pl.DataFrame({"bought": BASKETS}))
    with pytest.raises(sf.PlanError, match=r"'one-column' is not known.*Known: 'all', 'sparse', 'one-item'"):
        sf.release(sf.Plan.parse({**tree, "attack": {"attacks": ["one-column"]}}), pl.DataFrame({"bought": BASKETS}))


@pytest.mark.parametrize("output", ["records", "counts"])
def test_a_private_algorithm(sample: Any, tmp_path: Path, output: str):
    columns = {
        "sex": {"role": "quasi", "values": ["Female", "Male"]},
        "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 100, "grid": 10}},
        "income": {"role": "target", "values": ["<=50K", ">50K"]},
    }
    algorithm = {"name": "first-column", "least": 1, "output": output}
    found = made(
        {"columns": columns, "privacy": {"epsilon": "1/3"}, "algorithm": algorithm}, people(), tmp_path / "out"
    )
    assert str(found.promise.epsilon) == "1/3"
    assert set(found.rows["age"].unique()) <= {"*"}


def test_a_format(sample: Any, tmp_path: Path):
    (tmp_path / "people.psv").write_bytes(sample.PIPES.write(people().with_columns(pl.all().cast(pl.String)), None))
    found = sf.release(sf.Plan.parse({**PLAIN, "input": {"path": "people.psv"}}, folder=tmp_path))
    assert found.rows.height == 200
    assert sf.profile(tmp_path / "people.psv").rows == 200
    assert found.write(tmp_path / "out").holds
    assert sf.attack(tmp_path / "out", tmp_path / "people.psv", attacks=["linkage"], trials=30).findings
    with pytest.raises(sf.DataError, match=r"the extension \.psv is not known"):
        read(tmp_path / "people.psv")


def test_a_frontier_compares_by_its_metric(sample: Any, tmp_path: Path):
    people().write_csv(tmp_path / "people.csv")
    grid = {"algorithms": ["stairs"], "metrics": ["worst-column"], "grid": {"privacy.p_sensitive.k": [4, 8]}}
    tree = {**PLAIN, "input": {"path": "people.csv"}, "privacy": {"p_sensitive": {"p": 2, "k": 4}}, "frontier": grid}
    found = sf.frontier(sf.Plan.parse(tree, folder=tmp_path), folder=tmp_path / "front")
    made = [one for one in found.records.values() if one["status"] == "verified"]
    assert all("worst-column" in one["utility"] for one in made)
    assert len(made) >= 2


def test_manifest_names_it(sample: Any, tmp_path: Path):
    made({**PLAIN, "privacy": {"p_sensitive": {"p": 2, "k": 6}}}, people(), tmp_path / "out")
    stated = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert stated["claims"][0]["parameters"] == {"p": 2, "k": 6, "column": "occupation"}
