"""Trees as a kind of release: published, verified from their documents, and refused where they tell too much."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import dump, seal
from sfumato.mining.attributes import label_text
from sfumato.mining.document_json import read_tree, write_tree
from sfumato.mining.prediction import leaves_of
from sfumato.mining.tree_document import TreeDocument
from sfumato.pipeline.shared_models import models_in

TREE: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 120, "grid": 5}},
        "education": {"role": "quasi"},
        "sex": {"role": "quasi", "values": ["Female", "Male"]},
        "occupation": {"role": "target"},
    },
    "privacy": {"k_anonymity": 5, "l_diversity": {"kind": "recursive", "c": 5, "l": 3}},
    "algorithm": {"seed": 1},
    "attack": {"trials": 200},
    "tree": {},
}
FORMS: dict[str, dict[str, Any]] = {
    "counts": {},
    "hits": {"tree": {"told": "hits"}},
    "rules": {"tree": {"form": "rules"}},
    "ldm": {"algorithm": {"name": "ldm", "seed": 1}},
    "simple": {"privacy": {"l_diversity": {"kind": "simple", "l": 2}}},
    "forest": {"privacy": {"k_anonymity": 5}, "algorithm": {"trees": 4, "max_depth": 2, "seed": 1}},
    "paper": {
        "tree": {"told": "hits"},
        "privacy": {"l_diversity": {"kind": "recursive", "c": 5, "l": 3, "basis": "hits"}},
    },
}


@cache
def people() -> pl.DataFrame:
    return sf.datasets.census(700, seed=3)


def plan(**more: Any) -> sf.Plan:
    return sf.Plan.parse({**TREE, **more})


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("trees")
    for name, more in FORMS.items():
        sf.release(plan(**more), people()).write(folder / name, inside=folder / f"{name}.html")
    return {name: folder / name for name in FORMS}


@pytest.mark.parametrize("name", FORMS)
def test_a_bundle_verifies_and_is_what_the_original_gives(bundles: dict[str, Path], name: str):
    found = sf.verify(bundles[name])
    assert found.holds, [one for one in found.checks if not one.holds]
    again = sf.verify_again(bundles[name], plan=plan(**FORMS[name]), original=people())
    assert again.holds, [one for one in again.checks if not one.holds]
    other = sf.verify_again(bundles[name], plan=plan(**FORMS[name]), original=people().head(650))
    assert not other.holds


def test_the_report_draws_and_the_inside_report_tells_what_was_pruned(bundles: dict[str, Path]):
    page = (bundles["counts"] / "report.html").read_text()
    assert "<svg" in page
    assert "leaf that failed" not in page
    inside = bundles["counts"].with_name("counts.html").read_text()
    assert "What was pruned" in inside
    assert "leaf that failed" in inside
    assert "<svg" not in (bundles["rules"] / "report.html").read_text().split('id="tree"')[1].split("</section>")[0]


def test_a_forest_is_judged_together(bundles: dict[str, Path]):
    manifest = json.loads((bundles["forest"] / "manifest.json").read_text())
    assert len(manifest["trees"]) > 1
    together = [one for one in manifest["claims"] if "together" in one["parameters"]]
    assert [one["holds"] for one in together] == [True]
    assert any("reach the same leaves" in one.why for one in sf.verify(bundles["forest"]).stated)


def damaged(folder: Path, place: Path, change: Callable[[list[Any], dict[str, Any]], None]) -> bool:
    """Whether a bundle holds whose documents and manifest were changed, and sealed again."""
    shutil.copytree(folder, place)
    lines = [json.loads(line) for line in (place / "data.json").read_text().splitlines()]
    manifest = json.loads((place / "manifest.json").read_text())
    change(lines, manifest)
    (place / "data.json").write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines))
    manifest["data"]["sha256"] = sha256(place / "data.json")
    body = {key: value for key, value in manifest.items() if key != "sha256"}
    (place / "manifest.json").write_text(dump(seal(body)))
    return sf.verify(place).holds


def leaves(lines: list[Any]) -> list[dict[str, Any]]:
    return [node for node in lines[0]["nodes"] if "counts" in node]


def lone(lines: list[Any], manifest: dict[str, Any]) -> None:
    leaf = leaves(lines)[0]
    says = lines[0]["target"]["values"].index(leaf["class"])
    leaf["counts"] = [2 * (n == says) for n in range(len(leaf["counts"]))]


def better(lines: list[Any], manifest: dict[str, Any]) -> None:
    manifest["claims"][0]["reached"] = manifest["claims"][0]["readings"]["value"] = 50.0


def stronger(lines: list[Any], manifest: dict[str, Any]) -> None:
    for one in (manifest["plan"]["privacy"], manifest["claims"][0]["parameters"]):
        one["k_anonymity" if "k_anonymity" in one else "k"] = 9
    manifest["claims"][0]["limit"] = 9.0


def gap(lines: list[Any], manifest: dict[str, Any]) -> None:
    edge = next(node["edge"] for node in lines[0]["nodes"] if len(node.get("edge", ())) > 1)
    edge.pop()


def twice(lines: list[Any], manifest: dict[str, Any]) -> None:
    edges = [node for node in lines[0]["nodes"][1:] if isinstance(node["edge"][0], str)]
    one = edges[0]
    other = next(node for node in edges[1:] if node["parent"] == one["parent"])
    other["edge"] = [*other["edge"], one["edge"][0]]


def unmarked(lines: list[Any], manifest: dict[str, Any]) -> None:
    manifest["marks"] = [one for one in manifest["marks"] if "read off" not in one]


def declared(lines: list[Any], manifest: dict[str, Any]) -> None:
    for one in lines[0]["attributes"]:
        one["declared"] = True


def untold(lines: list[Any], manifest: dict[str, Any]) -> None:
    manifest["attacks"] = [one for one in manifest["attacks"] if one["attack"] != "tree-inference"]


def milder(lines: list[Any], manifest: dict[str, Any]) -> None:
    manifest["attacks"][0]["figures"] = {"share of records that leaves tell rightly": 0.01}


def uncounted(lines: list[Any], manifest: dict[str, Any]) -> None:
    manifest["trees"][0]["records"] += 1


@pytest.mark.parametrize("change", [lone, better, stronger, gap, twice, unmarked, declared, untold, milder, uncounted])
def test_a_changed_bundle_is_caught(bundles: dict[str, Path], tmp_path: Path, change: Any):
    assert damaged(bundles["counts"], tmp_path / "same", lambda lines, manifest: None)
    assert not damaged(bundles["counts"], tmp_path / "other", change)


def test_attacks_on_a_bundle(bundles: dict[str, Path]):
    control = sf.datasets.census(400, seed=99)
    alone = sf.attack(bundles["counts"], people(), control=control, attacks=["all"], seed=1)
    assert {one.attack for one in alone.findings} == {"tree-inference", "tree-membership", "tree-minimality"}
    assert "tree-combination" in alone.skipped
    both = sf.attack(bundles["ldm"], people(), attacks=["all"], earlier=[bundles["counts"]], seed=1)
    (found,) = [one for one in both.findings if one.attack == "tree-combination"]
    assert found.rate.value > found.naive.value
    assert "tree-membership" in both.skipped
    with pytest.raises(sf.PlanError, match="known"):
        sf.attack(bundles["counts"], people(), known=people())


def test_a_second_tree_is_refused_where_it_breaks_the_first(tmp_path: Path):
    """Two trees that ask eight people one question each are 4-anonymous alone, and part them into pairs together."""
    rows = pl.DataFrame({"x": ["a", "b"] * 4, "y": ["a", "a", "b", "b"] * 2})

    def asked(name: str, **more: Any) -> sf.Plan:
        return sf.Plan.parse(
            {
                "columns": {
                    name: {"role": "quasi", "values": ["a", "b"]},
                    "s": {"role": "target", "values": ["p", "q"]},
                },
                "privacy": {"k_anonymity": 4},
                "tree": {},
                "attack": {"trials": 20, **more},
            },
            folder=tmp_path,
        )

    def said(name: str) -> pl.DataFrame:
        return rows.with_columns(s=pl.when(pl.col(name) == "a").then(pl.lit("p")).otherwise(pl.lit("q")))

    assert sf.release(asked("x"), said("x")).write(tmp_path / "x").holds
    assert sf.release(asked("y"), said("y")).write(tmp_path / "y").holds
    with pytest.raises(sf.Infeasible, match="beside the earlier ones"):
        sf.release(asked("y", earlier=["x"]), said("y"))
    again = sf.release(asked("x", earlier=["x"]), said("x"))
    assert [one.holds for one in again.claims] == [True, True]
    found = sf.attack(tmp_path / "y", said("y"), attacks=["tree-combination"], earlier=[tmp_path / "x"])
    assert found.findings[0].figures["smallest meeting of leaves"] == 2


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "nothing asked": ({"privacy": {}}, "nothing is asked of the leaves"),
    "another model": ({"privacy": {"t_closeness": {"t": 0.2}}}, "privacy.t_closeness"),
    "counts by hits": (
        {"privacy": {"l_diversity": {"kind": "recursive", "c": 2, "l": 2, "basis": "hits"}}},
        "leaves that tell counts are judged by them",
    ),
    "hits by counts": (
        {
            "tree": {"told": "hits"},
            "privacy": {"l_diversity": {"kind": "recursive", "c": 2, "l": 2, "basis": "counts"}},
        },
        "leaves tell hit and miss alone",
    ),
    "entropy": ({"privacy": {"l_diversity": {"kind": "entropy", "l": 2}}}, "privacy.l_diversity.kind"),
    "algorithm": ({"algorithm": {"name": "mondrian"}}, "it is atp or ldm"),
    "option": ({"algorithm": {"depth": 3}}, "algorithm.depth"),
    "no class": ({"columns": {"age": {"role": "quasi"}}}, "role = 'target'"),
    "no attribute": ({"columns": {"age": {"role": "target"}}}, "role = 'quasi'"),
    "sensitive": ({"columns": {**TREE["columns"], "race": {"role": "sensitive"}}}, "columns.race.role"),
    "format": ({"output": {"format": "csv"}}, "written as JSON"),
    "population": ({"input": {"population": "people.csv"}}, "does not support a population"),
    "attack": ({"attack": {"attacks": ["linkage"]}}, "attack.attacks"),
    "suppression": ({"algorithm": {"max_suppressed": 0.1}}, "max_suppressed"),
    "key": ({"tree": {"shape": "round"}}, "tree.shape"),
    "learnt and noisy": ({"privacy": {"epsilon": "1"}, "algorithm": {}}, "would tell of them"),
    "seed": ({"privacy": {"epsilon": "1"}, "algorithm": {"split_by": ["sex"], "seed": 1}}, "take the noise away"),
    "observed": ({"privacy": {"epsilon": "1"}, "algorithm": {"split_by": ["sex"]}}, "declared domain"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_plan_is_refused_with_a_reason(name: str):
    more, why = REFUSED[name]
    with pytest.raises(sf.PlanError, match=why):
        plan(**more)


def test_what_cannot_be_met_is_infeasible():
    with pytest.raises(sf.Infeasible, match="as one leaf"):
        sf.release(plan(privacy={"k_anonymity": 10_000}), people())


def noisy(folder: Path, **more: Any) -> sf.Plan:
    columns = {
        "age": TREE["columns"]["age"],
        "sex": TREE["columns"]["sex"],
        "income": {"role": "target", "values": ["<=50K", ">50K"]},
    }
    tree = {"columns": columns, "privacy": {"epsilon": "1"}, "algorithm": {"split_by": ["sex", "age"]}, "tree": {}}
    return sf.Plan.parse({**tree, **more}, folder=folder)


def test_noisy_counts_are_paid_for_and_near_the_truth(tmp_path: Path):
    sf.Ledger.create(tmp_path / "budget.db", total=101).grant("release", 101)
    asked = noisy(tmp_path, privacy={"epsilon": "100", "ledger": "budget.db"})
    made = sf.release(asked, people())
    assert made.write(tmp_path / "sharp").holds
    (tree,) = models_in(tmp_path / "sharp", json.loads((tmp_path / "sharp" / "manifest.json").read_text()))
    assert isinstance(tree, TreeDocument)
    assert tree.counts is not None
    true = people().group_by("sex", "income").len().sort("sex", "income")["len"].to_numpy().reshape(2, 2)
    told = tree.counts[tree.leaves].reshape(2, 4, 2).sum(axis=1)
    assert np.abs(told - true).max() <= 2  # noise of scale 1/100: one in 10^40 runs is further away
    with pytest.raises(sf.BudgetError):
        sf.release(noisy(tmp_path, privacy={"epsilon": "2", "ledger": "budget.db"}), people())


def test_noisy_counts_do_not_look_at_the_table_before(tmp_path: Path):
    """The same structure, attributes and classes come out of no rows and of rows with values from elsewhere."""
    heads = []
    for rows in (people(), people().head(0), people().with_columns(sex=pl.lit("?"), income=pl.lit("rich"))):
        made = sf.release(noisy(tmp_path), rows)
        tree = read_tree(made.rows["document"][0])
        heads.append((tree.parent.tolist(), tree.labels, tree.classes))
        assert made.audit.findings == ()
    assert heads[0] == heads[1] == heads[2]


def test_a_structure_from_elsewhere(tmp_path: Path):
    columns = noisy(tmp_path).columns
    other = sf.Plan(columns=columns, privacy={"k_anonymity": 20}, tree=plan().tree, folder=tmp_path)
    made = sf.release(other, sf.datasets.census(500, seed=8))
    (tmp_path / "public.json").write_text(made.rows["document"][0])
    asked = noisy(tmp_path, tree={"structure": "public.json"}, algorithm={})
    found = sf.release(asked, people())
    assert found.write(tmp_path / "noisy").holds
    assert sf.verify_again(tmp_path / "noisy", plan=asked, original=people()).holds
    assert read_tree(found.rows["document"][0]).labels == read_tree(made.rows["document"][0]).labels
    (tmp_path / "public.json").write_text("{}")
    with pytest.raises(sf.PlanError, match=r"tree\.structure"):
        sf.release(asked, people())


@pytest.mark.parametrize("what", ["scale", "spent", "claim"])
def test_a_changed_promise_is_caught(tmp_path: Path, what: str):
    sf.release(noisy(tmp_path), people()).write(tmp_path / "noisy")

    def change(lines: list[Any], manifest: dict[str, Any]) -> None:
        if what == "scale":
            manifest["noise"]["scale"] = 5.0
        elif what == "spent":
            manifest["ledger"]["epsilon"] = "2"
        else:
            manifest["claims"][0]["parameters"]["epsilon"] = "1/2"

    assert not damaged(tmp_path / "noisy", tmp_path / "other", change)


def test_a_document_is_one_line():
    made = sf.release(plan(), people().with_columns(education=pl.col("education") + "\u2028x"))
    assert made.rows.height == 1
    assert write_tree(read_tree(made.rows["document"][0])) == made.rows["document"][0]


# Types, people, dates, edges of grids


def documents(frame: pl.DataFrame, **more: Any) -> tuple[TreeDocument, ...]:
    return sf.release(plan(**more), frame).shown


LEAN: dict[str, Any] = {"privacy": {"k_anonymity": 5}, "algorithm": {"seed": 1}, "attack": {"run": False}, "tree": {}}


def test_the_type_of_the_plan_is_kept():
    """Codes of digits are texts where the plan says so, and numbers where it says nothing."""
    frame = pl.DataFrame({"code": ["10", "7", "42", "9"] * 50, "ill": ["yes", "no", "yes", "no"] * 50})
    for kind, numeric in ((None, True), ("text", False), ("category", False), ("integer", True)):
        column = {"role": "quasi", **({} if kind is None else {"type": kind})}
        release = sf.release(sf.Plan.parse({**LEAN, "columns": {"code": column, "ill": {"role": "target"}}}), frame)
        assert release.shown[0].attributes[0].numeric is numeric, kind
    assert set(release_values(frame, "text")) == {"10", "7", "42", "9"}
    grown = {"role": "quasi", "type": "text", "hierarchy": {"kind": "grown", "low": 0, "high": 99}}
    with pytest.raises(sf.PlanError, match=r"columns\.code\.hierarchy"):
        sf.release(sf.Plan.parse({**LEAN, "columns": {"code": grown, "ill": {"role": "target"}}}), frame)


def release_values(frame: pl.DataFrame, kind: str) -> tuple[str, ...]:
    columns = {"code": {"role": "quasi", "type": kind}, "ill": {"role": "target"}}
    domain: Any = sf.release(sf.Plan.parse({**LEAN, "columns": columns}), frame).shown[0].attributes[0].domain
    return tuple(domain.values)


def test_edges_do_not_tell_the_largest_value_below_the_top():
    """Two tables that differ in that value alone have the same edges; the grid alone says where they lie."""
    columns = {
        "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 90, "grid": 10}},
        "ill": {"role": "target"},
    }
    edges = []
    for largest in (81, 87, 89):
        ages = [largest] * 30 + [80] * 30 + [90] * 60
        frame = pl.DataFrame({"age": ages, "ill": ["no"] * 60 + ["yes"] * 60})
        (tree,) = documents(frame, **{**LEAN, "columns": columns})
        edges.append(sorted({end for label in tree.labels for span in label for end in span}))
        assert [int(one) for one in (tree.hit + tree.miss)[tree.leaves]] == [60, 60]
    assert edges[0] == edges[1] == edges[2] == [0.0, 89.9, 90.0]


def test_leaves_count_people_where_the_plan_tells_them_apart(tmp_path: Path):
    """Twenty people with ten rows each: by rows every leaf would be large."""
    who = [f"p{n}" for n in range(40) for _ in range(10)]
    sex = ["f" if n % 2 else "m" for n in range(40) for _ in range(10)]
    ill = [("yes" if n % 2 and visit else "no") for n in range(40) for visit in range(10)]
    frame = pl.DataFrame({"who": who, "sex": sex, "ill": ill}).sample(fraction=1.0, shuffle=True, seed=3)
    columns = {"who": {"role": "identifier"}, "sex": {"role": "quasi"}, "ill": {"role": "target"}}
    by_rows = {**LEAN, "columns": columns, "privacy": {"k_anonymity": 100}}
    assert sf.release(sf.Plan.parse(by_rows), frame).shown[0].records == 400
    asked = sf.Plan.parse({**LEAN, "columns": columns, "privacy": {"k_anonymity": 15}, "input": {"unit": "who"}})
    release = sf.release(asked, frame)
    assert release.shown[0].records == 40
    assert max((release.shown[0].hit + release.shown[0].miss)[release.shown[0].leaves]) <= 40
    release.write(tmp_path / "b")
    assert sf.verify(tmp_path / "b").holds
    assert sf.verify_again(tmp_path / "b", plan=asked, original=frame).holds
    assert any("count people, told apart by who" in line for line in release.kind.summary(release).lines)
    with pytest.raises(sf.SfumatoError):
        sf.release(sf.Plan.parse({**by_rows, "input": {"unit": "who"}}), frame)
    with pytest.raises(sf.PlanError, match="rows_per_unit"):
        sf.release(sf.Plan.parse({**by_rows, "input": {"unit": "who", "rows_per_unit": 2}}), frame)


def test_dates_are_asked_for_as_days(tmp_path: Path):
    """A date decides the class: the edge is a day, and the document reads dates again."""
    days = [f"19{50 + n // 4:02d}-0{1 + n % 4}-15" for n in range(160)]
    frame = pl.DataFrame({"born": days, "ill": ["old" if day < "1970-01-01" else "young" for day in days]})
    columns = {"born": {"role": "quasi", "type": "date"}, "ill": {"role": "target"}}
    asked = sf.Plan.parse({**LEAN, "columns": columns})
    release = sf.release(asked, frame)
    (tree,) = release.shown
    assert tree.attributes[0].date
    texts = [label_text(tree.attributes[0], tree.labels[node]) for node in tree.leaves.tolist()]
    assert len(texts) == 2
    assert all(text.startswith(("born before 19", "born from 19")) for text in texts)
    release.write(tmp_path / "b")
    assert sf.verify(tmp_path / "b").holds
    assert sf.verify_again(tmp_path / "b", plan=asked, original=frame).holds
    again = read_tree(write_tree(tree))
    assert again.attributes == tree.attributes
    assert (leaves_of(again, frame) == leaves_of(tree, release.prepared.records)).all()
    german = frame.with_columns(pl.col("born").str.replace(r"(\d+)-(\d+)-(\d+)", "$3.$2.$1"))
    columns["born"]["format"] = "dmy"
    assert sf.release(sf.Plan.parse({**LEAN, "columns": columns}), german).shown[0].attributes == tree.attributes


def test_a_single_leaf_says_that_ldm_finds_a_tree():
    """The first split leaves a part that fails and drags its sibling along; growing takes the other column."""
    dice = np.random.default_rng(59)
    x, y = dice.choice(list("abc"), 60), dice.choice(list("uv"), 60)
    ill = np.where((x == "a") | (dice.random(60) < 0.35), "yes", "no")
    frame = pl.DataFrame({"x": x, "y": y, "ill": ill})
    columns = {"x": {"role": "quasi"}, "y": {"role": "quasi"}, "ill": {"role": "target"}}
    for l in (1.2, 1.4, 1.6):
        tree = {**LEAN, "columns": columns, "privacy": {"k_anonymity": 3, "l_diversity": {"kind": "simple", "l": l}}}
        try:
            release = sf.release(sf.Plan.parse(tree), frame)
            other = sf.release(sf.Plan.parse({**tree, "algorithm": {"name": "ldm", "seed": 1}}), frame)
        except sf.SfumatoError:
            continue
        told = any("'ldm' finds a tree" in line for line in release.kind.summary(release).lines)
        assert told == (release.shown[0].nodes == 1 and other.shown[0].nodes > 1), l
        if told:
            return
    pytest.fail("no example with a single leaf")
