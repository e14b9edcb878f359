"""Domains never come from the rows unnoticed, and whether a release appears depends on no record."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.core.errors import PlanError
from sfumato.core.run_context import Work
from sfumato.pipeline.methods.private.domains import declared, declared_table, stated_domains
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.queries import session
from sfumato.tables.table import Table
from tests.bundles.forging import failing, forge, manifest_of
from tests.pipeline.test_private import TREE, records, tree
from tests.weights import examples

RUN = CliRunner()


# Where a domain comes from


def drafted(folder: Path, ages: list[int], privacy: str) -> Path:
    """The draft that `sfumato profile` makes of a table, with another [privacy]."""
    rows = ["age,sex,class", *(f"{age},{'fm'[n % 2]},{'yn'[n % 3 > 0]}" for n, age in enumerate(ages))]
    (folder / "people.csv").write_text("\n".join(rows) + "\n")
    done = RUN.invoke(app, ["profile", str(folder / "people.csv"), "-o", str(folder / "draft.toml")])
    assert done.exit_code == 0, done.output
    text = (
        (folder / "draft.toml")
        .read_text()
        .split("[privacy]")[0]
        .replace('{ kind = "flat" }', '{ tree = { a = ["f", "m"] } }')
    )
    text = text.replace('role = "target"', 'role = "target"\nvalues = ["y", "n"]')
    (folder / "plan.toml").write_text(f"{text}[privacy]\n{privacy}\n")
    return folder / "plan.toml"


AGES = [20 + n % 60 for n in range(120)]


def test_a_draft_tells_that_its_limits_were_read_off_the_rows(tmp_path: Path) -> None:
    """One record of age 113 moves the limits of the draft; with epsilon they are not called declared."""
    plan = drafted(tmp_path, [*AGES, 113], "epsilon = 1.0")
    assert "high = 120" in plan.read_text()
    assert 'domain_from = "profile"' in plan.read_text()
    done = RUN.invoke(app, ["release", str(plan), "-o", str(tmp_path / "out")])
    assert isinstance(done.exception, PlanError)
    assert done.exception.exit_code == 2
    assert re.match(r"columns\.age\.domain_from: the domains of 'age' were read off the rows", str(done.exception))
    assert not (tmp_path / "out").exists()


def test_a_draft_is_released_as_it_is_without_epsilon(tmp_path: Path) -> None:
    plan = drafted(tmp_path, AGES, "k_anonymity = 5")
    done = RUN.invoke(app, ["release", str(plan), "-o", str(tmp_path / "out"), "--set", "attack.run=false"])
    assert done.exit_code == 0, done.output
    assert manifest_of(tmp_path / "out")["plan"]["columns"]["age"]["domain_from"] == "profile"


def test_a_person_confirms_each_domain_and_the_bundle_says_so(tmp_path: Path) -> None:
    plan = drafted(tmp_path, AGES, "epsilon = 1.0")
    plan.write_text(plan.read_text().replace('domain_from = "profile"', 'domain_from = "public"'))
    done = RUN.invoke(app, ["release", str(plan), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert manifest_of(tmp_path / "out")["plan"]["columns"]["age"]["domain_from"] == "public"
    page = (tmp_path / "out" / "report.html").read_text()
    assert "confirmed as public knowledge" in page
    assert "declared in the plan" in page
    assert sf.verify_again(tmp_path / "out", plan=Plan.load(plan), original=pl.read_csv(tmp_path / "people.csv")).holds
    forge(tmp_path / "out", lambda m: m["plan"]["columns"]["age"].update(domain_from="profile"))
    assert "no domain is read off the rows" in failing(tmp_path / "out")


def test_questions_read_the_same_word(tmp_path: Path) -> None:
    ledger = sf.Ledger.create(tmp_path / "ledger.db", total=1)
    ledger.grant("ann", 1)
    plan = Plan.load(drafted(tmp_path, AGES, ""))
    with pytest.raises(PlanError, match=r"columns\.age\.domain_from.*a noisy answer"):
        sf.query(plan, "SELECT COUNT(*)", epsilon=1, ledger=ledger, analyst="ann")
    assert not ledger.history()


def test_a_plan_from_a_frame_says_where_its_limits_come_from() -> None:
    frame = pl.DataFrame({"age": AGES, "class": ["y", "n"] * 60})
    with pytest.raises(PlanError, match="read off the rows"):
        sf.release(frame, quasi=["age"], models={"epsilon": 1})
    tree = {"kind": "grown", "low": 0, "high": 100}
    assert sf.release(frame, quasi=["age"], models={"epsilon": 1}, hierarchies={"age": tree}).claims


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ({"domain_from": "rows"}, "domain_from must be one of"),
        ({"outside": "keep"}, "outside must be one of"),
        ({"other": "*"}, "covers everything"),
        ({"other": "rest", "outside": "drop"}, "leaves it nothing"),
        ({"other": "Artist"}, "is a group of the tree"),
        ({"within": [0, 1]}, "goes with domain_from"),
        ({"domain_from": "discover", "within": [1, 0]}, "two numbers"),
    ],
)
def test_words_that_cannot_be_meant_are_refused(column: dict[str, Any], told: str) -> None:
    plan = tree()
    plan["columns"]["job"] |= column
    with pytest.raises(PlanError, match=told):
        sf.release(Plan.parse(plan), records(20))


@pytest.mark.parametrize("key", [{"outside": "drop"}, {"other": "rest"}])
def test_other_kinds_do_not_pass_over_what_becomes_of_strange_values(key: dict[str, Any]) -> None:
    with pytest.raises(PlanError, match="is for differentially private releases"):
        Plan.parse(
            {"columns": {"job": {"role": "quasi", "hierarchy": {"kind": "flat"}, **key}}, "privacy": {"k_anonymity": 2}}
        )


# Total domains

CELLS = {
    "job": st.one_of(st.sampled_from(["Engineer", "Dancer", "Pilot", "", "?"]), st.none(), st.text(max_size=3)),
    "age": st.one_of(
        st.integers(-5, 200).map(str), st.sampled_from(["", "?", "old", "nan", "inf", "1e400", "-0"]), st.none()
    ),
    "class": st.one_of(st.sampled_from(["Y", "N", "maybe", "?"]), st.none()),
    "codes": st.one_of(st.sampled_from(["", "11|22", "11|99", "99", "11|11"]), st.none()),
}
ROW = st.fixed_dictionaries(CELLS)
SETS = {"**": {"1*": ["11", "12"], "2*": ["21", "22"]}}


def total(other: dict[str, str], outside: str | None, source: dict[str, Any]) -> Plan:
    """A plan over four columns; nothing in it refuses a record."""
    columns: dict[str, Any] = {
        "job": {"role": "quasi", "hierarchy": {"tree": TREE}},
        "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 18, "high": 65}},
        "codes": {"role": "quasi", "type": "set", "hierarchy": {"tree": SETS}},
        "class": {"role": "target", "values": ["Y", "N"]},
    }
    for name, column in columns.items():
        if outside is not None and name not in other:
            column["outside"] = outside
        column.update({"other": other[name]} if name in other else {})
    return Plan.parse({"input": source, "columns": columns, "privacy": {"epsilon": 1}})


def table(rows: list[dict[str, Any]], source: dict[str, Any]) -> Table:
    frame = pl.DataFrame(rows, schema=dict.fromkeys(CELLS, pl.String))
    return Table(frame=frame, missing=tuple(source.get("missing", ())))


@examples(120)
@given(
    rows=st.lists(ROW, max_size=6),
    more=ROW,
    other=st.dictionaries(st.sampled_from(["job", "codes", "class"]), st.just("other")),
    outside=st.sampled_from([None, "clamp", "drop"]),
    source=st.sampled_from([{}, {"missing": ["?"]}, {"missing": ["?"], "on_missing": "drop"}]),
)
def test_one_more_record_is_at_most_one_more_row_over_the_same_domains(
    rows: list[dict[str, Any]], more: dict[str, Any], other: dict[str, str], outside: str | None, source: dict[str, Any]
) -> None:
    """Whatever the record holds: nothing is refused, the domains stay, and the other records keep their places."""
    plan = total(other, outside, source)
    first, second = (declared_table(plan, table(some, source)) for some in (rows, [*rows, more]))
    assert stated_domains(first) == stated_domains(second)
    assert second.rows - first.rows in (0, 1)
    for mine, theirs in zip(first.counts.columns, second.counts.columns, strict=True):  # type: ignore[attr-defined]
        assert theirs.codes[: len(mine.codes)].tolist() == mine.codes.tolist()
        assert (theirs.codes < theirs.size).all()


STRANGE: tuple[dict[str, Any], ...] = (
    {"job": "Pilot"}, {"age": 113}, {"age": -1}, {"age": None}, {"class": "maybe"}, {"class": None}, {"job": None},
)  # fmt: skip


@pytest.mark.parametrize("algorithm", ["diffgen", "marginals"])
@pytest.mark.parametrize("strange", STRANGE)
def test_a_strange_record_neither_stops_a_release_nor_shows_in_its_domains(
    algorithm: str, strange: dict[str, Any], tmp_path: Path
) -> None:
    frame = records(60)
    more = pl.concat([frame, pl.DataFrame([{**frame.row(0, named=True), **strange}], schema=frame.schema)])
    plan = Plan.parse(tree(algorithm={"name": algorithm, "output": "counts"}))
    made = [sf.release(plan, one) for one in (frame, more)]
    assert made[0].domains == made[1].domains  # type: ignore[attr-defined]
    assert made[1].write(tmp_path / "out").holds
    assert sf.verify_again(tmp_path / "out", plan=plan, original=more).holds


def placed(column: dict[str, Any], cells: list[Any], **source: Any) -> list[str]:
    """Where the cells of one column lie; records that are left out are not listed."""
    plan = Plan.parse({"input": source, "columns": {"x": {"role": "quasi", **column}}, "privacy": {"epsilon": 1}})
    found = declared_table(plan, Table(frame=pl.DataFrame({"x": cells}), missing=plan.input.missing))
    return [found.attributes[0].values[code] for code in found.counts.columns[0].codes]  # type: ignore[attr-defined]


SPAN = {"kind": "intervals", "widths": [10], "low": 0, "high": 30}


def test_numbers_are_clamped_and_texts_become_other_or_go() -> None:
    ends = placed({"hierarchy": SPAN}, [0, 30])
    assert placed({"hierarchy": SPAN}, [-7, 300]) == ends
    assert placed({"hierarchy": {**SPAN, "outside": "clamp"}}, [-7, 300]) == ends
    assert placed({"hierarchy": SPAN, "outside": "drop"}, [-7, 0, 30, 300]) == ends
    assert placed({"hierarchy": SPAN}, ["-7", "x", None, "30"]) == ends
    assert placed({"values": ["a", "b"]}, ["a", "c", None]) == ["a"]
    assert placed({"values": ["a", "b"], "other": "other"}, ["a", "c", None]) == ["a", "other", "other"]
    assert placed({"values": ["a", "b"], "other": "b"}, ["a", "c"]) == ["a", "b"]
    assert placed({"values": ["a"], "other": "z"}, ["a", "?", "c"], missing=["?"]) == ["a", "?", "z"]
    assert placed({"values": ["a"], "other": "z"}, ["a", "?", "c"], missing=["?"], on_missing="drop") == ["a", "z"]
    assert placed({"values": ["1", "2.5"]}, [1.0, 2.5, 3.0]) == ["1", "2.5"]
    assert placed({"values": ["1.0", "2.5"]}, [1.0, 2.5, 3.0]) == ["1.0", "2.5"]


def test_other_is_in_the_domain_also_where_nobody_needs_it() -> None:
    plan = tree()
    plan["columns"]["job"]["other"] = "other"
    plan["columns"]["class"]["other"] = "unknown"
    found = stated_domains(declared_table(Plan.parse(plan), Table(frame=records(8))))
    assert ["other", 0] in found["columns"]["job"]["nodes"]
    assert found["target"]["values"] == ["Y", "N", "unknown"]


def test_the_steward_is_told_what_was_left_out_and_the_bundle_is_not(tmp_path: Path) -> None:
    """A misspelt domain would leave everybody out; whoever holds the table should know."""
    told: list[str] = []
    frame = records(40).with_columns(job=pl.col("job").str.to_uppercase())
    made = sf.release(Plan.parse(tree()), frame, work=Work(notice=told.append))
    assert any("40 of 40 records" in one for one in told)
    made.write(tmp_path / "out")
    assert "left out (for you alone" not in (tmp_path / "out" / "report.html").read_text()
    assert not declared(Plan.parse(tree()), Table(frame=records(40))).notes


def test_questions_count_strange_values_as_other(tmp_path: Path) -> None:
    """At epsilon 1,000 noise is off by one once in e^1000."""
    ledger = sf.Ledger.create(tmp_path / "ledger.db", total=5000)
    ledger.grant("ann", 5000)
    plan = Plan.parse({"columns": {"job": {"role": "quasi", "values": ["a", "b"], "other": "rest"}}, "privacy": {}})
    frame = pl.DataFrame({"job": ["a", "a", "b", "c", None]})
    found = session(plan, ledger=ledger, analyst="ann", frame=frame).count(epsilon=1000, by=["job"])
    assert dict(zip(found.groups, found.values.tolist(), strict=True)) == {("a",): 2, ("b",): 1, ("rest",): 2}


# Observed domains are another kind


def test_rows_over_observed_domains_claim_nothing(tmp_path: Path) -> None:
    plan = tree(privacy={"epsilon": 1.0, "domains": "observed"})
    plan["columns"]["job"]["hierarchy"] = {"kind": "flat"}
    made = sf.release(Plan.parse(plan), records())
    assert made.claims == ()
    assert "NOT differentially private" in made.marks[0]
    assert made.write(tmp_path / "out").holds
    manifest, page = manifest_of(tmp_path / "out"), (tmp_path / "out" / "report.html").read_text()
    assert (manifest["kind"], manifest["claims"]) == ("observed", [])
    assert "Differential privacy with" not in page
    assert "Noisy rows, nothing is claimed" in page
    checks = {check.what: check for check in sf.verify(tmp_path / "out").checks}
    assert checks["no differential privacy is claimed"].holds
    assert "claims are what the plan asks for" not in checks
    assert sf.verify_again(tmp_path / "out", plan=Plan.parse(plan), original=records()).holds


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(kind="private"),
        lambda m: m.update(marks=[]),
        lambda m: m["plan"]["privacy"].pop("domains"),
        lambda m: m["claims"].append({"model": "differential-privacy", "parameters": {"epsilon": "1"}}),
        lambda m: (m.update(kind="private", marks=[]), m["plan"]["privacy"].pop("domains")),
    ],
)
def test_nobody_calls_observed_domains_declared(change: Any, tmp_path: Path) -> None:
    plan = tree(privacy={"epsilon": 1.0, "domains": "observed"})
    plan["columns"]["job"]["hierarchy"] = {"kind": "flat"}
    sf.release(Plan.parse(plan), records()).write(tmp_path / "out")
    forge(tmp_path / "out", change)
    assert failing(tmp_path / "out")


def test_a_ledger_is_charged_for_noisy_rows_without_a_claim(tmp_path: Path) -> None:
    ledger = sf.Ledger.create(tmp_path / "budget.db", total=1)
    ledger.grant("release", 1)
    privacy = {"epsilon": 0.5, "domains": "observed", "ledger": str(tmp_path / "budget.db")}
    sf.release(Plan.parse(tree(privacy=privacy)), records())
    assert [charge.status for charge in ledger.history()] == ["settled"]
    assert json.dumps([str(one.spent) for one in ledger.accounts()]).count("1/2") == 2
