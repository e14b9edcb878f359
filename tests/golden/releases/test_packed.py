"""Tables that are read as categories, as large files are, give the golden rows and bundles that verify."""

from __future__ import annotations

import pytest

from sfumato.tables import large_csv
from tests.golden.releases import adapter, comparing
from tests.golden.releases.plans import PLANS

SOME = [
    name
    for name in PLANS
    if name in ("optimal-k", "anatomy", "trajectory-squares", "diffgen-gini")
    or name.startswith(("people", "local", "mondrian"))
]


@pytest.mark.parametrize("name", SOME)
def test_the_rows_are_the_golden_ones(name, monkeypatch):
    monkeypatch.setattr(large_csv, "LARGE", 0)
    plan = adapter.plan_of(PLANS[name], comparing.HERE)
    rows = adapter.private_rows(plan) if "epsilon" in PLANS[name]["privacy"] else adapter.made(plan).rows
    assert comparing.texts(rows).rows() == comparing.kept(name)[""].rows()


def test_a_typed_file_lists_no_category_of_a_removed_row(tmp_path, monkeypatch):
    import polars as pl

    import sfumato as sf

    monkeypatch.setattr(large_csv, "LARGE", 0)
    (tmp_path / "t.csv").write_text("a,s\n" + "x,1\n" * 4 + "rarest,2\n")
    plan = {
        "input": {"path": str(tmp_path / "t.csv")},
        "columns": {"a": {"role": "quasi", "hierarchy": {"kind": "flat"}}, "s": {"role": "keep"}},
        "privacy": {"k_anonymity": 2},
        "algorithm": {"max_suppressed": 0.3},
        "output": {"format": "parquet"},
    }
    made = sf.release(sf.Plan.parse(plan))
    made.write(tmp_path / "out")
    assert set(pl.read_parquet(tmp_path / "out" / "data.parquet").dtypes) == {pl.String}
    assert b"rarest" not in (tmp_path / "out" / "data.parquet").read_bytes()
