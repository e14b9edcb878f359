"""A bundle tells nothing about the rows that were removed: changing only those changes no byte of it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.collection.mechanisms import KeptCategory
from sfumato.collection.specification import Specification
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.linked.plan import LinkedPlan
from sfumato.pipeline.linked.release import release_linked
from tests.pipeline.linked_tables import LINKED, laid_out
from tests.weights import examples

FLAT = {"kind": "flat"}
CITIES = {"north": ["Oslo", "Bergen", "Narvik"], "south": ["Rome", "Bari", "Pisa"]}
KINDS: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "intervals": ({"kind": "intervals", "widths": [5, 10, 20]}, ["23", "27", "35", "38"], ["57", "387412", "-900"]),
    "intervals of a declared range": (
        {"kind": "intervals", "widths": [5, 10], "low": 0, "high": 100},
        ["23", "27", "35", "38"],
        ["57", "99", "0"],
    ),
    "intervals that clamp": (
        {"kind": "intervals", "widths": [10], "low": 0, "high": 50, "outside": "clamp"},
        ["23", "27", "35", "38"],
        ["45", "99", "-7"],
    ),
    "cuts": ({"kind": "intervals", "cuts": [18, 30, 65]}, ["23", "27", "35", "38"], ["57", "88", "3"]),
    "grown": ({"kind": "grown"}, ["23", "27", "35", "38"], ["57", "387412", "-900"]),
    "quantiles": ({"kind": "quantiles", "groups": [4, 2]}, ["23", "27", "35", "38"], ["57", "387412", "88"]),
    "mask": ({"kind": "mask"}, ["0213", "0214", "9021", "9022"], ["99", "991234567", "99123"]),
    "mask of a declared length": (
        {"kind": "mask", "length": 9},
        ["0213", "0214", "9021", "9022"],
        ["99", "991234567", "99123"],
    ),
    "mask with levels": (
        {"kind": "mask", "levels": [2, 3]},
        ["0213", "0214", "9021", "9022"],
        ["99", "991234567", "99123"],
    ),
    "dates": (
        {"kind": "dates"},
        ["1980-05-01", "1980-05-09", "1991-01-02", "1991-01-30"],
        ["1999-12-31", "1871-03-03", "2024-07-07"],
    ),
    "groups": ({"kind": "groups", "order": list("abcdefgh"), "sizes": [2, 4]}, list("abcd"), list("fgh")),
    "tree": ({"tree": CITIES}, ["Oslo", "Bergen", "Rome", "Bari"], ["Narvik", "Pisa"]),
    "flat": (FLAT, ["a", "b", "c", "d"], ["x", "yyyyyyyyyy", "z"]),
    "flat numbers": (FLAT, ["1", "2", "3", "4"], ["x", "12345", "0.5"]),
}
"""For every kind of hierarchy: the table, the values of released rows, and what the removed row may have."""
ALGORITHMS: dict[str, dict[str, Any]] = {
    name: {"name": name, "max_suppressed": 0.12}
    for name in (
        "optimal",
        "samarati",
        "datafly",
        "greedy",
        "incognito",
        "k-optimize",
        "local",
        "cell-suppression",
        "auto",
    )
}
KEEPING = ("mondrian", "hilbert", "top-down", "bottom-up", "anatomy", "microaggregation")
"""The other algorithms of the catalog: they remove no row."""
METRICS = ("loss", "ncp", "precision", "height", "discernibility", "discernibility-ratio", "class-size", "entropy")
COLUMNS = ("x", "sex", "ill")


def table(values: list[str], removed: str, secret: str = "flu") -> pl.DataFrame:
    """Eight rows of each of two values, and one that stands alone: it is the one that is removed."""
    rows = [(values[n % 2], "fm"[n // 8], ("flu", "cough", "cold")[n % 3]) for n in range(16)]
    rows += [(values[2 + n % 2], "f", ("cold", "flu")[n % 2]) for n in range(6)]
    return pl.DataFrame([*rows, (removed, "m", secret)], schema=COLUMNS, orient="row")


def large_table(values: list[str], removed: str) -> pl.DataFrame:
    """Eight rows of every value and sex, and one that stands alone: to hide it, all of a column would lose more."""
    rows = [(values[n % 4], "fm"[n // 4 % 2], ("flu", "cough", "cold")[n % 3]) for n in range(64)]
    return pl.DataFrame([*rows, (removed, "m", "flu")], schema=COLUMNS, orient="row")


def plan(
    hierarchy: dict[str, Any], metric: str = "loss", privacy: dict[str, Any] | None = None, **algorithm: Any
) -> sf.Plan:
    kind = {"type": "text"} if hierarchy.get("kind") == "mask" else {}
    return sf.Plan.parse(
        {
            "columns": {
                "x": {"role": "quasi", "hierarchy": hierarchy, **kind},
                "sex": {"role": "quasi", "hierarchy": FLAT},
                "ill": {"role": "sensitive"},
            },
            "privacy": privacy or {"k_anonymity": 3},
            "utility": {"metric": metric},
            "algorithm": {"seed": 1, **algorithm},
            "attack": {"trials": 20},
        }
    )


def files(asked: sf.Plan, frame: pl.DataFrame, folder: Path) -> tuple[dict[str, bytes], sf.Release]:
    """The bytes of a bundle."""
    made = sf.release(asked, frame)
    made.write(folder)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}, made


def removed_rows(made: sf.Release, frame: pl.DataFrame) -> list[int]:
    """The numbers of the rows that were removed, by what the release says about the cells of the table."""
    cells, gone = made.prepared.problem.cells, Counter[tuple[str, ...]]()
    for place in made.outcome.suppressed.nonzero()[0]:
        gone[tuple(cells.label(int(place)).values())] += int(cells.sizes[place])
    removed = []
    for number, row in enumerate(frame.select(cells.quasi).iter_rows()):
        if gone[row] > 0:
            gone[row] -= 1
            removed.append(number)
    return removed


def alike(asked: sf.Plan, frames: list[pl.DataFrame], folder: Path) -> int:
    """How many bundles removed their last row; all of these are the same, byte for byte."""
    every = [files(asked, frame, folder / str(n)) for n, frame in enumerate(frames)]
    written = [
        content
        for (content, made), frame in zip(every, frames, strict=True)
        if removed_rows(made, frame)[-1:] == [frame.height - 1]
    ]
    for name, content in written[0].items() if written else ():
        assert all(other[name] == content for other in written), name
    return len(written)


TABLES = (table, large_table)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_for_every_algorithm_and_hierarchy(algorithm: str, kind: str, tmp_path: Path):
    """Some value of the lonely row really is removed, twice: otherwise nothing would be compared."""
    (hierarchy, values, removed), places = KINDS[kind], [*KINDS]
    metric = METRICS[(places.index(kind) + [*ALGORITHMS].index(algorithm)) % len(METRICS)]
    asked = plan(hierarchy, metric, **ALGORITHMS[algorithm])
    pairs = [alike(asked, [make(values, one) for one in removed], tmp_path / make.__name__) for make in TABLES]
    assert max(pairs) >= 2


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_for_every_algorithm_and_metric(algorithm: str, metric: str, tmp_path: Path):
    hierarchy, values, removed = KINDS["mask"]
    asked = plan(hierarchy, metric, **ALGORITHMS[algorithm])
    pairs = [alike(asked, [make(values, one) for one in removed], tmp_path / make.__name__) for make in TABLES]
    assert max(pairs) >= 2


def test_for_named_levels(tmp_path: Path):
    hierarchy, values, removed = KINDS["intervals"]
    asked = plan(hierarchy, name="levels", levels={}, max_suppressed=0.12)
    assert alike(asked, [table(values, one) for one in removed], tmp_path) == 3


def test_the_length_of_a_removed_code(tmp_path: Path):
    """At level 4 nothing is left of codes of four characters: they read * whatever longer code was removed."""
    hierarchy, values, removed = KINDS["mask"]
    asked = plan(hierarchy, name="levels", levels={"x": 4}, max_suppressed=0.12)
    assert alike(asked, [table(values, one) for one in removed[1:]], tmp_path) == 2
    assert set(pl.read_csv(tmp_path / "0" / "data.csv")["x"]) == {"*"}


@pytest.mark.parametrize("algorithm", ["k-optimize", "local"])
def test_limits_that_a_removed_row_exceeds(algorithm: str, tmp_path: Path):
    """Sizes of boxes follow from the declared range, whether or not a removed row lies beyond it."""
    hierarchy, values, removed = KINDS["intervals that clamp"]
    asked = plan(hierarchy, **{**ALGORITHMS[algorithm], "max_suppressed": 0.1})
    assert alike(asked, [table(values, one) for one in removed], tmp_path) == 3


def test_every_other_algorithm_removes_no_row():
    assert {*ALGORITHMS, *KEEPING, "levels"} == {"auto", *catalog().solving("table")}
    hierarchy, values, removed = KINDS["intervals of a declared range"]
    for name in KEEPING:
        privacy = {"l_diversity": {"kind": "distinct", "l": 2}} if name == "anatomy" else {"k_anonymity": 3}
        frame = table(values, removed[0])
        frame = frame.with_columns(sex=pl.lit("1")) if name == "microaggregation" else frame
        assert sf.release(plan(hierarchy, privacy=privacy, name=name, max_suppressed=0.12), frame).suppressed_rows == 0


def test_with_a_class_attribute(tmp_path: Path):
    """The metric that reads one counts removed rows, whatever their class is."""
    hierarchy, values, removed = KINDS["intervals"]
    tree = {
        "columns": {
            "x": {"role": "quasi", "hierarchy": hierarchy},
            "sex": {"role": "quasi", "hierarchy": FLAT},
            "ill": {"role": "target"},
        },
        "privacy": {"k_anonymity": 3},
        "utility": {"metric": "classification"},
        "algorithm": {"seed": 1, "name": "optimal", "max_suppressed": 0.12},
        "attack": {"trials": 20},
    }
    frames = [table(values, one, secret) for one, secret in zip(removed, ("flu", "cough", "cold"), strict=True)]
    assert alike(sf.Plan.parse(tree), frames, tmp_path) == 3


def test_the_sensitive_value_of_a_removed_row(tmp_path: Path):
    hierarchy, values, _ = KINDS["flat"]
    frames = [table(values, "x", secret) for secret in ("flu", "cough", "a disease that nobody else has", "7")]
    assert alike(plan(hierarchy, **ALGORITHMS["optimal"]), frames, tmp_path) == 4


def test_the_salary_of_the_one_removed_person(tmp_path: Path):
    """2,001 rows, intervals without declared limits: from the stated loss they had 387,411.99999999994."""
    salaries = [str(20000 + 7 * n) for n in range(2000)]
    tree = {
        "columns": {
            "salary": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [5000, 10000]}},
            "ill": {"role": "sensitive"},
        },
        "privacy": {"k_anonymity": 5},
        "algorithm": {"name": "optimal", "max_suppressed": 0.001, "seed": 1},
        "attack": {"trials": 20},
    }
    frames = [pl.DataFrame({"salary": [*salaries, one], "ill": ["flu"] * 2001}) for one in ("387412", "1250000")]
    assert alike(sf.Plan.parse(tree), frames, tmp_path) == 2
    manifest = json.loads((tmp_path / "0" / "manifest.json").read_text())
    assert not {"loss", "ncp", "entropy"} & set(manifest["utility"])
    assert "precision" in manifest["utility"]


def test_items_that_are_left_out(tmp_path: Path):
    """The one item that is left out may be any: how often attacks find people by it is for the steward."""
    tree = {
        "columns": {"basket": {"role": "quasi", "type": "set", "separator": " "}},
        "privacy": {"km": {"k": 2, "m": 2}},
        "algorithm": {"name": "sets", "seed": 1},
        "attack": {"run": False},
    }
    every = []
    for n, rare in enumerate(("x", "zebra")):
        frame = pl.DataFrame({"basket": [*["a b", "a b c", "b c", "a c"] * 3, f"a b {rare}"]})
        every.append(files(sf.Plan.parse(tree), frame, tmp_path / str(n))[0])
    assert b"zebra" not in every[1]["data.csv"]
    assert every[0] == every[1]


ANY = st.sampled_from(sorted(KINDS))


@examples(90, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=ANY,
    rows=st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.sampled_from("pqr")), min_size=6, max_size=24),
    removed=st.permutations(range(3)).map(lambda order: tuple(order[:2])),
    algorithm=st.sampled_from(sorted(ALGORITHMS)),
    metric=st.sampled_from(METRICS),
    share=st.sampled_from([0.1, 0.3]),
    privacy=st.sampled_from([{"k_anonymity": 2}, {"k_anonymity": 2, "l_diversity": {"kind": "distinct", "l": 2}}]),
)
def test_nothing_in_a_bundle_tells_more_than_its_rows(
    kind, rows, removed, algorithm, metric, share, privacy, tmp_path_factory
):
    """Random plans: where two tables that differ in one row, which both remove, keep the same rows, all is the same."""
    hierarchy, values, others = KINDS[kind]
    asked = plan(hierarchy, metric, privacy, name=algorithm, max_suppressed=share)
    folder, found = tmp_path_factory.mktemp("made"), []
    for n, which in enumerate(removed):
        told = [(values[x], "fm"[sex], ill) for x, sex, ill in rows] + [(others[which % len(others)], "m", "p")]
        frame = pl.DataFrame(told, schema=COLUMNS, orient="row")
        try:
            content, made = files(asked, frame, folder / str(n))
        except sf.SfumatoError:
            assume(False)
        found.append((content, removed_rows(made, frame)))
    assume(found[0][1] == found[1][1] and len(rows) in found[0][1])
    assert found[0][0] == found[1][0]


BASKETS = ["a b", "a b c", "b c", "a c"] * 3
ITEMS: dict[str, tuple[dict[str, Any], dict[str, Any], list[str], tuple[str, str]]] = {
    "sets": ({"separator": " "}, {"km": {"k": 2, "m": 2}}, BASKETS, ("a b x y", "a b zebra")),
    "sets with a tree": (
        {"separator": " ", "hierarchy": {"tree": {"first": ["a", "b"], "last": ["c", "x", "y", "zebra"]}}},
        {"km": {"k": 2, "m": 2}},
        BASKETS,
        ("a b x y", "a b x zebra"),
    ),
}


@pytest.mark.parametrize("kind", ITEMS)
def test_names_of_attacks_follow_from_released_items(kind: str, tmp_path: Path):
    """Somebody has four items, of which the release shows fewer: that nobody looks for them by four tells nothing."""
    column, privacy, baskets, rare = ITEMS[kind]
    tree = {
        "columns": {"basket": {"role": "quasi", "type": "set", **column}},
        "privacy": privacy,
        "algorithm": {"name": "sets", "seed": 1},
        "attack": {"trials": 20},
    }
    every = [
        files(sf.Plan.parse(tree), pl.DataFrame({"basket": [*baskets, one]}), tmp_path / str(n))
        for n, one in enumerate(rare)
    ]
    assert every[0][0]["data.csv"] == every[1][0]["data.csv"]
    assert every[0][0] == every[1][0]
    longest = max(len(str(one).split()) for one in pl.read_csv(tmp_path / "0" / "data.csv")["basket"])
    manifest = json.loads(every[0][0]["manifest.json"])
    names = [one["attack"] for one in manifest["attacks"]] + [*manifest["attacks_not_made"]]
    assert not any(f"{n} known" in name for name in names for n in range(longest + 1, 9))


def test_visits_that_are_left_out_of_paths(tmp_path: Path):
    """Two people were alone somewhere at some time: which place that was changes nothing."""
    tree = {
        "columns": {
            "path": {"role": "quasi", "type": "trajectory", "separator": " "},
            "ill": {"role": "sensitive"},
        },
        "privacy": {"lkc": {"l": 2, "k": 3, "c": 1.0}},
        "algorithm": {"name": "trajectory", "seed": 1},
        "attack": {"trials": 20},
    }
    paths = ["home@1 work@2", "home@1 shop@3", "home@1 work@2 shop@3", "work@2 shop@3"] * 4
    every = []
    for n, rare in enumerate(("clinic@5", "court@5 clinic@6")):
        frame = pl.DataFrame({"path": [*paths, f"home@1 {rare}"], "ill": [*["flu", "cold"] * 8, "flu"]})
        every.append(files(sf.Plan.parse(tree), frame, tmp_path / str(n))[0])
    assert b"clinic" not in every[0]["data.csv"]
    assert every[0] == every[1]


MISSING: dict[str, dict[str, Any]] = {
    "table": {"privacy": {"k_anonymity": 3}},
    "tree": {"privacy": {"k_anonymity": 3}, "tree": {}},
}


@pytest.mark.parametrize("kind", MISSING)
def test_rows_that_are_dropped_because_something_is_missing(kind: str, tmp_path: Path):
    """What else such a row says changes nothing, not even the types of its columns."""
    roles = {"x": "quasi", "sex": "quasi", "ill": "target" if kind == "tree" else "sensitive"}
    tree = {
        "input": {"on_missing": "drop", "missing": ["?"]},
        "columns": {
            name: {"role": role, **({"hierarchy": FLAT} if role == "quasi" and kind == "table" else {})}
            for name, role in roles.items()
        },
        "algorithm": {"seed": 1},
        "attack": {"trials": 20},
        **MISSING[kind],
    }
    every = []
    for n, dropped in enumerate((("100", "?", "flu"), ("a word", "?", "a disease that nobody has"))):
        frame = pl.concat([table(["1", "2", "3", "4"], "1")[:-1], pl.DataFrame([dropped], COLUMNS, orient="row")])
        every.append(files(sf.Plan.parse(tree), frame, tmp_path / str(n))[0])
    assert every[0] == every[1]


def test_people_who_are_left_out_of_linked_tables(tmp_path: Path):
    """Somebody of a sex that nobody else has is left out of all tables; whatever their age is, nothing changes.

    Pseudonyms are drawn anew for every release, so labels and all that is stated about them are compared.
    """
    every = []
    for n, age in enumerate(("99", "2")):
        (tmp_path / str(n)).mkdir()
        at = laid_out(tmp_path / str(n), linked=LINKED.replace("max_suppressed = 0.3", "max_suppressed = 0.5"))
        patients = at.parent / "patients.csv"
        patients.write_text(patients.read_text() + f"odd,{age},x\n")
        made = release_linked(LinkedPlan.load(at))
        assert made.suppressed
        assert "x" not in made.tables["patients"].frame["sex"].to_list()
        labels = {
            name: sorted(one.frame.select(pl.exclude("id", "visit", "patient")).rows())
            for name, one in made.tables.items()
        }
        stated = {name: (one.stated_columns, one.public_utility) for name, one in made.tables.items()}
        every.append((made.people, made.suppressed, labels, stated))
    assert every[0] == every[1]


def test_answers_of_people_who_left_one_out(tmp_path: Path):
    """Collected answers: the other answers of somebody who is dropped change nothing."""
    smokes = KeptCategory.warner("smokes", ("yes", "no"), truth="3/4")
    drinks = KeptCategory.within("drinks", ("never", "seldom", "often"), epsilon="1.5")
    (tmp_path / "survey.json").write_text(Specification(questions=(smokes, drinks)).write())
    tree = {
        "input": {"on_missing": "drop", "missing": ["?"]},
        "collection": {"spec": "survey.json"},
        "columns": {"region": {"role": "keep"}},
        "algorithm": {"seed": 1},
    }
    rows = [(("yes", "no")[n % 3 > 0], ("never", "seldom", "often")[n % 3], "AB"[n % 2]) for n in range(60)]
    every = []
    for n, dropped in enumerate((("?", "often", "A"), ("?", "never", "nowhere else"))):
        frame = pl.DataFrame([*rows, dropped], schema=("smokes", "drinks", "region"), orient="row")
        every.append(files(sf.Plan.parse(tree, folder=tmp_path), frame, tmp_path / str(n))[0])
    assert every[0] == every[1]
