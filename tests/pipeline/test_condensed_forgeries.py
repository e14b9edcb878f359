"""Condensed releases that are not what they say: forged bundles, other rows, algorithms that do not condense."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.algorithms.condensation import Condense, Condensed
from sfumato.bundles.checks.condensed import SYNTHETIC
from sfumato.bundles.manifest.document import dump, seal
from sfumato.bundles.provenance import leaves
from sfumato.pipeline.release import verify_written
from sfumato.pipeline.verification import verify_again
from tests.bundles.forging import failing, forge, manifest_of
from tests.pipeline.condensed_tables import K, people, plan, written


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return written(tmp_path)


def _rows(folder: Path, change: Any) -> None:
    change(pl.read_csv(folder / "data.csv", infer_schema=False)).write_csv(folder / "data.csv")


@pytest.mark.parametrize(
    ("change", "caught"),
    [
        (lambda m: m["recoding"]["sizes"].append([K - 1, 1]), "claim indistinguishable-groups"),
        (lambda m: m["recoding"].update(sizes=[[400, 1]]), "claim indistinguishable-groups"),
        (lambda m: m["recoding"]["sizes"][0].__setitem__(1, 1), "records of all groups together"),
        (lambda m: m["claims"][0].update(reached=400.0), "claim indistinguishable-groups"),
        (lambda m: m["claims"].clear(), "claim indistinguishable-groups"),
        (lambda m: m["plan"]["privacy"].update(indistinguishable_groups=99), "claim indistinguishable-groups"),
        (lambda m: m["plan"]["privacy"].update(k_anonymity=5), "models that the plan asks for"),
        (lambda m: m["recoding"].update(variance=2.0), "variance of the condensation"),
        (lambda m: m["recoding"].update(copies=2), "copies of the condensation"),
        (lambda m: m["recoding"].update(groups="k-means"), "groups of the condensation"),
        (lambda m: m["recoding"].update(per_class=True), "per_class of the condensation"),
        (lambda m: m["recoding"].update(bounds={"age": [0.0, 99.0]}), "declared bounds"),
        (lambda m: m["recoding"]["columns"].update(sex="drawn"), "types of the columns"),
        (lambda m: m["recoding"]["columns"].pop("sex"), "treated columns"),
        (lambda m: m["data"]["columns"][0].update(role="sensitive"), "roles of the columns"),
        (lambda m: m["marks"].remove(SYNTHETIC), "warnings"),
        (lambda m: m["attacks"].clear(), "attacks that are reported"),
    ],
)
def test_a_forged_manifest_is_caught(bundle: Path, change: Any, caught: str):
    forge(bundle, change)
    assert any(caught in what for what in failing(bundle)), failing(bundle)


UNSEEN = {
    "data/columns/*/type": "whole numbers can be read as reals",
    "data/missing": "a marker that no cell shows",
}
"""What may be changed and is not noticed, and why."""


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return {"drawn": "dealt", "dealt": "drawn", "mean": "spread", "spread": "mean"}.get(value, value + "x")
    return ["x"] if value == [] else {"x": [0.0, 1.0]}


@pytest.mark.parametrize("output", ["rows", "distributions"])
def test_every_value_of_a_manifest_changed_by_itself_is_noticed(output: str, tmp_path: Path):
    """Parts that follow from rows and plan; the form may refuse the change already."""
    folder = written(tmp_path, output=output)
    honest = manifest_of(folder)
    parts = ("recoding/", "claims", "data", "plan/privacy/")
    paths = [path for path, _ in leaves(honest) if path.startswith(parts) and path != "data/sha256"]
    assert len(paths) > 40
    passed = []
    for path in paths:
        content = json.loads(json.dumps(honest))
        node: Any = content
        *way, last = path.split("/")
        for step in way:
            node = node[int(step) if isinstance(node, list) else step]
        key: Any = int(last) if isinstance(node, list) else last
        node[key] = _other(node[key])
        (folder / "manifest.json").write_text(dump(seal(content)))
        try:
            noticed = not verify_written(folder, None).holds
        except sf.BundleError:
            noticed = True
        if not noticed and not any(fnmatchcase(path, one) for one in UNSEEN):
            passed.append(path)
    assert passed == []


def test_a_word_among_the_numbers_is_caught(bundle: Path):
    _rows(bundle, lambda f: f.with_columns(age=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("x")).otherwise("age")))
    forge(bundle)
    assert "types of the columns" in failing(bundle)


def test_a_group_of_fewer_than_k_is_counted_in_an_uncertain_table(tmp_path: Path):
    folder = written(tmp_path, output="distributions")
    _rows(
        folder, lambda f: f.with_columns(age=pl.when(pl.int_range(pl.len()) < 2).then(pl.lit("1.5")).otherwise("age"))
    )
    forge(folder)
    assert "records with the same means and spreads" in failing(folder)
    assert "different means and spreads" in failing(folder)


@pytest.mark.parametrize(
    ("change", "caught"),
    [
        (lambda f: f.with_columns(age=(f["age"].cast(pl.Int64) + 3).cast(pl.String)), "means of the groups"),
        (
            lambda f: f.with_columns(age=pl.col("age").cast(pl.Float64).mean().round().cast(pl.Int64)),
            "products of the groups",
        ),
        (lambda f: f.with_columns(sex=pl.lit("Male")), "values of sex"),
    ],
)
def test_the_steward_catches_rows_of_another_table(bundle: Path, change: Any, caught: str):
    """From the bytes alone nobody can tell; beside the original the groups give other moments, or other words."""
    again = verify_again(bundle, plan=plan(), original=people())
    assert again.holds, [one for one in again.checks if not one.holds]
    _rows(bundle, change)
    forge(bundle)
    again = verify_again(bundle, plan=plan(), original=people())
    wrong = [one.what for one in again.checks if not one.holds]
    assert caught in wrong


def test_the_steward_catches_a_lost_relation_and_another_original(tmp_path: Path):
    frame = people().with_columns(twice=pl.col("age") * 2)
    columns = {name: {"role": "quasi"} for name in ("age", "twice")}
    asked = plan(columns=columns)
    sf.release(asked, frame).write(tmp_path / "out")
    assert verify_again(tmp_path / "out", plan=asked, original=frame).holds
    other = people(400, seed=6).with_columns(pl.col("age") + 4, twice=pl.col("age") * 2)
    assert not verify_again(tmp_path / "out", plan=asked, original=other).holds
    _rows(tmp_path / "out", lambda f: f.with_columns(age=f["age"].shuffle(seed=1)))
    forge(tmp_path / "out")
    again = verify_again(tmp_path / "out", plan=asked, original=frame)
    assert "products of the groups" in [one.what for one in again.checks if not one.holds]


@pytest.mark.parametrize("bad", ["small", "moments"])
def test_an_algorithm_that_does_not_condense_is_refused(bad: str, monkeypatch: pytest.MonkeyPatch):
    """One makes a group of a single record, the other draws from the moments of another table."""
    honest = Condense.__call__

    def wrong(self: Condense, problem: Any, work: Any) -> Condensed:
        made = honest(self, problem, work)
        if bad == "small":
            made.groups[0] = made.groups.max() + 1
        else:
            made.drawn[:] += 5.0
        return made

    monkeypatch.setattr(Condense, "__call__", wrong)
    told = f"a group of 1 records, fewer than {K}" if bad == "small" else "means of the groups"
    with pytest.raises(sf.ClaimRefuted, match=told):
        sf.release(plan(), people())
