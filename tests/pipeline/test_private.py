"""Differentially private releases end to end: plan, bundle, verification, tampering, budget, frontier."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.bundles.checks.private import fits
from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import dump, seal
from sfumato.core.errors import BudgetError, DataError, PlanError, UnknownColumn
from sfumato.dp.accounting import epsilon_of
from sfumato.dp.events import from_json
from sfumato.dp.ledger import Ledger
from sfumato.pipeline import release as bundling
from sfumato.pipeline.methods.private.stages import PrivateRelease
from sfumato.tables.table import Table
from tests.bundles.forging import failing

TREE = {"Any": {"Professional": ["Engineer", "Lawyer"], "Artist": ["Dancer", "Writer"]}}
CODES = {"**": {"1*": ["11", "12"], "2*": ["21", "22"]}}


def records(rows: int = 400) -> pl.DataFrame:
    jobs = ["Engineer", "Lawyer", "Dancer", "Writer"]
    return pl.DataFrame(
        {
            "job": [jobs[n % 4] for n in range(rows)],
            "age": [18 + (n * 7) % 48 for n in range(rows)],
            "class": ["Y" if n % 4 < 2 else "N" for n in range(rows)],
            "name": [f"person {n}" for n in range(rows)],
        }
    )


def tree(**more: Any) -> dict[str, Any]:
    return {
        "columns": {
            "job": {"role": "quasi", "hierarchy": {"tree": TREE}},
            "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 18, "high": 65}},
            "class": {"role": "target", "values": ["Y", "N"]},
            "name": {"role": "identifier"},
        },
        "privacy": {"epsilon": 1.0},
        **more,
    }


def made(frame: pl.DataFrame | None = None, **more: Any) -> PrivateRelease:
    found = sf.release(sf.Plan.parse(tree(**more)), records() if frame is None else frame)
    assert isinstance(found, PrivateRelease)
    return found


@pytest.mark.parametrize("algorithm", ["diffgen", "marginals", "auto"])
@pytest.mark.parametrize("output", ["records", "counts"])
def test_a_bundle_verifies_and_tells_where_epsilon_went(algorithm: str, output: str, tmp_path: Path) -> None:
    release = made(algorithm={"name": algorithm, "output": output})
    assert release.write(tmp_path / "out").holds
    assert sf.verify(tmp_path / "out").holds
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert epsilon_of(from_json(manifest["ledger"])) == 1
    assert manifest["claims"][0]["parameters"] == {"epsilon": "1", "neighbours": "one record added or removed"}
    assert manifest["domains"]["target"] == {"name": "class", "values": ["Y", "N"]}
    assert "name" not in release.rows.columns
    assert ("count" in release.rows.columns) == (output == "counts")
    text = (tmp_path / "out" / "manifest.json").read_text() + (tmp_path / "out" / "report.html").read_text()
    assert "person" not in text.replace("about a person", "")
    assert '"seed"' not in text


def test_the_parts_of_any_epsilon_add_up_exactly() -> None:
    for asked in ("1/3", 0.1, 2, "0.7"):
        release = made(privacy={"epsilon": asked})
        assert release.promise.epsilon == Fraction(str(asked))


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda m: m["ledger"]["parts"].pop(), "the ledger adds up to what is promised"),
        (lambda m: m["plan"]["privacy"].update(epsilon=2.0), "the ledger adds up to what is promised"),
        (lambda m: m["claims"][0]["parameters"].update(epsilon="1/2"), "claims are what the plan asks for"),
        (lambda m: m["plan"]["algorithm"].update(seed=3), "no seed is published"),
        (lambda m: m["plan"]["privacy"].update(domains="observed"), "domains are declared, or marked"),
        (lambda m: m["plan"]["columns"]["age"].update(domain_from="profile"), "no domain is read off the rows"),
        (lambda m: m["plan"]["columns"]["age"].update(domain_from="discover"), "domains that were looked for"),
        (lambda m: m["domains"]["columns"]["age"].update({"from": "discovered"}), "domains that were looked for"),
        (lambda m: m["domains"]["target"]["values"].remove("N"), "domain of class"),
        (lambda m: m["data"]["columns"][0].update(role="keep"), "no column is published unchanged"),
        (lambda m: m["data"].update(rows=1), "rows"),
        (lambda m: m.update(attacks=["none"]) or m.pop("domains"), "form of the manifest"),
    ],
)
def test_a_changed_manifest_is_noticed_even_when_it_is_sealed_again(change: Any, wrong: str, tmp_path: Path) -> None:
    made().write(tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(dump(seal(content)))
    found = failing(tmp_path / "out")
    assert "form of the manifest" in found or any(one.startswith(wrong) for one in found)


def test_a_changed_row_or_report_is_noticed(tmp_path: Path) -> None:
    made().write(tmp_path / "out")
    (tmp_path / "out" / "data.csv").write_text("job,age,class\nPilot,*,Y\n")
    wrong = {check.what for check in sf.verify(tmp_path / "out").checks if not check.holds}
    assert {"bytes of the data file", "rows", "domain of job"} <= wrong


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"privacy": {"epsilon": 0}}, "epsilon must be above 0"),
        ({"privacy": {"epsilon": "much"}}, "epsilon must be"),
        ({"privacy": {"epsilon": 1.0, "k_anonymity": 5}}, "k_anonymity"),
        ({"privacy": {"epsilon": 1.0, "domains": "seen"}}, "domains"),
        ({"algorithm": {"name": "mondrian"}}, "not differentially private"),
        ({"algorithm": {"name": "diffgen", "seed": 1}}, "seed"),
        ({"algorithm": {"name": "diffgen", "strict": True}}, "unknown key"),
        ({"algorithm": {"name": "diffgen", "output": "table"}}, "output"),
    ],
)
def test_what_cannot_be_meant_is_refused(change: dict[str, Any], told: str) -> None:
    with pytest.raises(PlanError, match=told):
        made(**change)


def test_domains_must_be_declared_and_values_lie_in_them() -> None:
    plan = tree()
    plan["columns"]["job"]["hierarchy"] = {"kind": "flat"}
    with pytest.raises(PlanError, match="declared domain"):
        sf.release(sf.Plan.parse(plan), records())
    plan = tree()
    del plan["columns"]["class"]["values"]
    with pytest.raises(PlanError, match=r"columns\.class\.values"):
        sf.release(sf.Plan.parse(plan), records())
    plan = tree()
    plan["columns"]["age"]["hierarchy"] = {"kind": "grown"}
    with pytest.raises(PlanError, match="low and high"):
        sf.release(sf.Plan.parse(plan), records())
    plan = tree()
    plan["columns"]["class"]["role"] = "sensitive"
    with pytest.raises(PlanError, match="no epsilon covers"):
        sf.release(sf.Plan.parse(plan), records())
    plan = tree()
    for column in plan["columns"].values():
        column["outside"] = "refuse"
    with pytest.raises(DataError, match="outside the declared domain: 'Pilot'"):
        sf.release(sf.Plan.parse(plan), records().with_columns(job=pl.lit("Pilot")))
    with pytest.raises(DataError, match="outside the declared range"):
        sf.release(sf.Plan.parse(plan), records().with_columns(age=pl.lit(99)))


def test_sets_and_relational_columns_are_released_together(tmp_path: Path) -> None:
    frame = records(200).with_columns(codes=pl.Series(["11|12", "12", "21|22", ""] * 50))
    plan = tree(algorithm={"name": "diffgen", "specializations": 3})
    plan["columns"]["codes"] = {"role": "quasi", "type": "set", "hierarchy": {"tree": CODES}}
    release = sf.release(sf.Plan.parse(plan), frame)
    assert release.write(tmp_path / "out").holds
    assert "codes" in release.rows.columns
    plan["columns"]["codes"]["hierarchy"] = {"kind": "flat"}
    with pytest.raises(PlanError, match="declared tree"):
        sf.release(sf.Plan.parse(plan), frame)


def test_the_budget_is_charged_before_the_data_is_read(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "budget.db", total=3)
    ledger.grant("release", 2)
    privacy = {"epsilon": 1.5, "ledger": str(tmp_path / "budget.db")}
    release = made(privacy=privacy)
    assert [charge.status for charge in ledger.history()] == ["settled"]
    assert "budget.db" not in json.dumps(bundling.unwritten(release)[0])
    with pytest.raises(BudgetError, match=r"0\.5 of 2 left"):
        made(privacy=privacy)
    beyond = records().drop("age")
    ledger.bind(Table(frame=beyond))
    with pytest.raises(UnknownColumn, match=r"columns\.age"):
        made(beyond, privacy={**privacy, "epsilon": 0.25})
    assert [charge.status for charge in ledger.history()] == ["settled", "reserved"]
    assert ledger.accounts()[1].spent == Fraction("1.75")


def test_an_empty_table_can_be_released(tmp_path: Path) -> None:
    """Whether there is anybody at all is private too."""
    for algorithm in ("diffgen", "marginals"):
        release = made(records().clear(), algorithm={"name": algorithm})
        assert release.write(tmp_path / algorithm).holds


def test_a_release_without_rows_is_one_too(tmp_path: Path) -> None:
    release = made()
    none = replace(
        release, rows=release.rows.clear(), outcome=replace(release.outcome, counts=release.outcome.counts * 0)
    )
    assert none.write(tmp_path / "out").holds


@pytest.mark.parametrize("algorithm", ["diffgen", "marginals"])
def test_new_records_read_as_the_release_does(algorithm: str, tmp_path: Path) -> None:
    release = made(algorithm={"name": algorithm})
    release.write(tmp_path / "out")
    found = sf.apply(tmp_path / "out", records(20))
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert found.rows.columns == ["job", "age", "class"]
    for name in ("job", "age"):
        assert set(found.rows[name]) <= set(manifest["recoding"]["columns"][name]["labels"])
    strange = records(4).with_columns(job=pl.lit("Pilot"))
    if set(found.rows["job"]) != {"*"}:
        with pytest.raises(DataError, match="Pilot"):
            sf.apply(tmp_path / "out", strange)


def test_a_frontier_compares_private_algorithms(tmp_path: Path) -> None:
    plan = tree(frontier={"jobs": 1, "grid": {"privacy.epsilon": [0.5, 2.0]}})
    found = sf.frontier(sf.Plan.parse(plan), records(), folder=tmp_path / "front")
    assert [axis.name for axis in found.privacy] == ["epsilon"]
    assert [axis.name for axis in found.utility] == ["accuracy"]
    assert {point.algorithm["name"] for point in found.points} == {"diffgen", "marginals"}
    assert all(record["status"] == "verified" for record in found.records.values())
    page = (tmp_path / "front" / "frontier.html").read_text()
    assert "no epsilon covers" in page


def forged(folder: Path, change: Any, rows: Any = None) -> set[str]:
    """Change the manifest, and the rows if asked, mend digests and seal, and tell which checks fail."""
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    data = folder / content["data"]["file"]
    if rows is not None:
        parquet = data.suffix == ".parquet"
        frame = rows(pl.read_parquet(data) if parquet else pl.read_csv(data, infer_schema=False))
        frame.write_parquet(data) if parquet else frame.write_csv(data)
        content["data"].update(sha256=sha256(data), rows=frame.height)
    change(content)
    path.write_text(dump(seal(content)))
    return set(failing(folder))


@pytest.mark.parametrize("cell", ["abc", "10.5", "-1", "9" * 30, "1e3", ""])
def test_a_count_is_a_whole_number(cell: str, tmp_path: Path) -> None:
    made(algorithm={"name": "marginals", "output": "counts"}).write(tmp_path / "out")
    found = forged(tmp_path / "out", lambda _: None, lambda frame: frame.with_columns(count=pl.lit(cell)))
    assert found == {"no count is negative"}


@pytest.mark.parametrize("count", [10.5, None, -1])
def test_a_count_of_another_type(count: float | None, tmp_path: Path) -> None:
    plan = {"algorithm": {"name": "marginals", "output": "counts"}, "output": {"format": "parquet"}}
    made(**plan).write(tmp_path / "out")
    found = forged(tmp_path / "out", lambda _: None, lambda frame: frame.with_columns(count=pl.lit(count)))
    assert found == {"no count is negative"}


def test_a_parquet_file_without_rows_is_a_release(tmp_path: Path) -> None:
    release = made(output={"format": "parquet"})
    none = replace(
        release, rows=release.rows.clear(), outcome=replace(release.outcome, counts=release.outcome.counts * 0)
    )
    assert none.write(tmp_path / "out").holds
    (tmp_path / "out" / "data.parquet").write_bytes(b"PAR1 and nothing else")
    assert not sf.verify(tmp_path / "out").holds


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda m: m["plan"].pop("columns"), "roles of the columns"),
        (lambda m: m["plan"]["columns"].pop("job"), "roles of the columns"),
        (lambda m: m["plan"]["columns"]["job"].update(role="identifier"), "roles of the columns"),
        (lambda m: m["data"]["columns"][1].update(role="count"), "roles of the columns"),
        (lambda m: m["data"]["columns"][0].update(role="target"), "roles of the columns"),
        (lambda m: m["plan"]["columns"]["job"].update(hierarchy="flat"), "domains that the plan declares"),
        (lambda m: m["plan"]["columns"]["job"].update(hierarchy="mask", values=4), "domains that the plan declares"),
        (lambda m: m["plan"]["columns"]["job"].pop("hierarchy"), "domains that the plan declares"),
        (lambda m: m["plan"]["columns"]["class"].pop("values"), "domains that the plan declares"),
        (lambda m: m["recoding"]["columns"]["age"]["labels"].update({"[18-19.5)": 0.0}), "domain of age"),
        (lambda m: m["recoding"]["columns"]["age"].update(labels={}), "domain of age"),
        (lambda m: m["recoding"]["columns"]["job"]["rule"].update(type="colour"), "domain of job"),
        (lambda m: m["recoding"]["columns"]["job"]["rule"]["values"].update(Dancer="Any"), "domain of job"),
        (lambda m: m["domains"]["columns"]["age"].update(grid=0), "form of the manifest"),
        (lambda m: m["domains"]["columns"]["job"].update(kind="forest"), "form of the manifest"),
        (lambda m: m["plan"]["privacy"].update(epsilon="1/0"), "what the manifest describes"),
    ],
)
def test_a_private_manifest_is_held_to_its_plan(change: Any, wrong: str, tmp_path: Path) -> None:
    made(algorithm={"name": "marginals"}).write(tmp_path / "out")
    assert {wrong, "form of the manifest"} & forged(tmp_path / "out", change)


def test_a_number_of_a_private_manifest_has_a_limit(tmp_path: Path) -> None:
    made(algorithm={"name": "marginals"}).write(tmp_path / "out")
    told = forged(tmp_path / "out", lambda m: m["domains"]["columns"]["age"].update(high=10**400))
    assert any("401 characters; at most 40" in one for one in told)


def test_a_released_cell_has_a_label(tmp_path: Path) -> None:
    made(output={"format": "parquet"}).write(tmp_path / "out")
    gone = forged(tmp_path / "out", lambda _: None, lambda f: f.with_columns(job=pl.lit(None, dtype=pl.String)))
    assert gone == {"domain of job"}


def test_only_labels_that_a_release_can_make_fit_a_domain() -> None:
    years = {"kind": "number", "low": 18, "high": 65, "grid": 1.0}
    for label in ("*", "[18-19)", "[19-65)", "[20-65]", "[65-65]"):
        assert fits(label, years), label
    for label in ("[18-65]", "[18-19.5)", "[18.0-19)", "[17-19)", "[20-66]", "[20-30]", "<20", "any", "20", "[20-20)"):
        assert not fits(label, years), label
    uneven = {"kind": "number", "low": 0.0, "high": 1.0, "grid": 0.3}
    assert fits("[0.3-0.6)", uneven)
    assert fits("[0.6-1]", uneven)
    assert not fits("[0.6-1)", uneven)
    nodes = [["*", -1], ["A", 0], ["x", 1], ["y", 1], ["B", 0], ["x", 4]]
    jobs = {"kind": "tree", "nodes": nodes}
    for label in ("*", "A", "x", "x (A)", "x (B)", "y"):
        assert fits(label, jobs), label
    for label in ("", "x (C)", "y (A)", "y (B)", "A|y", "x (A) (B)"):
        assert not fits(label, jobs), label
    sets = {"kind": "set", "nodes": nodes}
    assert fits("", sets)
    assert fits("A|x (B)", sets)
    assert not fits("A|", sets)
    assert not fits("y|y", sets)


def test_a_domain_can_be_declared_by_its_values(tmp_path: Path) -> None:
    plan = tree()
    plan["columns"]["job"] = {"role": "quasi", "values": ["Engineer", "Lawyer", "Dancer", "Writer"]}
    assert sf.release(sf.Plan.parse(plan), records()).write(tmp_path / "out").holds
    assert forged(tmp_path / "out", lambda m: m["plan"]["columns"]["job"].pop("values"))


FLAT = [f"town {n:02d}" for n in range(30)]


@pytest.mark.parametrize("privacy", [{"epsilon": 1, "delta": 1e-6}, {"rho": "1/20"}, {"epsilon": 1}])
def test_diffgen_promises_rho_too_and_its_halves_of_flat_domains_verify(
    privacy: dict[str, Any], tmp_path: Path
) -> None:
    """600 records cannot be told in thirty towns: what is told are halves, as the manifest states them."""
    frame = pl.DataFrame({"town": FLAT * 20, "class": [("Y" if n % 30 < 15 else "N") for n in range(600)]})
    columns = {"town": {"role": "quasi", "values": FLAT}, "class": {"role": "target", "values": ["Y", "N"]}}
    plan = sf.Plan.parse({"columns": columns, "privacy": privacy, "algorithm": {"name": "diffgen"}})
    release = sf.release(plan, frame)
    assert release.write(tmp_path / "out").holds
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    stated = [label for label, _ in manifest["domains"]["columns"]["town"]["nodes"]]
    assert "town 00 … town 14" in stated
    assert set(manifest["recoding"]["columns"]["town"]["labels"]) <= set(stated)
    assert len(release.outcome.errors[0].deviation) == len(release.outcome.labels[0])
