"""Learning from the bundles of several sources: verified first, kept without code, and never unpickled unasked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.core.errors import MissingExtra
from sfumato.mining.saved_model import FILES, chosen_format, read_model_folder
from sfumato.mining.tree_document import TreeDocument
from sfumato.pipeline.shared_models import learn, read_model, write_learnt

PLAN: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 120, "grid": 5}},
        "education": {"role": "quasi"},
        "sex": {"role": "quasi"},
        "income": {"role": "target"},
    },
    "privacy": {"k_anonymity": 5},
    "attack": {"run": False},
    "tree": {},
}


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("sources")
    forms: list[dict[str, Any]] = [{}, {"tree": {"told": "hits"}}, {"tree": {"form": "rules"}}]
    forms.append({"algorithm": {"trees": 3, "max_depth": 2, "seed": 2}, "privacy": {"k_anonymity": 3}})
    for n, more in enumerate(forms):
        made = sf.release(sf.Plan.parse({**PLAN, **more}), sf.datasets.census(400, seed=n))
        made.write(folder / f"source{n}")
    return [folder / f"source{n}" for n in range(len(forms))]


def test_a_model_of_all_sources_with_its_provenance(sources: list[Path], tmp_path: Path):
    model, pool = learn(sources, seed=1)
    assert pool.count == 4 * 400
    assert write_learnt(model, tmp_path / "model") == "json"
    back = read_model_folder(tmp_path / "model")
    rows = sf.datasets.census(300, seed=50)
    assert (back.predict(rows) == model.predict(rows)).all()
    assert np.mean(back.predict(rows) == rows["income"].to_numpy()) > 0.7
    told = json.loads((tmp_path / "model" / "provenance.json").read_text())
    seals = [json.loads((one / "manifest.json").read_text())["sha256"] for one in sources]
    assert [one["seal"] for one in told["sources"]] == seals
    assert told["pseudo_records"] == 1600
    assert told["sources"][0]["claims"] == [{"model": "tree-k-anonymity", "parameters": {"k": 5}}]
    with pytest.raises(sf.BundleError, match="exists already"):
        write_learnt(model, tmp_path / "model")


def test_equal_seeds_give_equal_models_and_a_size_is_kept(sources: list[Path]):
    one, pool = learn(sources, seed=3, size=500)
    other, _ = learn(sources, seed=3, size=500)
    assert abs(pool.count - 500) <= 4
    assert isinstance(one.model, TreeDocument)
    assert one.model.counts is not None
    assert (one.model.counts == other.model.counts).all()


def test_a_source_that_does_not_hold_is_refused(sources: list[Path], tmp_path: Path):
    shutil.copytree(sources[0], tmp_path / "bad")
    (tmp_path / "bad" / "data.json").write_text("{}\n")
    with pytest.raises(sf.BundleError, match="changed after it was sealed"):
        learn([sources[1], tmp_path / "bad"])
    shutil.copytree(sources[0], tmp_path / "page")
    (tmp_path / "page" / "report.html").write_text("other")
    with pytest.raises(sf.ClaimRefuted, match="nothing was learnt"):
        learn([sources[1], tmp_path / "page"])
    with pytest.raises(sf.BundleError, match="twice"):
        learn([sources[0], sources[0]])
    with pytest.raises(sf.BundleError, match="no bundle"):
        learn([])


def test_a_pickle_is_written_and_read_only_when_asked(sources: list[Path], tmp_path: Path):
    pytest.importorskip("sklearn")
    model, _ = learn(sources, learner="logistic", options={"max_iter": 500}, seed=1)
    assert write_learnt(model, tmp_path / "model", how="pickle") == "pickle"
    with pytest.raises(sf.BundleError, match="runs whatever code"):
        read_model_folder(tmp_path / "model")
    back = read_model_folder(tmp_path / "model", allow_pickle=True)
    rows = sf.datasets.census(50, seed=50).with_columns(age=pl.lit(None, dtype=pl.Int64))
    assert (back.predict(rows) == model.predict(rows)).all()
    with (tmp_path / "model" / FILES["pickle"]).open("ab") as file:
        file.write(b"x")
    with pytest.raises(sf.BundleError, match="was changed"):
        read_model_folder(tmp_path / "model", allow_pickle=True)


def test_formats(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sfumato.mining.saved_model.find_spec", lambda name: None)
    assert chosen_format("tree", None) == "json"
    assert chosen_format("logistic", "pickle") == "pickle"
    with pytest.raises(MissingExtra, match="--format pickle"):
        chosen_format("logistic", None)
    with pytest.raises(MissingExtra, match="skl2onnx"):
        chosen_format("logistic", "onnx")
    monkeypatch.setattr("sfumato.mining.saved_model.find_spec", lambda name: object())
    assert chosen_format("logistic", None) == "skops"
    with pytest.raises(sf.ParameterError, match="one of json"):
        chosen_format("tree", "pickle")


@pytest.mark.parametrize(
    ("learner", "options", "why"),
    [
        ("os.system", {}, "classifier of scikit-learn"),
        ("sklearn.nothing.SVC", {}, "No module"),
        ("sklearn.svm.SVR", {}, "no classifier"),
        ("sklearn.svm.SVC", {"shape": 1}, "unexpected keyword"),
        ("tree", {"shape": 1}, "unexpected keyword"),
    ],
)
def test_a_learner_is_refused_before_anything_is_read(learner: str, options: dict[str, Any], why: str):
    pytest.importorskip("sklearn")
    with pytest.raises(sf.ParameterError, match=why):
        learn(["nowhere"], learner=learner, options=options)


def test_a_folder_that_is_no_model_and_a_text_that_is_no_tree(tmp_path: Path):
    with pytest.raises(sf.BundleError, match="holds no model"):
        read_model_folder(tmp_path)
    for text in ("", "[]", '{"document": "sfumato-rules"}'):
        with pytest.raises(sf.DataError):
            read_model(text)
