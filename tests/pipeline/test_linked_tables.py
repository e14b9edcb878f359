"""Linked tables: keyed pseudonyms join them, and every claim holds in people on the join, from the bytes alone."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.bundles.manifest.document import dump, seal
from sfumato.bundles.manifest.linked import LinkedManifest
from sfumato.bundles.pseudonyms import Pseudonyms
from sfumato.core.run_context import Work
from sfumato.counts.linked_rows import Link, from_leaves, joint_classes, parents
from sfumato.pipeline.linked.plan import LinkedPlan
from sfumato.pipeline.linked.release import pose, release_linked
from sfumato.pipeline.linked.search import LinkedProblem, Node, search_linked
from tests.brute.linked import seen, smallest_joint_class
from tests.pipeline.linked_tables import KEY, LINKED, VISITS, laid_out
from tests.shared_data import shared
from tests.weights import examples

IDENTIFIER = 'role = "identifier"'
QUASI = {"patients": ["age", "sex"], "visits": ["ward"], "drugs": ["kind"]}
LINKS = (
    Link(table="visits", column="patient", to_table="patients", to_column="id"),
    Link(table="drugs", column="visit", to_table="visits", to_column="visit"),
)


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / name / "data.csv").open() as file:
        return list(csv.DictReader(file))


def released(folder: Path) -> dict[str, list[dict[str, str]]]:
    return {name: rows(folder, name) for name in QUASI}


@pytest.mark.parametrize("known", ["rows", "values"])
def test_the_join_hides_everybody_among_k_people(tmp_path, known):
    path = laid_out(tmp_path, linked=f'{LINKED}known = "{known}"\n')
    made = release_linked(LinkedPlan.load(path))
    assert made.write(tmp_path / "out").holds
    tables = released(tmp_path / "out")
    assert smallest_joint_class("patients", tables, LINKS, QUASI, known == "rows") >= 3
    assert len(tables["patients"]) == made.people == 60 - made.suppressed
    assert {one["patient"] for one in tables["visits"]} <= {one["id"] for one in tables["patients"]}
    assert {one["visit"] for one in tables["drugs"]} <= {one["visit"] for one in tables["visits"]}
    assert all(len(one["id"]) == 32 for one in tables["patients"])
    assert sf.verify(tmp_path / "out").holds


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_requirements_hold_on_the_join_too(tmp_path, seed):
    """The people of a joint class have two different diagnoses at least, counted by hand from the written rows."""
    path = laid_out(tmp_path, people=90, seed=seed)
    diverse = VISITS.replace("k_anonymity = 3", 'k_anonymity = 3\nl_diversity = { kind = "distinct", l = 2 }')
    (path.parent / "visits.toml").write_text(diverse)
    release_linked(LinkedPlan.load(path)).write(tmp_path / "out")
    tables = released(tmp_path / "out")
    ill: dict[object, set[str]] = {}
    for row in tables["patients"]:
        own = {one["ill"] for one in tables["visits"] if one["patient"] == row["id"]}
        ill.setdefault(seen(row, "patients", tables, LINKS, QUASI, counted=True), set()).update(own)
    assert min(len(found) for found in ill.values() if found) >= 2
    told = [check.what for check in sf.verify(tmp_path / "out").checks]
    assert "visits: distinct-l-diversity on the join" in told


def test_the_same_people_have_the_same_pseudonyms_whatever_columns_are_called(tmp_path):
    release_linked(LinkedPlan.load(laid_out(tmp_path))).write(tmp_path / "out")
    names = pl.Series("id", [str(who) for who in range(60)])
    expected = set(Pseudonyms(key=KEY, bound="patients.id").replace(names))
    tables = released(tmp_path / "out")
    assert {one["id"] for one in tables["patients"]} <= expected
    assert {one["patient"] for one in tables["visits"]} <= expected
    assert not {one["visit"] for one in tables["visits"]} & expected, "keys of different tables never meet"


def test_a_release_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    made = release_linked(LinkedPlan.load(laid_out(tmp_path)))

    def broken(self: object, folder: Path) -> dict[str, object]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(LinkedManifest, "sealed", broken)
    with pytest.raises(sf.BundleError, match="cannot be written"):
        made.write(tmp_path / "out")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["clinic", "secret.key"]


# Known-bad


def joined_by_hand(folder: Path) -> Path:
    """Each table 3-anonymous alone; on the join somebody is alone: (a, x) stands once."""
    (folder / "secret.key").write_bytes(KEY)
    pairs = [("a", "x"), ("a", "y"), ("a", "y"), ("b", "x"), ("b", "x"), ("b", "y")]
    frames = {
        "one": pl.DataFrame({"id": [str(i) for i in range(6)], "q": [a for a, _ in pairs]}),
        "two": pl.DataFrame({"id": [str(i) for i in range(6)], "q": [b for _, b in pairs]}),
    }
    pseudonym = {"key_file": "secret.key", "name": "one.id"}
    columns = {
        "id": {"role": "identifier", "pseudonym": pseudonym},
        "q": {"role": "quasi", "hierarchy": {"kind": "flat"}},
    }
    tree = {"columns": columns, "privacy": {"k_anonymity": 3}, "attack": {"run": False}}
    place = folder / "bad"
    place.mkdir()
    for name, frame in frames.items():
        assert sf.release(sf.Plan.parse(tree, folder=folder), frame).write(place / name).holds
    link = Link(table="two", column="id", to_table="one", to_column="id")
    manifest = LinkedManifest(tables=("one", "two"), links=(link,), known="rows", people=6, suppressed=0)
    (place / "manifest.json").write_text(dump(manifest.sealed(place)))
    return place


def test_tables_that_are_anonymous_alone_and_not_together_are_caught(tmp_path):
    found = sf.verify(joined_by_hand(tmp_path))
    assert [check.what for check in found.checks if not check.holds] == [
        "one: k-anonymity on the join",
        "two: k-anonymity on the join",
    ]
    assert "required at least 3, reached 1" in next(c.detail for c in found.checks if not c.holds)


@pytest.mark.parametrize("harm", ["file", "digest", "seal", "people", "link", "table"])
def test_a_changed_folder_is_caught(tmp_path, harm):
    release_linked(LinkedPlan.load(laid_out(tmp_path))).write(tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    content = json.loads(path.read_text())
    if harm == "file":
        (tmp_path / "out" / "more.txt").write_text("x")
    elif harm == "digest":
        (tmp_path / "out" / "visits" / "report.html").write_text("x")
    elif harm == "seal":
        path.write_text(dump({**content, "suppressed": 1_000}))
    elif harm == "people":
        path.write_text(dump(seal({**content, "people": 1_000})))
    elif harm == "link":
        path.write_text(dump(seal({**content, "links": content["links"][:1]})))
    else:
        path.write_text(dump(seal({**content, "tables": ["patients", "../clinic"]})))
    if harm == "table":
        with pytest.raises(sf.BundleError, match="tables/1 must be"):
            sf.verify(tmp_path / "out")
    else:
        assert not sf.verify(tmp_path / "out").holds


def test_a_bundle_of_another_release_does_not_join(tmp_path):
    """Rows of somebody who is not in the patients' table are orphans."""
    release_linked(LinkedPlan.load(laid_out(tmp_path))).write(tmp_path / "out")
    (tmp_path / "secret.key").write_bytes(b"another key of 32 bytes, or more")
    release_linked(LinkedPlan.load(tmp_path / "clinic" / "tables.toml")).write(tmp_path / "other")
    (tmp_path / "out" / "patients").rename(tmp_path / "gone")
    (tmp_path / "other" / "patients").rename(tmp_path / "out" / "patients")
    content = json.loads((tmp_path / "out" / "manifest.json").read_text())
    manifest = LinkedManifest.of(content, tmp_path)
    (tmp_path / "out" / "manifest.json").unlink()
    (tmp_path / "out" / "manifest.json").write_text(dump(manifest.sealed(tmp_path / "out")))
    wrong = [check.what for check in sf.verify(tmp_path / "out").checks if not check.holds]
    assert wrong == ["rows that name no row of the table above"]


