"""Known-bad bundles whose parts contradict each other, every digest mended: each is noticed by the check for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.bundles.checks.items import items_written
from sfumato.bundles.checks.labels import contradictions
from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import dump, seal
from sfumato.tables.table import Table

Change = Callable[[dict[str, Any]], Any]


def failing(folder: Path, change: Change = lambda m: None, cells: tuple[str, str] | None = None) -> list[str]:
    """Change a manifest and the first place of a text in the data, mend all digests, and tell which checks fail."""
    content = json.loads((folder / "manifest.json").read_text())
    change(content)
    path = folder / content["data"]["file"]
    if cells is not None:
        assert cells[0] in path.read_text()
        path.write_text(path.read_text().replace(*cells, 1))
    content["data"]["sha256"] = sha256(path)
    (folder / "manifest.json").write_text(dump(seal(content)))
    return [check.what for check in sf.verify(folder).checks if not check.holds]


def marked(reading: str) -> dict[str, Any]:
    return {
        "input": {"missing": ["?", "NA"]},
        "columns": {
            "zip": {"role": "quasi", "hierarchy": {"kind": "flat"}},
            "ill": {"role": "sensitive"},
            "note": {"role": "keep"},
        },
        "privacy": {"k_anonymity": 5, "t_closeness": {"t": 0.9, "distance": "emd-equal"}, "reading": reading},
        "attack": {"run": False},
    }


def two_markers() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "zip": [*["10"] * 5, "?", "?", "NA", "NA", None],
            "ill": ["flu", "?", "NA", "flu", None] * 2,
            "note": ["NA", "?"] * 5,
        }
    )


@pytest.mark.parametrize("reading", ["value", "wildcard", "strict"])
def test_two_markers_are_two_texts_for_a_reader(tmp_path: Path, reading: str) -> None:
    """Merged, two rows with ? and three with NA would pass for a group of five."""
    folder = tmp_path / "b"
    assert sf.release(sf.Plan.parse(marked(reading)), two_markers()).write(folder).holds
    rows = pl.read_csv(folder / "data.csv", infer_schema=False)
    assert set(rows["zip"]) == {"10", "?"}
    assert set(rows["ill"]) == {"flu", "?"}
    assert set(rows["note"]) == {"NA", "?"}  # no claim counts it
    found = failing(folder, cells=("\n?,", "\nNA,"))
    assert found == ["spellings of a missing value"]


def test_two_markers_in_sensitive_values_hide_how_far_a_class_is_from_the_whole(tmp_path: Path) -> None:
    """As one value the class with ? and the one with NA are alike; as a reader sees them each tells its own."""
    folder = tmp_path / "b"
    frame = pl.DataFrame({"zip": ["1"] * 5 + ["2"] * 5, "ill": ["?"] * 10, "note": ["x"] * 10})
    assert sf.release(sf.Plan.parse(marked("value")), frame).write(folder).holds
    path = folder / "data.csv"
    path.write_text("\n".join(x.replace("?", "NA") if x.startswith("1,") else x for x in path.read_text().split("\n")))
    assert failing(folder) == ["spellings of a missing value"]


def test_a_null_beside_a_marker_is_a_second_writing(tmp_path: Path) -> None:
    folder = tmp_path / "b"
    tree = {**marked("strict"), "output": {"format": "parquet"}}
    assert sf.release(sf.Plan.parse(tree), two_markers()).write(folder).holds
    path = folder / "data.parquet"
    rows = pl.read_parquet(path)
    rows.with_columns(pl.when(pl.int_range(pl.len()) < 5).then("ill").otherwise(None).alias("ill")).write_parquet(path)
    assert "spellings of a missing value" in failing(folder)


def test_rows_that_the_plan_leaves_out_are_not_there(tmp_path: Path) -> None:
    folder = tmp_path / "b"
    assert sf.release(sf.Plan.parse(marked("strict")), two_markers()).write(folder).holds
    assert failing(folder, lambda m: m["plan"]["input"].update(on_missing="drop")) == ["rows with missing values"]


PATHS = {
    "input": {"missing": ["?"]},
    "columns": {
        "path": {"role": "quasi", "type": "trajectory"},
        "basket": {"role": "quasi", "type": "set"},
        "ill": {"role": "sensitive"},
    },
    "privacy": {"lkc": {"l": 2, "k": 2, "c": 0.8}},
    "attack": {"run": False},
}


@pytest.fixture
def paths(tmp_path: Path) -> Path:
    path = ["a@8|b@10|c@12"] * 6 + [""] * 4
    frame = pl.DataFrame({"path": path, "basket": ["x|y|z"] * 10, "ill": ["flu", "hiv"] * 5})
    assert sf.release(sf.Plan.parse(PATHS), frame).write(tmp_path / "b").holds
    return tmp_path / "b"


BACK = "items of path as they are written"
SETS = "items of basket as they are written"


@pytest.mark.parametrize(
    ("cells", "noticed"),
    [
        (("a@8|b@10|c@12", "b@10|a@8|c@12"), BACK),
        (("a@8|b@10|c@12", "a@8|b@10|b@10|c@12"), BACK),
        (("a@8|b@10|c@12", "a@8|b@10| c@12"), BACK),
        (("x|y|z", "y|x|z"), SETS),
        (("x|y|z", "x|y|z|x"), SETS),
        (("x|y|z", "x|y |z"), SETS),
    ],
)
def test_one_record_that_is_written_in_another_way(paths: Path, cells: tuple[str, str], noticed: str) -> None:
    """The models see the same sets: nothing but the writing is wrong."""
    assert failing(paths, cells=cells) == [noticed]


def test_an_empty_path_that_is_marked_as_missing(paths: Path) -> None:
    assert "spellings of a missing value" in failing(paths, cells=('"",', "?,"))


def test_values_that_are_called_missing_against_the_plan(paths: Path) -> None:
    """Taken for missing, what a whole class has would tell nothing."""
    assert "missing markers" in failing(paths, lambda m: m["data"].update(missing=["hiv"]))


def path_faults(cells: list[str], tree: str | None = None, coarser: tuple[str, ...] = ()) -> list[str]:
    """What is wrong with released paths, all of them written in one order."""
    column = {"name": "p", "role": "quasi", "type": "trajectory", "separator": "|", "mark": "@"}
    stated = {
        "data": {"columns": [column]},
        "plan": {"columns": {"p": {} if tree is None else {"time_hierarchy": tree}}},
        "recoding": {"columns": {"p": {"coarser": coarser}}},
    }
    return [one.detail for one in items_written(stated, Table(frame=pl.DataFrame({"p": cells}))) if not one.holds]


@pytest.mark.parametrize(
    ("cells", "wrong"),
    [
        (["b@10|a@8"], True),
        (["b@9|a@10"], False),
        (["b@09:30|a@08:00"], True),
        (["b@2024-05-02|a@2024-05-01"], True),
        (["x@1", "b@10|c@12|a@8"], True),
        (["b@[3-6)|a@[0-3)"], True),
        (["b@[0-6)|a@2"], False),
        (["b@[3-6)|a@3"], False),
        (["b@[3-6]|a@2|c@7"], True),
        (["b@>=6|a@<3"], True),
        (["a@5|b@5"], True),
        (["", "a@5"], False),
        ([""], False),
    ],
)
def test_no_path_goes_back_in_time(cells: list[str], wrong: bool) -> None:
    tree = "intervals" if "[" in cells[0] or "<" in cells[0] else None
    assert bool(path_faults(cells, tree)) == wrong


def test_what_a_node_of_a_tree_is_called_says_nothing_about_its_time() -> None:
    """Shift 1 may well be the night."""
    assert path_faults(["b@2|a@1"], "tree", ("b@2", "a@1")) == []
    assert path_faults(["b@2|a@1"], "tree")
    assert path_faults(["a@[0-3)|b@[0-3)"], "intervals", ("a@[0-3)", "b@[0-3)")) == []


def ages(**change: Any) -> dict[str, Any]:
    """The description of a column of ages from 0 to 100 in tens."""
    labels = ["[0-10)", "[10-20)", "[90-100]"]
    told = {"of": 3, "level": 1, "labels": dict.fromkeys(labels, 1.0), "rule": {"type": "integer", "intervals": True}}
    sizes = dict(zip(labels, (10.0, 10.0, 11.0), strict=True))
    return {**told, "sizes": sizes, "total": 101, "continuous": False} | change


def schools(**change: Any) -> dict[str, Any]:
    """The description of a column of words with a table of values."""
    rule = {"type": "text", "values": {"9th": "School", "10th": "School", "BSc": "BSc", "30": "[20-40)", "50": "*"}}
    labels = {"School": 1.0, "BSc": 0.0, "[20-40)": 1.0, "*": 2.0}
    sizes = {"School": 2.0, "BSc": 1.0, "[20-40)": 1.0, "*": 5.0}
    told = {"of": 2, "form": "nodes", "labels": labels, "sizes": sizes, "total": 5.0, "continuous": False}
    return {**told, "rule": rule} | change


def swapped(first: str, second: str) -> dict[str, Any]:
    values = dict(schools()["rule"]["values"])
    values[first], values[second] = values[second], values[first]
    return {"type": "text", "values": values}


@pytest.mark.parametrize(
    "change",
    [
        {"sizes": {**ages()["sizes"], "[0-10)": 9.0}},
        {"sizes": {**ages()["sizes"], "[90-100]": 10.0}},
        {"sizes": {"[0-10)": 10.0}},
        {"continuous": True},
        {"total": 50},
        {"rule": {"type": "integer", "intervals": False}},
        {"rule": {"type": "integer", "intervals": True, "values": {"1": "[0-10)"}}},
        {"rule": {"type": "text", "intervals": True}},
        {"rule": {"type": "integer"}},
        {"labels": {"[0-10)": 1.0, "[5-20)": 1.0}, "sizes": {"[0-10)": 10.0, "[5-20)": 15.0}},
        {"form": "spans"},
        {"form": "boxes"},
    ],
)
def test_intervals_say_how_wide_they_are(change: dict[str, Any]) -> None:
    assert contradictions(ages(), {"hierarchy": "intervals"}, ("",)) == []
    assert contradictions(ages(**change), {"hierarchy": "intervals"}, ("",))


def test_an_interval_of_one_whole_number_is_no_value() -> None:
    """It is as narrow as a value, and still holds no text of its own."""
    labels = {"[0-84)": 3 * 83 / 100, "[84-85)": 0.0, "[85-100]": 3 * 15 / 100}
    sizes = {"[0-84)": 84.0, "[84-85)": 1.0, "[85-100]": 16.0}
    told = ages(labels=labels, sizes=sizes, form="intervals")
    del told["level"]
    assert contradictions(told, {"hierarchy": "grown"}, ("",)) == []


@pytest.mark.parametrize(
    "change",
    [
        {"rule": swapped("BSc", "9th")},
        {"rule": {**schools()["rule"], "values": {**schools()["rule"]["values"], "50": "[20-40)"}}},
        {"total": 6.0},
        {"continuous": True},
        {"sizes": {**schools()["sizes"], "BSc": 2.0}},
        {"sizes": {**schools()["sizes"], "*": 4.0}},
        {"rule": {"type": "text", "values": {}}},
        {"rule": {"type": "text", "above": {"kind": "flat"}}},
    ],
)
def test_a_rule_reads_no_value_as_a_label_that_does_not_hold_it(change: dict[str, Any]) -> None:
    assert contradictions(schools(), {"hierarchy": "tree"}, ("",)) == []
    assert contradictions(schools(**change), {"hierarchy": "tree"}, ("",))


def test_two_words_that_are_swapped_cannot_be_told() -> None:
    """What a word covers stands in a tree that the bundle does not hold: this is the limit of what is checked."""
    rule = {"type": "text", "values": {"a": "vowel", "e": "vowel", "b": "other", "c": "other"}}
    told = {"of": 2, "level": 1, "labels": {"vowel": 1.0, "other": 1.0}, "rule": rule}
    other = {**rule, "values": {"a": "other", "e": "vowel", "b": "vowel", "c": "other"}}
    assert contradictions({**told, "rule": other}, {"hierarchy": "tree"}, ()) == []


@pytest.mark.parametrize(
    ("above", "of", "good", "bad"),
    [
        ({"kind": "mask", "levels": [2, 4]}, 3, {"123**": 1.0, "1****": 2.0}, {"123**": 2.0, "1****": 2.0}),
        ({"kind": "mask", "length": 3, "from": "left"}, 3, {"*23": 1.0, "**3": 2.0}, {"12*": 1.0}),
        ({"kind": "dates"}, 5, {"2024-05": 1.0, "2024-Q2": 2.0, "2020s": 4.0}, {"2024": 1.0}),
        ({"kind": "flat"}, 1, {"x": 0.0}, {"x": 1.0}),
    ],
)
def test_masks_and_calendars_show_their_level(above: Any, of: int, good: Any, bad: Any) -> None:
    rule = {"type": "date" if above["kind"] == "dates" else "text", "above": above}
    planned = {"hierarchy": above["kind"]}
    assert contradictions({"of": of, "labels": good, "rule": rule}, planned, ("",)) == []
    assert contradictions({"of": of, "labels": bad, "rule": rule}, planned, ("",))
    assert contradictions({"of": of + 1, "labels": good, "rule": rule}, planned, ("",))
    assert contradictions({"of": of, "labels": good, "rule": rule}, {"hierarchy": "quantiles"}, ("",))


@pytest.fixture(scope="module")
def trail(tmp_path_factory: pytest.TempPathFactory) -> Path:
    columns = {
        "sex": {"role": "quasi", "hierarchy": {"bundled": "census/sex"}},
        "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 17, "high": 90}},
        "income": {"role": "target"},
    }
    tree = {"columns": columns, "privacy": {"k_anonymity": 10}, "algorithm": {"name": "top-down"}}
    folder = tmp_path_factory.mktemp("made") / "b"
    made = sf.release(sf.Plan.parse({**tree, "attack": {"run": False}}), sf.datasets.census(700, seed=5))
    assert made.write(folder).holds
    return folder


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        (lambda m: m["trail"].update(loss=-5), "trail"),
        (lambda m: m["trail"]["steps"][0].update(loss=7.0), "trail"),
        (lambda m: m["trail"]["steps"][0].update(loss=0.0), "trail"),
        (lambda m: m["trail"]["steps"][0].update(loss=None), "trail"),
        (lambda m: m["utility"].update(entropy=-5.0), "metrics beyond their range"),
        (lambda m: m["marks"].append("perfectly safe"), "warnings"),
        (lambda m: m["recoding"].update(algorithm="optimal"), "algorithm"),
        (lambda m: m["recoding"].update(why="It is the best."), "algorithm"),
    ],
)
def test_figures_and_words_that_cannot_be(trail: Path, tmp_path: Path, change: Change, noticed: str) -> None:
    copy = tmp_path / "b"
    copy.mkdir()
    for path in trail.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    assert noticed in failing(copy, change)


def test_a_rule_of_a_private_release_that_the_declared_tree_contradicts(tmp_path: Path) -> None:
    tree = {
        "columns": {
            "race": {"role": "quasi", "hierarchy": {"bundled": "census/race"}},
            "income": {"role": "target", "values": ["<=50K", ">50K"]},
        },
        "privacy": {"epsilon": 50},
        "algorithm": {"name": "diffgen", "specializations": 1},
    }
    folder = tmp_path / "b"
    assert sf.release(sf.Plan.parse(tree), sf.datasets.census(300, seed=3)).write(folder).holds

    def swap(m: dict[str, Any]) -> None:
        values = m["recoding"]["columns"]["race"]["rule"]["values"]
        values["White"], values["Black"] = values["Black"], values["White"]
        assert values["White"] != "*"

    assert failing(folder, swap) == ["domain of race"]
    assert "choices of the mechanism" in failing(folder, lambda m: (swap(m), m["recoding"]["steps"].append("x")))
