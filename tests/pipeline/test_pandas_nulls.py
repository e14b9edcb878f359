"""Nulls of a pandas frame come back as nulls of their column's type, whatever the column's role."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sfumato as sf

COLUMNS = {
    "object": ["a", "a", None, None, "b", "b"],
    "string": pd.array(["x", None] * 3, dtype="string"),
    "whole": pd.array([1, None] * 3, dtype="Int64"),
    "small": pd.array([1, None] * 3, dtype="Int8"),
    "flag": pd.array([True, None] * 3, dtype="boolean"),
    "real": [1.5, np.nan] * 3,
    "when": pd.to_datetime(["2020-01-01", None] * 3),
    "group": pd.Categorical(["u", None] * 3),
}
PRIVACY = {"privacy": {"k_anonymity": 1}, "attack": {"run": False}}
FLAT = {"role": "quasi", "hierarchy": {"kind": "flat"}}


def frame() -> pd.DataFrame:
    return pd.DataFrame({**COLUMNS, "q": [1, 1, 1, 2, 2, 2]})


@pytest.mark.parametrize("role", ["quasi", "keep", "sensitive"])
def test_nulls_stay_nulls_and_types_stay_types(role):
    column = {"role": role, **({"hierarchy": {"kind": "flat"}} if role == "quasi" else {})}
    plan = sf.Plan.parse({"columns": {**dict.fromkeys(COLUMNS, column), "q": FLAT}, **PRIVACY})
    given = frame()
    made = sf.release(plan, given).frame
    assert isinstance(made, pd.DataFrame)
    for name in COLUMNS:
        assert made[name].isna().sum() == given[name].isna().sum(), name
        assert made[name].dtype.kind == given[name].dtype.kind, name
        if name != "group":
            assert made[name].dtype == given[name].dtype, name
        assert set(made[name].dropna().astype(str)) == set(given[name].dropna().astype(str)), name
    assert isinstance(made["group"].dtype, pd.CategoricalDtype)


def test_a_generalized_column_has_nulls_beside_its_labels():
    ages = {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [50], "low": 0, "high": 100}}
    plan = sf.Plan.parse({"columns": {"whole": ages}, "privacy": {"k_anonymity": 2}, "attack": {"run": False}})
    whole = pd.array([1, 2, 51, 52, None, None], dtype="Int64")
    made = sf.release(plan, pd.DataFrame({"whole": whole})).frame
    assert made["whole"].isna().sum() == 2
    assert all(isinstance(one, str) for one in made["whole"].dropna())


def test_a_text_that_the_plan_declares_missing_stays_that_text():
    plan = sf.Plan.parse({"input": {"missing": ["?"]}, "columns": {"object": FLAT}, **PRIVACY})
    made = sf.release(plan, pd.DataFrame({"object": ["a", "?"]})).frame
    assert sorted(made["object"]) == ["?", "a"]


def test_the_written_file_is_as_before(tmp_path):
    plan = sf.Plan.parse({"columns": {"object": FLAT}, **PRIVACY})
    sf.release(plan, frame()[["object"]]).write(tmp_path / "out")
    lines = (tmp_path / "out" / "data.csv").read_text().splitlines()
    assert sorted(lines) == ['""', '""', "a", "a", "b", "b", "object"]
