"""A recoding applied to new records: by level, by cut, by intervals, by mask; and what lies outside the domain."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.bundles.manifest.document import dump, seal
from sfumato.core.errors import BundleError, DataError, ParameterError, PlanError
from sfumato.pipeline.apply import apply
from sfumato.tables.labels import read_interval

JOBS = {
    "Any": {
        "Blue": {"Non-Technical": ["Janitor", "Mover"], "Technical": ["Carpenter", "Technician"]},
        "White": ["Doctor", "Lawyer", "Judge"],
    }
}


def records() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "job": ["Janitor", "Janitor", "Mover", "Mover", "Carpenter", "Carpenter", "Doctor", "Doctor"],
            "age": [21, 22, 23, 24, 41, 42, 43, 44],
            "zip": ["10001", "10002", "10003", "10004", "20001", "20002", "20003", "20004"],
            "born": [
                f"19{y}-0{m}-01"
                for y, m in zip((60, 60, 60, 60, 70, 70, 70, 70), (1, 2, 3, 4, 5, 6, 7, 8), strict=True)
            ],
            "ill": ["flu", "cold"] * 4,
            "name": list("abcdefgh"),
        }
    )


def plan(algorithm: str = "optimal", **privacy: object) -> sf.Plan:
    return sf.Plan.parse(
        {
            "columns": {
                "job": {"role": "quasi", "hierarchy": {"tree": JOBS}},
                "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10, 20], "low": 0, "high": 100}},
                "zip": {"role": "quasi", "type": "text", "hierarchy": {"kind": "mask"}},
                "born": {"role": "quasi", "type": "date", "hierarchy": {"kind": "dates"}},
                "ill": {"role": "sensitive"},
                "name": {"role": "identifier"},
            },
            "privacy": privacy or {"k_anonymity": 2},
            "algorithm": {"name": algorithm},
        }
    )


NEW = pl.DataFrame(
    {
        "age": [29, 40],
        "job": ["Mover", "Judge"],
        "zip": ["10009", "20009"],
        "born": ["1960-12-31", "1970-01-01"],
        "ill": ["flu", "flu"],
        "other": [1, 2],
    }
)


@pytest.mark.parametrize("algorithm", ["optimal", "samarati", "datafly", "top-down", "bottom-up"])
def test_every_value_reads_as_it_does_in_the_release(algorithm: str, tmp_path: Path) -> None:
    made = sf.release(plan(algorithm), records())
    made.write(tmp_path / "out")
    again = apply(tmp_path / "out", records())
    order = list(made.rows.columns)
    assert sorted(again.rows.select(order).rows()) == sorted(made.rows.rows())
    assert again.holds
    assert [claim.model for claim in again.claims] == ["k-anonymity"]
    same = made.transform(records())
    assert same.rows.equals(again.rows)


def test_new_values_get_the_label_that_covers_them(tmp_path: Path) -> None:
    made = sf.release(plan(), records())
    made.write(tmp_path / "out")
    found = apply(tmp_path / "out", NEW)
    assert found.rows.columns == ["job", "age", "zip", "born", "ill"]
    labels = {name: set(made.rows[name].to_list()) for name in ("age", "zip", "born")}
    for name, shown in labels.items():
        assert set(found.rows[name].to_list()) <= shown
    assert not found.holds or found.rows["job"].n_unique() == 1


def test_values_outside_the_domain_are_refused_starred_or_left_out(tmp_path: Path) -> None:
    made = sf.release(plan(), records())
    made.write(tmp_path / "out")
    strange = NEW.with_columns(job=pl.Series(["Mover", "Astronaut"]), age=pl.Series([29, 140]))
    level = made.levels or {}
    if level["job"] == 3 or level["age"] == 3:
        pytest.skip("the release shows nothing in these columns")
    with pytest.raises(DataError, match=r"'job'.*'Astronaut' \(1 rows\).*outside = top"):
        apply(tmp_path / "out", strange)
    top = apply(tmp_path / "out", strange, outside="top")
    assert top.rows["job"][1] == "*"
    assert top.starred == 2
    left = apply(tmp_path / "out", strange, outside="suppress")
    assert left.rows.height == 1
    assert left.left_out == 1
    with pytest.raises(ParameterError, match="outside"):
        apply(tmp_path / "out", strange, outside="drop")  # type: ignore[arg-type]


def test_a_recoding_by_groups_has_no_rule(tmp_path: Path) -> None:
    made = sf.release(plan("mondrian"), records())
    made.write(tmp_path / "out")
    with pytest.raises(PlanError, match="mondrian recodes group by group"):
        apply(tmp_path / "out", NEW)
    with pytest.raises(PlanError, match="no rule"):
        made.transform(NEW)


def test_wrong_files_and_columns_are_told(tmp_path: Path) -> None:
    made = sf.release(plan(), records())
    made.write(tmp_path / "out")
    with pytest.raises(DataError, match="'job'"):
        apply(tmp_path / "out", NEW.drop("job"))
    with pytest.raises(DataError, match="no rows"):
        apply(tmp_path / "out", NEW.clear())
    with pytest.raises(BundleError, match="no bundle"):
        apply(tmp_path, NEW)
    place = tmp_path / "out" / "manifest.json"
    content = json.loads(place.read_text())
    content["recoding"]["columns"]["job"]["labels"]["Pilot"] = 1
    place.write_text(json.dumps(content))
    with pytest.raises(BundleError, match="sealed"):
        apply(tmp_path / "out", NEW)


def test_a_cut_is_carried_on_to_values_that_did_not_occur() -> None:
    tree = {"Any": {"A": {"A1": ["a", "b"], "A2": ["c"]}, "B": ["d", "e"]}}
    frame = pl.DataFrame({"x": ["a", "a", "d", "d"], "y": ["u"] * 4})
    plan_ = sf.Plan.parse(
        {
            "columns": {
                "x": {"role": "quasi", "hierarchy": {"tree": tree}},
                "y": {"role": "quasi", "hierarchy": {"kind": "flat"}},
            },
            "privacy": {"k_anonymity": 2},
            "algorithm": {"name": "top-down", "score": "discernibility", "steps": 1},
        }
    )
    made = sf.release(plan_, frame)
    rules = made.rules
    assert rules is not None
    shown = set(made.rows["x"].to_list())
    if shown == {"A", "B"}:
        assert rules["x"].values == {"a": "A", "b": "A", "c": "A", "d": "B", "e": "B"}
    whole = sf.release(
        sf.Plan.parse({**_tree(plan_), "algorithm": {"name": "top-down", "score": "discernibility"}}), frame
    )
    assert set(whole.rows["x"].to_list()) == {"a", "d"}
    assert whole.rules is not None
    assert whole.rules["x"].values == {"a": "a", "b": "b", "c": "A2", "d": "d", "e": "e"}


def _tree(plan_: sf.Plan) -> dict[str, object]:
    columns = {n: {"role": str(c.role), "hierarchy": c.hierarchy} for n, c in plan_.columns.items()}
    return {"columns": columns, "privacy": dict(plan_.privacy)}


@pytest.mark.parametrize(
    ("label", "low", "high"),
    [("[20-40)", 20, 40), ("[-5 to 3.5]", -5, 3.5), ("<20", None, 20), (">=1e-05", 1e-05, None), ("-3", -3, -3)],
)
def test_interval_labels_are_read_back(label: str, low: float | None, high: float | None) -> None:
    found = read_interval(label)
    assert found is not None
    assert found.low == (low if low is not None else float("-inf"))
    assert found.high == (high if high is not None else float("inf"))
    assert read_interval("Janitor") is None


def test_values_are_read_whatever_type_they_come_in(tmp_path: Path) -> None:
    made = sf.release(plan("top-down", k_anonymity=2), records())
    plain = made.transform(NEW, outside="top").rows
    for changed in (
        NEW.with_columns(pl.col("age").cast(pl.Float64)),
        NEW.with_columns(pl.col("age").cast(pl.String)),
        NEW.with_columns(pl.col("job").cast(pl.Categorical), pl.col("born").str.to_date()),
    ):
        assert made.transform(changed, outside="top").rows.equals(plain)
    odd = NEW.with_columns(age=pl.Series([float("nan"), 40.0]), born=pl.Series(["yesterday", "1970-01-01"]))
    shown = made.transform(odd, outside="top").rows
    assert shown["age"][0] == "*"
    assert shown["born"][0] == "*"
    assert shown.row(1) == plain.row(1)
    with pytest.raises(DataError, match="cannot be recoded"):
        made.transform(NEW.with_columns(age=pl.Series([[1], [2]])))


def test_a_malformed_manifest_is_refused(tmp_path: Path) -> None:
    sf.release(plan(), records()).write(tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    content = json.loads(path.read_text())
    for change in (
        lambda m: m["recoding"]["columns"]["age"]["rule"].pop("type"),
        lambda m: m["recoding"].update(columns=None),
        lambda m: m.pop("claims"),
    ):
        broken = json.loads(json.dumps(content))
        change(broken)
        path.write_text(dump(seal(broken)))
        with pytest.raises(BundleError, match=r"has no|must be"):
            apply(tmp_path / "out", NEW)