# Refusals


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('to = "patients.id"', 'to = "nobody.id"', "'nobody' is no table"),
        ('from = "drugs.visit"', 'from = "visits.visit"', "by several columns"),
        ('to = "visits.visit"', 'to = "drugs.visit"', "leads round in a circle"),
        ('to = "patients.id"', 'to = "drugs.visit"', "leads round in a circle"),
        ('[[links]]\nfrom = "visits.patient"\nto = "patients.id"\n', "", "one table must name no rows of another"),
        ('key_file = "../secret.key"', "", "key_file is missing"),
        ('plan = "drugs.toml"', 'plan = "none.toml"', "does not exist"),
        ("max_suppressed = 0.3", "max_suppressed = 3", "must be a share"),
        ("max_suppressed = 0.3", "max_supressed = 0.3", "unknown key"),
        ('from = "visits.patient"', 'from = "visits.ill"', "is a key of a link; give it role = 'identifier'"),
    ],
)
def test_bad_plans(tmp_path, old, new, told):
    path = laid_out(tmp_path, linked=LINKED.replace(old, new, 1))
    with pytest.raises(sf.PlanError, match=told):
        LinkedPlan.load(path)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("k_anonymity = 3", "lkc = { l = 1, k = 2, c = 0.9 }", "cannot be judged on the join"),
        ('path = "visits.csv"', 'path = "visits.csv"\nunit = "patient"', "does not go with linked tables"),
        ("[privacy]", '[algorithm]\nname = "mondrian"\n[privacy]', "does not go with linked tables"),
    ],
)
def test_bad_plans_of_tables(tmp_path, old, new, told):
    path = laid_out(tmp_path)
    (path.parent / "visits.toml").write_text(VISITS.replace(old, new, 1))
    with pytest.raises(sf.PlanError, match=told):
        LinkedPlan.load(path)


