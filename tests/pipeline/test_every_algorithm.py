"""Every algorithm with every model: what it accepts verifies from its bytes, the rest is refused clearly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.cli.main import main
from sfumato.pipeline.catalog.catalog import catalog

MODELS: dict[str, dict[str, Any]] = {
    "k-anonymity": {"k_anonymity": 4},
    "distinct-l-diversity": {"l_diversity": {"kind": "distinct", "l": 3}},
    "entropy-l-diversity": {"l_diversity": {"kind": "entropy", "l": 2.5}},
    "recursive-l-diversity": {"l_diversity": {"kind": "recursive", "c": 2, "l": 3}},
    "simple-l-diversity": {"l_diversity": {"kind": "simple", "l": 3}},
    "t-closeness": {"t_closeness": {"t": 0.35, "distance": "emd-equal"}},
    "alpha-k-anonymity": {"alpha_k": {"alpha": 0.6, "k": 3}},
    "confidence-bounding": {"confidence": [{"quasi": ["age"], "value": "Sales", "limit": 0.6}]},
    "lkc-privacy": {"lkc": {"l": 2, "k": 3, "c": 0.6, "values": ["Sales"]}},
    "e-m-anonymity": {"e_m": {"e": 1, "m": 1.2, "column": "pay"}},
    "divergence-bounding": {"divergence": {"confidence": 0.6, "far": "branch"}},
    "delta-presence": {"delta_presence": {"high": 0.8}},
    "k-map": {"k_map": 4},
    "personalized-privacy": {"personalized": {"p": 0.7, "guards": {"Sales": "Sales"}}},
}
JOBS = {
    "Sales": "Sales",
    "Adm-clerical": "Clerk",
    "Exec-managerial": "Boss",
    "Prof-specialty": "Expert",
    "Craft-repair": "Maker",
    "Other-service": "Server",
}
FULL_DOMAIN = {"auto", "optimal", "levels", "samarati", "incognito", "datafly", "greedy"}
OPTIONS: dict[str, dict[str, Any]] = {"k-optimize": {"seconds": 0.4}, "levels": {"levels": {"age": 3, "hours": 3}}}
DIVERSITIES = {name for name in MODELS if name.endswith("diversity")}
ONE_BY_ONE = {"k-anonymity", "t-closeness", "alpha-k-anonymity"} | DIVERSITIES
MENDED = {"e-m-anonymity", "personalized-privacy"}
ACCEPTED = {
    "mondrian": ONE_BY_ONE | MENDED,
    "k-optimize": ONE_BY_ONE,
    "local": ONE_BY_ONE | MENDED,
    "top-down": ONE_BY_ONE | MENDED,
    "bottom-up": ONE_BY_ONE | MENDED,
    "cell-suppression": ONE_BY_ONE,
    "microaggregation": ONE_BY_ONE,
    "hilbert": {"k-anonymity", "alpha-k-anonymity"} | DIVERSITIES,
    "anatomy": DIVERSITIES,
}
"""What must be accepted at least; full-domain searches accept every model."""


def people(rows: int, seed: int) -> pl.DataFrame:
    drawn = sf.datasets.census(rows, seed=seed).rename({"hours-per-week": "hours", "fnlwgt": "pay"})
    return drawn.select("age", "hours", "occupation", "pay").with_columns(
        occupation=pl.col("occupation").replace_strict(JOBS, default="Other")
    )


def plan(name: str, privacy: dict[str, Any]) -> sf.Plan:
    hierarchy = {"kind": "intervals", "widths": [10, 20, 40], "low": 0, "high": 100}
    numeric = "e_m" in privacy
    return sf.Plan.parse(
        {
            "columns": {
                "age": {"role": "quasi", "hierarchy": hierarchy},
                "hours": {"role": "quasi", "hierarchy": hierarchy},
                "occupation": {
                    "role": "target" if numeric else "sensitive",
                    "hierarchy": {"tree": {"Any": [*JOBS.values(), "Other"]}},
                },
                "pay": {"role": "sensitive" if numeric else "keep"},
            },
            "privacy": privacy,
            "algorithm": {"name": name, "max_suppressed": 0.1, **OPTIONS.get(name, {})},
        }
    )


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["auto", *catalog().solving("table")])
def test_what_is_accepted_verifies(name: str, model: str, tmp_path: Path):
    frame = people(240, seed=8)
    everyone = pl.concat([frame, people(240, seed=9)]) if model in ("delta-presence", "k-map") else None
    asked = plan(name, MODELS[model])
    told = ""
    try:
        made: sf.Release | None = sf.release(asked, frame, population=everyone)
    except sf.PlanError as refused:
        told = str(refused)
        made = None
    if made is None:
        assert name not in FULL_DOMAIN, told
        assert model not in ACCEPTED.get(name, set()), told
        assert "use " in told
        return
    checked = made.checked(_empty(tmp_path / "out"))
    assert checked.holds, [check for check in checked.checks if not check.holds]
    assert {claim.model for claim in made.claims} == {model}
    assert all(claim.holds for claim in made.claims)


@pytest.mark.parametrize("name", ["auto", *catalog().solving("table")])
def test_the_impossible_ends_with_three_and_the_reason(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    people(60, seed=8).write_csv(tmp_path / "people.csv")
    wanted = "l_diversity = { l = 9 }" if name == "anatomy" else "k_anonymity = 100"
    (tmp_path / "plan.toml").write_text(
        f"""
[input]
path = "people.csv"
[columns.age]
role = "quasi"
hierarchy = {{ kind = "intervals", widths = [10, 50], low = 0, high = 100 }}
[columns.hours]
role = "quasi"
hierarchy = {{ kind = "intervals", widths = [10, 50], low = 0, high = 100 }}
[columns.occupation]
role = "sensitive"
[privacy]
{wanted}
[algorithm]
name = "{name}"
"""
    )
    monkeypatch.setattr("sys.argv", ["sfumato", "release", str(tmp_path / "plan.toml"), "-o", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as stop:
        main()
    told = capsys.readouterr().err
    assert stop.value.code == 3
    assert ("k = 100" in told and "60 rows" in told) or "different values" in told or "l = 9" in told
    assert not (tmp_path / "out").exists()


def test_every_model_of_the_catalog_is_tried():
    assert set(MODELS) == {name for name, part in catalog().models.items() if "table" in part.judges}


def _empty(folder: Path) -> Path:
    folder.mkdir()
    return folder
