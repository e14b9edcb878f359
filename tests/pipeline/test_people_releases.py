"""Releases that count people: from the plan to the written file, and against trying every node."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import sfumato as sf
from examples.people_per_group import people_per_group, visits
from sfumato.attacks.noise_audit import audit_outputs
from sfumato.bundles.manifest.document import dump, seal
from sfumato.cli.main import app
from sfumato.counts.classes import told_apart
from sfumato.queries.session import Session
from sfumato.tables.schema import Categories
from sfumato.tables.table import Table
from tests.shared_data import shared
from tests.weights import examples

SPAN = {"kind": "intervals", "widths": [5, 10, 20], "low": 0, "high": 120}
FLAT = {"kind": "flat"}
COLUMNS: dict[str, Any] = {
    "patient": {"role": "identifier"},
    "age": {"role": "quasi", "hierarchy": SPAN},
    "sex": {"role": "quasi", "hierarchy": FLAT},
    "diagnosis": {"role": "sensitive"},
}
COUNTING = ("optimal", "samarati", "incognito", "datafly", "greedy", "mondrian", "local", "cell-suppression", "auto")


def plan(privacy: dict[str, Any] | None = None, **more: Any) -> sf.Plan:
    tree = {
        "input": {"unit": "patient"},
        "columns": COLUMNS,
        "privacy": privacy or {"k_anonymity": 4},
        "algorithm": {"name": "optimal", "max_suppressed": 0.1},
        "attack": {"run": False},
    }
    return sf.Plan.parse({**tree, **more})


@pytest.mark.parametrize("algorithm", COUNTING)
@pytest.mark.parametrize("suppressed", ["remove", "star"])
def test_every_group_of_the_written_file_has_k_people(algorithm: str, suppressed: str, tmp_path: Path):
    asked = plan(algorithm={"name": algorithm, "max_suppressed": 0.1, "suppressed": suppressed})
    made = sf.release(asked, visits(80))
    assert made.write(tmp_path / "b").holds
    found = people_per_group(tmp_path / "b" / "data.csv", ["age", "sex"], "patient")
    assert min(found.values()) >= 4
    assert min(found.values()) == made.smallest_class["value"]


def test_numbers_stand_for_people_and_link_nothing_across_groups(tmp_path: Path):
    """With the number of each row kept, the numbers can be held against the people they stand for."""
    table = visits(80).with_row_index("row").with_columns(pl.col("row").cast(pl.String))
    asked = plan(columns={**COLUMNS, "row": {"role": "keep"}})
    sf.release(asked, table).write(tmp_path / "b")
    shown = pl.read_csv(tmp_path / "b" / "data.csv", infer_schema=False)
    both = shown.join(table.select("row", who="patient"), on="row")
    assert both.group_by("age", "sex", "patient").agg(pl.col("who").n_unique())["who"].max() == 1
    assert both.group_by("age", "sex", "who").agg(pl.col("patient").n_unique())["patient"].max() == 1
    assert shown.select("age", "sex", "patient").unique()["patient"].is_duplicated().sum() == 0
    assert not set(shown["patient"]) & set(table["patient"])


def test_nine_rows_of_two_patients():
    """Counted by rows the group stands; counted by people nothing can make five of two."""
    table = pl.DataFrame({"patient": list("aaaaabbbb"), "age": ["40"] * 9, "sex": ["f"] * 9, "diagnosis": ["flu"] * 9})
    by_rows = plan({"k_anonymity": 5}, input={}, algorithm={"name": "optimal"})
    assert sf.release(by_rows, table).smallest_class["value"] == 9
    with pytest.raises(sf.Infeasible, match="the whole table has 2 people"):
        sf.release(plan({"k_anonymity": 5}, algorithm={"name": "optimal"}), table)


ROWS = st.lists(
    st.tuples(st.sampled_from("abcdefg"), st.integers(20, 45), st.sampled_from("fm"), st.sampled_from(["flu", "hiv"])),
    min_size=4,
    max_size=20,
)
PRIVACY = (
    {"k_anonymity": 2},
    {"k_anonymity": 2, "l_diversity": {"kind": "simple", "l": 1.3}},
    {"l_diversity": {"kind": "distinct", "l": 2}},
    {"lkc": {"l": 1, "k": 2, "c": 0.8}},
)


@examples(60)
@given(rows=ROWS, privacy=st.sampled_from(PRIVACY), share=st.sampled_from([0.0, 0.3]))
def test_the_optimum_against_trying_every_node(rows: list[Any], privacy: dict[str, Any], share: float):
    """The least loss over all nodes of the lattice, with people counted by hand."""
    table = pl.DataFrame([(p, str(a), s, d) for p, a, s, d in rows], schema=list(COLUMNS), orient="row")
    best = None
    for levels in product(range(5), range(2)):
        shown = [(_age(a, levels[0]), "*" if levels[1] else s, d, p) for p, a, s, d in rows]
        hidden = _hidden(shown, privacy)
        lost = {row[3] for row in shown if row[:2] in hidden}
        if len(lost) > share * len({row[3] for row in shown}) + 1e-9 or len(hidden) == len({r[:2] for r in shown}):
            continue
        loss = float(np.mean([1.0 if row[:2] in hidden else _loss(levels) for row in shown]))
        best = loss if best is None else min(best, loss)
    asked = plan(privacy, algorithm={"name": "optimal", "max_suppressed": share})
    if best is None:
        with pytest.raises(sf.SfumatoError):
            sf.release(asked, table)
    else:
        assert sf.release(asked, table).utility["loss"] == pytest.approx(best)


def _age(age: int, level: int) -> str:
    return str(age) if not level else "*" if level == 4 else str(age // (5, 10, 20)[level - 1])


def _loss(levels: tuple[int, ...]) -> float:
    width = (1, 5, 10, 20, 121)[levels[0]]
    return ((width - 1) / 120 + levels[1]) / 2


def _hidden(shown: list[Any], privacy: dict[str, Any]) -> set[tuple[str, str]]:
    """The groups that must go, until all that are left may stay."""
    hidden: set[tuple[str, str]] = set()
    while True:
        left = [row for row in shown if row[:2] not in hidden]
        failing = {group for group in {row[:2] for row in left} if not _passes(group, left, privacy)}
        if not failing:
            return hidden
        hidden |= failing


def _passes(group: tuple[str, str], rows: list[Any], privacy: dict[str, Any]) -> bool:
    mine = [row for row in rows if row[:2] == group]
    people = {row[3] for row in mine}

    def share(some: list[Any]) -> float:
        who = {row[3] for row in some}
        return max(len({row[3] for row in some if row[2] == ill}) / len(who) for ill in ("flu", "hiv"))

    if "lkc" in privacy:
        parts = [[row for row in rows if row[place] == group[place]] for place in (0, 1)]
        return all(len({r[3] for r in part}) >= 2 and share(part) <= 0.8 + 1e-9 for part in parts)
    if len(people) < privacy.get("k_anonymity", 1):
        return False
    kind = privacy.get("l_diversity", {}).get("kind")
    if kind == "distinct":
        return all({row[3] for row in mine if row[2] == ill} != people for ill in ("flu", "hiv"))
    return kind is None or share(mine) <= 1 / 1.3 + 1e-9


def test_the_flat_categories_cost_as_they_must():
    """One of two categories shown as * costs (2 - 1) / (2 - 1)."""
    assert _loss((0, 1)) == 0.5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"input": {"unit": "pateint"}}, "input.unit"),
        ({"input": {"unit": "age"}}, "cannot have role = 'quasi'"),
        ({"algorithm": {"name": "k-optimize"}}, "counts rows, and input.unit asks for people"),
        ({"algorithm": {"name": "top-down"}}, "counts rows, and input.unit asks for people"),
        ({"attack": {"group": "household"}}, "attack.group"),
        ({"input": {"unit": "patient", "rows_per_unit": 0}}, "rows_per_unit must be at least 1"),
        ({"input": {"rows_per_unit": 2}}, "goes with input.unit"),
    ],
)
def test_refusals(change: dict[str, Any], words: str):
    with pytest.raises(sf.SfumatoError, match=words):
        sf.release(plan(**change), visits(20))


def test_a_pseudonym_of_the_unit_is_refused(tmp_path: Path):
    (tmp_path / "key").write_bytes(b"k" * 32)
    columns = {**COLUMNS, "patient": {"role": "identifier", "pseudonym": {"key_file": str(tmp_path / "key")}}}
    with pytest.raises(sf.PlanError, match="would link a person's rows across groups"):
        sf.release(plan(columns=columns), visits(40))


def test_a_forged_number_is_noticed(tmp_path: Path):
    """One person made two, or a number that stands in two groups."""
    sf.release(plan(), visits(80)).write(tmp_path / "b")
    path = tmp_path / "b" / "data.csv"
    rows = pl.read_csv(path)
    rows.with_columns(pl.lit(rows["patient"][0]).alias("patient")).write_csv(path)
    failing = {check.what for check in sf.verify(tmp_path / "b").checks if not check.holds}
    assert {"nobody's number stands in two groups", "claim k-anonymity"} <= failing


def test_attacks_are_made_on_people(tmp_path: Path):
    """Who has nine rows is attacked no more often than others, and a group counts each of its people once."""
    table = visits(120)
    made = sf.release(plan({"k_anonymity": 5}, attack={"trials": 1000}), table)
    linkage = next(one for one in made.audit.findings if one.attack == "linkage")
    assert linkage.rate.trials <= table["patient"].n_unique()
    assert linkage.worst <= 1 / 5 + 1e-12
    made.write(tmp_path / "b")
    found = sf.attack(tmp_path / "b", table, attacks=["linkage"], seed=1).findings[0]
    assert found.rate.trials == table["patient"].n_unique()


def test_households_are_looked_for_together():
    """1 - prod(1 - 1/f), by hand."""
    table = visits(120).with_columns(home=pl.col("patient").str.slice(0, 4))
    made = sf.release(plan({"k_anonymity": 5}, attack={"trials": 1000, "group": "home"}), table)
    found = next(one for one in made.audit.findings if one.attack == "households")
    assert found.rate.trials == table["home"].n_unique()
    assert found.figures["largest"] == 10
    alone = next(one for one in made.audit.findings if one.attack == "linkage")
    assert found.rate.value > alone.rate.value
    assert found.limit is None
    assert "households" not in {*sf.release(plan(attack={"trials": 50}), table).audit.skipped}


def test_the_report_says_what_is_counted():
    by_people = sf.release(plan(attack={"trials": 50}), visits(80)).report()
    by_rows = sf.release(plan(input={}, attack={"trials": 50}), visits(80)).report()
    assert "Groups are counted in people" in by_people
    assert "every group has at least 4 people" in by_people
    assert "Groups are counted in rows. If one person can have several rows" in by_rows
    assert "every group has at least 4 rows" in by_rows


def test_who_is_not_named_is_somebody_of_their_own(tmp_path: Path):
    """A declared marker counts like a null, in the search as in the written file."""
    who = ["?"] * 6 + list("abcdef")
    table = pl.DataFrame({"patient": who, "age": ["30"] * 6 + ["50"] * 6, "sex": "f", "diagnosis": "flu"})
    asked = plan(input={"unit": "patient", "missing": ["?"]}, algorithm={"name": "optimal"}, attack={"trials": 20})
    made = sf.release(asked, table)
    assert made.write(tmp_path / "b").holds
    assert made.levels["age"] == 0
    assert made.smallest_class["value"] == 6


def test_dimensions_count_people():
    table = visits(60)
    found = sf.dimensions(plan({"k_anonymity": 4}, algorithm={"max_suppressed": 0.1, "seed": 1}), table)
    assert {step.rows for step in found.steps} == {table["patient"].n_unique()}
    assert found.k == 4


def test_profile_notices_an_identifier_that_repeats(tmp_path: Path):
    visits(60).rename({"patient": "patient_id"}).write_csv(tmp_path / "visits.csv")
    found = sf.profile(tmp_path / "visits.csv")
    assert found.unit == "patient_id"
    ran = CliRunner().invoke(app, ["profile", str(tmp_path / "visits.csv"), "-o", str(tmp_path / "plan.toml")])
    assert "patient_id repeats" in ran.output
    drafted = sf.Plan.load(tmp_path / "plan.toml")
    assert drafted.input.unit == "patient_id"
    assert sf.release(drafted).prepared.people == 60  # type: ignore[attr-defined]
    once = visits(60).unique("patient").rename({"patient": "patient_id"})
    assert sf.profile(once).unit is None


# Under differential privacy


PRIVATE = {
    "columns": {
        "patient": {"role": "identifier"},
        "sex": {"role": "quasi", "hierarchy": {"tree": {"any": ["f", "m"]}}},
        "diagnosis": {"role": "target", "values": ["flu", "angina", "asthma"]},
    },
    "privacy": {"epsilon": 2},
    "algorithm": {"name": "diffgen"},
}


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("algorithm", ["diffgen", "marginals"])
def test_neighbours_differ_by_a_person(algorithm: str, most: int, tmp_path: Path):
    tree = {**PRIVATE, "input": {"unit": "patient", "rows_per_unit": most}, "algorithm": {"name": algorithm}}
    made = sf.release(sf.Plan.parse(tree), visits(50))
    assert made.write(tmp_path / "b").holds
    manifest = json.loads((tmp_path / "b" / "manifest.json").read_text())
    said = manifest["claims"][0]["parameters"]
    assert said["neighbours"] == f"all rows of one patient added or removed, at most {most} of which are used"
    assert Fraction(said["epsilon"]) == 2
    manifest["plan"]["input"]["rows_per_unit"] = most + 1
    (tmp_path / "b" / "manifest.json").write_text(dump(seal(manifest)))
    assert not sf.verify(tmp_path / "b").holds


@examples(30)
@given(rows=st.lists(st.tuples(st.sampled_from("abcd?"), st.integers(0, 99)), max_size=25), most=st.integers(1, 3))
def test_contributions_are_bounded(rows: list[tuple[str, int]], most: int):
    """At most so many rows of each person; who is not named is somebody of their own."""
    from sfumato.pipeline.inputs import bounded
    from sfumato.tables.table import Table

    asked = sf.Plan.parse({**PRIVATE, "input": {"unit": "patient", "rows_per_unit": most}})
    frame = pl.DataFrame(rows, schema={"patient": pl.String, "n": pl.Int64}, orient="row")
    left = bounded(Table(frame=frame, missing=("?",)), asked).frame
    before, after = (dict(one["patient"].value_counts().iter_rows()) for one in (frame, left))
    for who, many in before.items():
        assert after.get(who, 0) == (many if who == "?" else min(many, most))


# Real tables


def _checked(tree: dict[str, Any], table: pl.DataFrame, folder: Path, quasi: list[str], unit: str, k: int) -> None:
    made = sf.release(sf.Plan.parse(tree), table)
    assert made.write(folder / "b").holds
    found = people_per_group(folder / "b" / "data.csv", quasi, unit)
    assert min(found.values()) >= k
    people = table[unit].n_unique()
    assert len(found) < people


MIMIC = {
    "subject_id": {"role": "identifier"},
    "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10, 20, 40], "low": 0, "high": 120}},
    "gender": {"role": "quasi", "hierarchy": FLAT},
    "insurance": {"role": "quasi", "hierarchy": FLAT},
}


@pytest.mark.parametrize("which", ["flat", "diagnoses", "procedures"])
@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
def test_three_tables_of_mimic(which: str, algorithm: str, tmp_path: Path):
    flat = pl.read_csv(shared("mimic3_demo", "flat.csv"), infer_schema=False)
    table, secret = flat.select("subject_id", "age", "gender", "insurance", "icd9_primary"), "icd9_primary"
    if which != "flat":
        file = {"diagnoses": "DIAGNOSES_ICD.csv", "procedures": "PROCEDURES_ICD.csv"}[which]
        codes = pl.read_csv(shared("mimic3_demo", file), infer_schema=False)
        known = flat.select("subject_id", "hadm_id", "age", "gender", "insurance")
        joined = codes.rename(str.lower).join(known, on=["subject_id", "hadm_id"])
        table, secret = joined.select("subject_id", "age", "gender", "insurance", "icd9_code"), "icd9_code"
    tree = {
        "input": {"unit": "subject_id"},
        "columns": {**MIMIC, secret: {"role": "sensitive", "type": "text"}},
        "privacy": {"k_anonymity": 5},
        "algorithm": {"name": algorithm, **({"max_suppressed": 0.1} if algorithm == "optimal" else {})},
    }
    _checked(tree, table, tmp_path, ["age", "gender", "insurance"], "subject_id", 5)


def test_sdcmicro_testdata_with_its_households(tmp_path: Path):
    table = pl.read_csv(shared("sdcmicro", "testdata.csv"), infer_schema=False)
    home = "ori_hid" if "ori_hid" in table.columns else table.columns[-1]
    tree = {
        "input": {"unit": home},
        "columns": {
            home: {"role": "identifier"},
            "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10, 20, 40], "low": 0, "high": 120}},
            "sex": {"role": "quasi", "hierarchy": FLAT},
            "urbrur": {"role": "quasi", "hierarchy": FLAT},
        },
        "privacy": {"k_anonymity": 5},
        "algorithm": {"name": "optimal", "max_suppressed": 0.05},
    }
    _checked(tree, table, tmp_path, ["age", "sex", "urbrur"], home, 5)


def test_adult_with_an_identifier_that_repeats(tmp_path: Path):
    adult = sf.datasets.adult().head(6000)
    who = np.random.default_rng(3).integers(0, 2500, adult.height)
    table = adult.with_columns(person=pl.Series([f"A{n}" for n in who]))
    columns = {
        "person": {"role": "identifier"},
        "age": {"role": "quasi", "hierarchy": SPAN},
        "sex": {"role": "quasi", "hierarchy": FLAT},
        "race": {"role": "quasi", "hierarchy": FLAT},
        "occupation": {"role": "sensitive"},
    }
    tree = {
        "input": {"unit": "person"},
        "columns": columns,
        "privacy": {"k_anonymity": 5},
        "algorithm": {"name": "optimal", "max_suppressed": 0.05},
    }
    _checked(tree, table, tmp_path, ["age", "sex", "race"], "person", 5)


def test_questions_are_about_one_row_of_each_person(tmp_path: Path):
    """480 visits of 150 patients: a count tells people. The noise at epsilon 1,000 is off by one once in e^1000."""
    ledger = sf.Ledger.create(tmp_path / "ledger", total=10_000)
    ledger.grant("anna", 10_000)
    asked = sf.Plan.parse({**PRIVATE, "input": {"unit": "patient"}, "privacy": {}, "algorithm": {}})
    found = sf.query(asked, "SELECT COUNT(*)", epsilon=1000, ledger=ledger, analyst="anna", frame=visits())
    assert found[0].values.tolist() == [150]


@pytest.mark.parametrize("most", [2, 5])
def test_questions_may_use_several_rows_of_each_person(most: int, tmp_path: Path):
    """Noise is drawn for epsilon / m; the ledger counts all rows of a person. At 1,000 it is off once in e^200."""
    ledger = sf.Ledger.create(tmp_path / "ledger", total=10_000)
    ledger.grant("anna", 10_000)
    source = {"unit": "patient", "rows_per_unit": most}
    columns = {**PRIVATE["columns"], "age": {"role": "quasi", "hierarchy": SPAN}}  # type: ignore[dict-item]
    asked = sf.Plan.parse({"input": source, "columns": columns, "privacy": {}})
    sql = "SELECT COUNT(*), SUM(age), AVG(age), MEDIAN(age)"
    found = sf.query(asked, sql, epsilon=4000, ledger=ledger, analyst="anna", frame=visits())
    kept = sum(min(many, most) for many in visits()["patient"].value_counts()["count"])
    assert found[0].values.tolist() == [kept]
    assert found[0].scales == {"count": most / 1000}
    assert [one.epsilon for one in found] == [1000] * 4
    assert {one.event.rows for one in found} == {most}  # type: ignore[union-attr]
    assert 0 < found[2].value < 120
    assert ledger.accounts()[1].spent == 4000


def test_all_rows_of_one_person_are_hidden_and_row_level_noise_is_caught(tmp_path: Path):
    """Neighbours are people: five rows of one of them come or go. The known-bad twin draws noise for single rows.

    False alarms: 1e-9 for each of the two audits. Groups are as many independent runs.
    """
    runs, most = 3000, 5
    names = tuple(map(str, range(runs)))
    rows = [("a", name) for name in names], [(who, name) for name in names for who in ("a", *["b"] * most)]

    def outputs(place: int, claimed: int) -> np.ndarray:
        ledger = sf.Ledger.create(tmp_path / f"ledger-{place}-{claimed}", total=1)
        ledger.grant("anna", 1)
        frame = pl.DataFrame(rows[place], schema=["who", "run"], orient="row")
        domains = {"run": Categories(values=names)}
        asked = Session(frame, ledger=ledger, analyst="anna", domains=domains, rows=claimed)
        return asked.count(epsilon=1, by=["run"]).values

    kept = audit_outputs(outputs(0, most), outputs(1, most), confidence=1 - 1e-9, declared=1)
    assert 0.5 < kept.epsilon_low <= 1, "it holds, and the audit has teeth"
    assert audit_outputs(outputs(0, 1), outputs(1, 1), confidence=1 - 1e-9, declared=1).refuted


@pytest.mark.parametrize("lost", [0, 1, 3])
def test_a_missing_identifier_is_one_person_and_not_two(lost: int):
    """Four people are named; each row without an identifier is one more, and the missing value itself is nobody."""
    people = [*"abcd", *[None] * lost]
    table = pl.DataFrame(
        {"patient": people, "age": ["40"] * len(people), "sex": ["f"] * len(people), "diagnosis": ["flu"] * len(people)}
    )
    release = sf.release(plan({"k_anonymity": 2}), table)
    assert release.prepared.people == 4 + lost
    assert told_apart(Table(frame=table).column("patient", "text"))[1] == 4 + lost


@examples(40)
@given(rows=ROWS, lost=st.lists(st.booleans(), min_size=20, max_size=20), share=st.sampled_from([0.1, 0.2, 0.4]))
def test_no_more_people_lose_rows_than_allowed(rows: list[Any], lost: list[bool], share: float):
    """People counted by hand, with a person for every row that has no identifier."""
    named = [None if gone else p for (p, *_), gone in zip(rows, lost, strict=False)]
    told = [(p, str(a), s, d) for p, (_, a, s, d) in zip(named, rows, strict=True)]
    table = pl.DataFrame(told, schema=list(COLUMNS), orient="row").with_row_index("row")
    columns = {**COLUMNS, "row": {"role": "keep"}}
    asked = plan({"k_anonymity": 2}, columns=columns, algorithm={"name": "optimal", "max_suppressed": share})
    try:
        release = sf.release(asked, table.with_columns(pl.col("row").cast(pl.String)))
    except sf.SfumatoError:
        return
    person = [p or f"row {n}" for n, p in enumerate(named)]
    kept = {int(row) for row in release.rows["row"]}
    losing = {who for n, who in enumerate(person) if n not in kept}
    assert len(losing) <= Fraction(str(share)) * len(set(person))


SEVERAL = st.lists(
    st.tuples(
        st.sampled_from("abcdefgh"), st.integers(20, 45), st.sampled_from("fm"), st.sampled_from(["flu", "hiv", "tb"])
    ),
    min_size=6,
    max_size=24,
)


@examples(40)
@given(rows=SEVERAL, l=st.sampled_from([2, 3]))
def test_no_illness_is_had_by_everyone_of_a_group(rows: list[Any], l: int):
    """Counted from the released rows: any l - 1 illnesses leave someone out."""
    table = pl.DataFrame([(p, str(a), s, d) for p, a, s, d in rows], schema=list(COLUMNS), orient="row")
    asked = plan({"l_diversity": {"kind": "distinct", "l": l}}, algorithm={"name": "optimal", "max_suppressed": 0.5})
    try:
        release = sf.release(asked, table)
    except sf.SfumatoError:
        return
    for group in release.rows.partition_by("age", "sex"):
        having = {ill: set(part["patient"]) for (ill,), part in group.partition_by("diagnosis", as_dict=True).items()}
        most = sorted(map(len, having.values()), reverse=True)
        assert sum(most[: l - 1]) < group["patient"].n_unique()


def test_an_illness_that_everyone_has_beside_others_is_found_by_verify_and_attack(tmp_path: Path):
    """A bundle that claims two values by rows: every patient has flu, and half of them something else as well."""
    people = [f"p{n}" for n in range(60)]
    visit = [(who, "40" if n < 30 else "70", "f", "flu") for n, who in enumerate(people)]
    more = [(who, "40" if n < 30 else "70", "f", "hiv") for n, who in enumerate(people) if n % 2]
    table = pl.DataFrame(visit + more, schema=list(COLUMNS), orient="row")
    privacy = {"k_anonymity": 5, "l_diversity": {"kind": "distinct", "l": 2}}
    with pytest.raises(sf.Infeasible, match="distinct-l-diversity"):
        sf.release(plan(privacy), table)
    table.write_csv(tmp_path / "table.csv")
    sf.release(plan({"k_anonymity": 5}), table).write(tmp_path / "b")
    stated = json.loads((tmp_path / "b" / "manifest.json").read_text())
    forged = {**stated["claims"][0], "model": "distinct-l-diversity", "parameters": {"l": 2, "column": "diagnosis"}}
    forged |= {"limit": 2.0, "reached": 2.0, "readings": {"value": 2.0, "wildcard": 2.0}, "sense": "at least"}
    stated["claims"].append(forged)
    stated["plan"]["privacy"]["l_diversity"] = {"kind": "distinct", "l": 2}
    (tmp_path / "b" / "manifest.json").write_text(dump(seal(stated)))
    failing = [check.what for check in sf.verify(tmp_path / "b").checks if not check.holds]
    assert "claim distinct-l-diversity" in failing
    audit = sf.attack(tmp_path / "b", tmp_path / "table.csv", trials=200)
    homogeneity = next(one for one in audit.findings if one.attack == "homogeneity")
    assert str(homogeneity.outcome) == "refuted"
    assert homogeneity.figures["surely_known"] == 1.0


@pytest.mark.parametrize("algorithm", ["optimal", "greedy", "mondrian", "local", "cell-suppression"])
@pytest.mark.parametrize("distance", ["variational", "emd-ordered"])
def test_groups_are_compared_with_all_people(algorithm: str, distance: str, tmp_path: Path):
    """People who stay in one cell: searches that judge some groups at a time still know the whole table."""
    dice = np.random.default_rng(12)
    who = dice.integers(0, 40, 120)
    age, sex = dice.integers(20, 60, 40)[who], dice.choice(list("fm"), 40)[who]
    ill = dice.choice(["1", "2", "3", "4"], 120, p=[0.4, 0.2, 0.2, 0.2])
    table = pl.DataFrame({"patient": [f"p{n}" for n in who], "age": age.astype(str), "sex": sex, "diagnosis": ill})
    columns = {**COLUMNS, "diagnosis": {"role": "sensitive", "type": "integer"}}
    privacy = {"t_closeness": {"t": 0.3, "distance": distance}}
    asked = plan(privacy, columns=columns, algorithm={"name": algorithm, "max_suppressed": 0.2})
    assert sf.release(asked, table).write(tmp_path / "b").holds