def test_a_refusal_of_one_table_names_it(tmp_path):
    path = laid_out(tmp_path)
    (path.parent / "visits.toml").write_text(VISITS.replace('role = "quasi"', 'role = "drop"'))
    with pytest.raises(sf.PlanError, match=r"tables\.visits: privacy\.k_anonymity needs a column with role 'quasi'"):
        release_linked(LinkedPlan.load(path))


def test_orphans_and_repeated_keys(tmp_path):
    path = laid_out(tmp_path)
    with (path.parent / "visits.csv").open("a") as file:
        file.write("v999,nobody,eye,flu\n")
    with pytest.raises(sf.DataError, match=r"1 of .* rows name no row of patients"):
        release_linked(LinkedPlan.load(path))
    path.write_text(f'{LINKED}orphans = "drop"\n')
    assert release_linked(LinkedPlan.load(path)).orphans == {"visits": 1}
    with (path.parent / "patients.csv").open("a") as file:
        file.write("1,33,m\n")
    with pytest.raises(sf.DataError, match=r"patients\.id: a key names one row"):
        release_linked(LinkedPlan.load(path))


# Twins


@given(st.data())
@examples(120, whole=True)
def test_joint_classes_are_those_of_the_definition(data):
    draw, size = data.draw, data.draw(st.integers(1, 6))
    people = [{"id": str(i), "q": draw(st.sampled_from("ab"))} for i in range(size)]
    visits = [
        {"visit": f"v{i}", "patient": str(draw(st.integers(0, size - 1))), "w": draw(st.sampled_from("xy"))}
        for i in range(draw(st.integers(0, 8)))
    ]
    drugs = [
        {"visit": draw(st.sampled_from([v["visit"] for v in visits])), "d": draw(st.sampled_from("st"))}
        for _ in range(draw(st.integers(0, 8)) if visits else 0)
    ]
    tables = {"patients": people, "visits": visits, "drugs": drugs}
    quasi = {"patients": ["q"], "visits": ["w"], "drugs": ["d"]}
    root, order = from_leaves(tables, LINKS)
    frames = {name: pl.DataFrame(one, schema=schema_of(name)) for name, one in tables.items()}
    above = {x.table: parents(x, frames[x.table][x.column], frames[x.to_table][x.to_column]) for x in order}
    labels = {name: np.array([ord(one[quasi[name][0]]) for one in table], np.int64) for name, table in tables.items()}
    for counted in (True, False):
        joint = joint_classes(labels, above, order, counted=counted)
        assert np.bincount(joint).min() == smallest_joint_class(root, tables, LINKS, quasi, counted)


def schema_of(name: str) -> dict[str, type[pl.String]]:
    columns = {"patients": ("id", "q"), "visits": ("visit", "patient", "w"), "drugs": ("visit", "d")}
    return dict.fromkeys(columns[name], pl.String)


# What is left out, and at which cost


def posed(folder: Path, seed: int, people: int, share: float) -> tuple[LinkedPlan, LinkedProblem]:
    path = folder / "clinic" / "tables.toml"
    if not path.exists():
        laid_out(folder, people=people, seed=seed)
    path.write_text(LINKED.replace("max_suppressed = 0.3", f"max_suppressed = {share}"))
    plan = LinkedPlan.load(path)
    return plan, pose(plan, Work())[0]


def literally(problem: LinkedProblem, node: Node, k: int) -> tuple[set[int], float]:
    """Who must be left out at a node, one person at a time, and what the node and they cost together."""
    hierarchies = {(name, c): h for name, one in problem.tables.items() for c, h in one.hierarchies.items()}
    tables = {}
    for name, one in problem.tables.items():
        levels = {c: h.levels[node[name, c]] for c, h in one.hierarchies.items()}
        shown = {c: [level.labels[level.parent[code]] for code in one.codes[c]] for c, level in levels.items()}
        keys = {c: one.table.frame[c].to_list() for c in one.table.names if c not in shown}
        tables[name] = [
            dict(zip({**keys, **shown}, row, strict=True)) for row in zip(*keys.values(), *shown.values(), strict=True)
        ]
    kinds = [seen(row, "patients", tables, LINKS, QUASI, counted=True) for row in tables["patients"]]
    out = {who for who, kind in enumerate(kinds) if kinds.count(kind) < k}
    hidden = sum(Fraction(node[at], h.height) for at, h in hierarchies.items()) / len(hierarchies)
    share = Fraction(len(out), len(kinds))
    visiting = {str(row["patient"]) for row in tables["visits"]} - {str(who) for who in out}
    drugged = {row["patient"] for row in tables["visits"] if row["visit"] in {d["visit"] for d in tables["drugs"]}}
    empty = not visiting or not {str(who) for who in drugged} - {str(who) for who in out}
    return out, float("inf") if empty else float(hidden + share * (1 - hidden))


SHARES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.8)


@pytest.mark.parametrize("seed", range(6))
def test_the_cheapest_levels_and_people_of_all(tmp_path, seed):
    """Every node tried literally: the search finds the cheapest, so a larger allowance never harms."""
    people, before = (8, 10, 14)[seed % 3], float("inf")
    for share in SHARES:
        plan, problem = posed(tmp_path, seed, people, share)
        heights = {(n, c): h.height for n, one in problem.tables.items() for c, h in one.hierarchies.items()}
        nodes = [
            dict(zip(heights, levels, strict=True)) for levels in product(*(range(h + 1) for h in heights.values()))
        ]
        costs = [literally(problem, node, 3) for node in nodes]
        fit = [cost for out, cost in costs if len(out) <= share * people + 1e-9]
        best = min(fit, default=float("inf"))
        assert best <= before
        before = best
        if best == float("inf"):
            with pytest.raises(sf.Infeasible):
                release_linked(plan)
            continue
        node, out = search_linked(problem, Work())
        lost, cost = literally(problem, node, 3)
        assert set(np.flatnonzero(out)) == lost
        assert cost == pytest.approx(best)


@pytest.mark.parametrize("seed", range(4))
def test_a_larger_allowance_never_makes_a_release_fail(tmp_path, seed):
    """Down to the last step: every table is released at the levels, and none is empty."""
    path = laid_out(tmp_path, people=14 + seed, seed=40 + seed)
    diverse = VISITS.replace("k_anonymity = 3", 'k_anonymity = 2\nl_diversity = { kind = "distinct", l = 2 }')
    (path.parent / "visits.toml").write_text(diverse)
    feasible = False
    for share in SHARES:
        path.write_text(LINKED.replace("max_suppressed = 0.3", f"max_suppressed = {share}"))
        try:
            made = release_linked(LinkedPlan.load(path))
        except sf.Infeasible:
            assert not feasible, share
            continue
        feasible = True
        assert made.suppressed <= share * (14 + seed)
        assert min(one.rows.height for one in made.tables.values()) > 0


@pytest.mark.slow
def test_mimic(tmp_path):
    """Patients and their admissions of the MIMIC demo: 3 people in every joint class."""
    (tmp_path / "secret.key").write_bytes(KEY)
    flat = 'role = "quasi"\nhierarchy = { kind = "flat" }\n'
    plans = {
        "patients": ("PATIENTS.csv", {"SUBJECT_ID": None, "GENDER": flat}),
        "admissions": ("ADMISSIONS.csv", {"subject_id": None, "admission_type": flat, "insurance": flat}),
    }
    for name, (file, columns) in plans.items():
        told = "".join(
            f"[columns.{c}]\n{said or 'role = ' + chr(34) + 'identifier' + chr(34)}\n" for c, said in columns.items()
        )
        path = shared("mimic3_demo", file)
        (tmp_path / f"{name}.toml").write_text(
            f'[input]\npath = "{path}"\n{told}[privacy]\nk_anonymity = 3\n[attack]\nrun = false\n'
        )
    (tmp_path / "tables.toml").write_text(
        '[tables.patients]\nplan = "patients.toml"\n[tables.admissions]\nplan = "admissions.toml"\n'
        '[[links]]\nfrom = "admissions.subject_id"\nto = "patients.SUBJECT_ID"\n'
        '[people]\nkey_file = "secret.key"\nmax_suppressed = 0.2\n'
    )
    made = release_linked(LinkedPlan.load(tmp_path / "tables.toml"))
    assert made.write(tmp_path / "out").holds
    assert made.people >= 80
    tables = {name: rows(tmp_path / "out", name) for name in plans}
    link = Link(table="admissions", column="subject_id", to_table="patients", to_column="SUBJECT_ID")
    quasi = {"patients": ["GENDER"], "admissions": ["admission_type", "insurance"]}
    assert smallest_joint_class("patients", tables, (link,), quasi, counted=True) >= 3
