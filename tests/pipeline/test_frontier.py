"""The frontier: points, Pareto sets, resuming, refusals, time limits, and releases that are not what they say."""

from __future__ import annotations

import copy
import csv
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from msgspec import structs

import sfumato as sf
from sfumato.core.run_context import Work
from sfumato.pipeline.catalog import catalog as catalog_room
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.catalog.parts import AlgorithmPart, Parts
from sfumato.pipeline.frontier import processes as frontier_run
from sfumato.pipeline.frontier.frontier import Frontier, pick, recorded
from sfumato.pipeline.frontier.points import default_algorithms, points, tree_of
from tests.pipeline.bad_algorithms import Tuned, crashing, lying, misplacing

TREE: dict[str, Any] = {
    "input": {"path": "census.csv"},
    "columns": {
        "sex": {"role": "quasi", "hierarchy": {"bundled": "census/sex"}},
        "race": {"role": "quasi", "hierarchy": {"bundled": "census/race"}},
        "education": {"role": "quasi", "hierarchy": {"file": "education.csv"}},
        "occupation": {"role": "sensitive"},
        "income": {"role": "target"},
    },
    "privacy": {"k_anonymity": 4},
    "algorithm": {"max_suppressed": 0.1},
    "frontier": {
        "algorithms": ["optimal", "mondrian"],
        "jobs": 1,
        "grid": {"privacy.k_anonymity": [2, 10]},
    },
}


@pytest.fixture(scope="module")
def census() -> pl.DataFrame:
    return sf.datasets.census(300, seed=5)


@pytest.fixture
def with_page() -> None:
    """For tests that read the page; for the others it is not drawn."""


@pytest.fixture(autouse=True)
def _drawn(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "with_page" not in request.fixturenames:
        monkeypatch.setattr("sfumato.reports.frontier.render", lambda facts: "")


@pytest.fixture
def place(tmp_path: Path, census: pl.DataFrame) -> Path:
    census.write_csv(tmp_path / "census.csv")
    schools = sorted(census["education"].unique())
    lines = [f"{name};{'low' if i < 8 else 'high'}" for i, name in enumerate(schools)]
    (tmp_path / "education.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def plan(place: Path, **changes: Any) -> sf.Plan:
    tree = copy.deepcopy(TREE)
    for key, value in changes.items():
        tree.setdefault(key, {}).update(value)
    return sf.Plan.parse(tree, folder=place)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The tasks that were computed, in this process."""
    seen: list[Any] = []
    real = frontier_run.compute

    def counting(task: Any) -> Any:
        seen.append(task)
        return real(task)

    monkeypatch.setattr(frontier_run, "compute", counting)
    return seen


def statuses(found: Frontier) -> list[str]:
    return [found.records[point.number]["status"] for point in found.points]


def figures(found: Frontier) -> list[dict[str, Any]]:
    return [{k: v for k, v in found.records[p.number].items() if k not in ("seconds", "name")} for p in found.points]


# Points


def test_points_are_the_product_in_a_stable_order(place: Path):
    table = {"name": "datafly", "max_suppressed": 0.2}
    grid = {"privacy.k_anonymity": [2, 5], "algorithm.max_suppressed": [0.0, 0.04]}
    found = points(plan(place, frontier={"algorithms": ["optimal", table], "grid": grid}))
    assert [p.number for p in found] == list(range(1, 9))
    assert [p.series for p in found[::4]] == ["optimal", "datafly (max_suppressed = 0.2)"]
    told = [(p.tree["algorithm"]["name"], p.tree["privacy"]["k_anonymity"]) for p in found]
    assert told == [(a, k) for a in ("optimal", "datafly") for k in (2, 5) for _ in range(2)]
    assert [p.tree["algorithm"]["max_suppressed"] for p in found[:4]] == [0.0, 0.04, 0.0, 0.04]
    more = points(plan(place, frontier={"algorithms": ["optimal", table], "grid": grid, "seconds": 3}))
    assert [p.tree for p in more] == [p.tree for p in found]


def test_what_is_not_said_is_chosen_by_the_plan(place: Path):
    bare = replace(plan(place), frontier=sf.Plan.parse({**TREE, "frontier": {}}).frontier)
    assert [dict(a) for a in default_algorithms(bare)] == [{"name": n} for n in ("auto", "mondrian", "datafly")]
    assert [p.parameters["privacy.k_anonymity"] for p in points(bare)[:5]] == [2, 4, 5, 10, 25]
    own = replace(bare, algorithm=structs.replace(bare.algorithm, name="optimal"))
    assert [a["name"] for a in default_algorithms(own)] == ["optimal", "mondrian", "datafly"]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"input": {"path": "a.csv", "missing": ["?"], "names": ["a", "b"], "trim": True, "delimiter": ";"}},
        {"privacy": {"l_diversity": {"kind": "entropy", "l": 2}, "reading": "value"}, "output": {"format": "parquet"}},
        {"algorithm": {"name": "greedy", "seconds": 2, "seed": 3, "suppressed": "star", "exempt_suppressed": True}},
        {"columns": {"id": {"role": "identifier", "pseudonym": {"key_file": "k"}}, "z": {"role": "drop"}}},
        {"columns": {"age": {"role": "quasi", "type": "integer", "hierarchy": {"kind": "flat"}}}},
    ],
)
def test_a_plan_and_its_tree_are_the_same(more: dict[str, Any], tmp_path: Path):
    made = plan(tmp_path, **more)
    assert replace(sf.Plan.parse(tree_of(made), folder=tmp_path), frontier=made.frontier) == made


@pytest.mark.parametrize(
    ("frontier", "message"),
    [
        ({"algorithm": ["optimal"]}, r"frontier.algorithm: unknown key; did you mean 'algorithms'"),
        ({"algorithms": "optimal"}, r"frontier.algorithms must be a list of names or tables"),
        ({"algorithms": ["mondian"]}, r"frontier.algorithms\[0\]: .*'mondian' is not known; did you mean 'mondrian'"),
        ({"algorithms": [{"name": "optimal", "outpt": 1}]}, r"frontier.algorithms\[0\]: algorithm.outpt: unknown key"),
        ({"algorithms": [{"output": "boxes"}]}, r"frontier.algorithms\[0\].name is missing"),
        ({"algorithms": ["optimal", "optimal"]}, r"'optimal' is listed twice"),
        ({"metrics": ["los"]}, r"frontier.metrics: 'los' is not known; did you mean 'loss'"),
        ({"seconds": 0}, r"frontier.seconds must be above 0"),
        ({"jobs": 0}, r"frontier.jobs must be at least 1"),
        ({"jobs": "two"}, r"frontier.jobs must be a whole number"),
        ({"grid": {"privacy.k_anonymity": 5}}, r"frontier.grid.privacy.k_anonymity must be a list of values"),
        ({"grid": {"privacy.k_anonymity": []}}, r"must not be empty"),
        ({"grid": {"privacy.k_anonymity": [2, 2]}}, r"2 is listed twice"),
        ({"grid": {"privacy.k_anonymity": [2, 0]}}, r"frontier.grid: privacy.k_anonymity: k must be at least 1"),
        ({"grid": {"privacy.k_anonimity": [2]}}, r"frontier.grid: privacy.k_anonimity: unknown key; did you mean"),
        ({"grid": {"privacy.k_anonymity.k": [2]}}, r"k_anonymity is not a table"),
        ({"grid": {"privacy": {"l_diversity": [{"l": 2, "column": "sex"}]}}}, r"'sex' is not a sensitive column"),
        ({"grid": {"algorithm.max_suppressed": [2.0]}}, r"frontier.grid: algorithm.max_suppressed must be a share"),
        ({"grid": {"algorithm.outpt": ["x"]}}, r"frontier.grid: algorithm.outpt: unknown key"),
        ({"grid": {"algorithm.name": ["optimal"]}}, r"algorithm.name cannot vary: name algorithms in"),
        ({"grid": {"input.path": ["a.csv"]}}, r"input.path cannot vary: all points are made from the same rows"),
        ({"grid": {"utility.metric": ["los"]}}, r"frontier.grid: utility.metric: 'los' is not known"),
        ({"grid": {"columns.sex.role": ["qasi"]}}, r"frontier.grid: columns.sex.role must be one of"),
        ({"grid": {"columns.sex.hierarchy.bundled": ["no"]}}, r"frontier.grid: "),
        ({"grid": {"privacy.k_anonymity": list(range(1, 9000))}}, r"17,998 points are more than 10,000"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_path_before_any_work(
    place: Path, frontier: Any, message: str, computed
):
    with pytest.raises(sf.SfumatoError, match=message) as refusal:
        sf.frontier(plan(place, frontier=frontier), folder=place / "out")
    assert refusal.value.exit_code == 2
    assert not computed
    assert not (place / "out").exists()


def test_accuracy_as_an_axis_needs_a_target(place: Path):
    tree = {"columns": {"income": {"role": "drop"}}, "frontier": {"metrics": ["accuracy"]}}
    with pytest.raises(sf.PlanError, match="accuracy needs a column with role = 'target'"):
        sf.frontier(plan(place, **tree), folder=place / "out")
    tree["frontier"] = {"metrics": ["classification"]}
    with pytest.raises(sf.PlanError, match="classification needs a column with role = 'target'"):
        sf.frontier(plan(place, **tree), folder=place / "out")


def test_a_table_that_does_not_fit_is_refused_once(place: Path, computed):
    with pytest.raises(sf.DataError, match="no column 'wage'"):
        sf.frontier(plan(place, columns={"wage": {"role": "keep"}}), folder=place / "out")
    with pytest.raises(sf.DataError, match="no such file"):
        sf.frontier(plan(place, input={"path": "none.csv"}), folder=place / "out")
    assert not computed


# Pareto


def test_every_pair_of_axes_has_its_own_set(place: Path):
    found = sf.frontier(plan(place, frontier={"metrics": ["precision", "loss"]}), folder=place / "out")
    assert [axis.name for axis in found.utility] == ["precision", "loss", "accuracy"]
    assert [axis.name for axis in found.privacy] == ["highest risk", "average risk", "smallest class"]
    fronts = found.fronts()
    assert len(fronts) == 9
    assert fronts["highest risk", "precision"] == found.pareto
    for (p, u), kept in fronts.items():
        privacy = next(axis for axis in found.privacy if axis.name == p)
        utility = next(axis for axis in found.utility if axis.name == u)
        sides = [-1 if axis.better == "higher" else 1 for axis in (privacy, utility)]
        at = {n: (privacy.value(r) * sides[0], utility.value(r) * sides[1]) for n, r in found.records.items()}
        best = [
            n for n, (a, b) in at.items() if not any(c <= a and d <= b and (c, d) != (a, b) for c, d in at.values())
        ]
        assert list(kept) == best


# Running


def test_points_measure_what_releases_measure(place: Path):
    found = sf.frontier(plan(place), folder=place / "out")
    assert statuses(found) == ["verified"] * 4
    assert found.exit_code == 0
    for point in found.points:
        made, record = sf.release(found.plan(point.number)), found.records[point.number]
        assert record["utility"] == dict(made.utility)
        assert record["risk"] == made.risk
        assert record["suppressed_rows"] == made.suppressed_rows
        assert record["classes"] == made.classes.count
        assert record["claims"][0]["reached"] == min(record["smallest_class"].values())
        assert found.original["accuracy"]["majority"] <= record["accuracy"] + 0.2 <= 1.2


def test_a_second_run_computes_nothing_and_changes_are_seen(place: Path, census: pl.DataFrame, computed):
    out = place / "out"
    first = sf.frontier(plan(place), folder=out)
    assert len(computed) == 4
    again = sf.frontier(plan(place), folder=out)
    assert len(computed) == 4
    assert [again.records[n] for n in range(1, 5)] == [
        {"name": again.records[n]["name"], **first.records[n]} for n in range(1, 5)
    ]

    (out / "points" / f"{again.records[3]['name']}.json").unlink()
    sf.frontier(plan(place), folder=out)
    assert len(computed) == 5
    (out / "points" / f"{again.records[2]['name']}.json").write_text("{half")
    sf.frontier(plan(place), folder=out)
    assert len(computed) == 6

    more = {"grid": {"privacy.k_anonymity": [2, 5, 10]}}
    sf.frontier(plan(place, frontier=more), folder=out)
    assert [task.tree["privacy"]["k_anonymity"] for task in computed[6:]] == [5, 5]
    sf.frontier(plan(place, algorithm={"max_suppressed": 0.0}), folder=out)
    assert len(computed) == 12
    (place / "education.csv").write_text((place / "education.csv").read_text().replace("low", "lower"))
    sf.frontier(plan(place), folder=out)
    assert len(computed) == 16
    census.head(280).write_csv(place / "census.csv")
    fresh = sf.frontier(plan(place), folder=out)
    assert len(computed) == 20
    assert fresh.original["rows"] == 280


@pytest.mark.slow
def test_processes_give_what_one_process_gives(place: Path):
    one = sf.frontier(plan(place), folder=place / "one")
    two = sf.frontier(plan(place, frontier={"jobs": 2}), folder=place / "two")
    assert figures(one) == figures(two)


def test_a_frame_is_compared_like_its_file(place: Path, census: pl.DataFrame):
    one = sf.frontier(plan(place), folder=place / "one")
    two = sf.frontier(plan(place, input={"path": None}), census.to_pandas(), folder=place / "two")
    assert figures(one) == figures(two)
    assert sf.release(two.plan(2), census).utility == two.records[2]["utility"]


def test_refused_and_infeasible_points_are_listed_and_stop_nothing(place: Path, with_page):
    grid = {
        "privacy.k_anonymity": [2, 900],
        "privacy.t_closeness": [0.5],
        "privacy.confidence": [[{"quasi": ["sex"], "value": "Sales", "limit": 0.9}]],
    }
    found = sf.frontier(plan(place, frontier={"grid": grid}), folder=place / "out")
    assert statuses(found) == ["verified", "infeasible", "refused", "refused"]
    assert "out of reach" in found.records[2]["reason"]
    assert "mondrian" in found.records[3]["reason"]
    assert found.exit_code == 0
    page = (place / "out/frontier.html").read_text()
    assert "1 verified, 1 infeasible, 2 refused" in page
    assert "out of reach" in page
    names = [axis.name for axis in found.privacy]
    assert names == [
        "highest risk",
        "average risk",
        "smallest class",
        "t-closeness of occupation",
        "confidence-bounding",
    ]


def test_an_option_that_only_some_algorithms_have_refuses_the_others_only(place: Path, parts):
    found = sf.frontier(
        plan(place, frontier={"algorithms": ["optimal", "tuned"], "grid": {"algorithm.turn": [1]}}),
        folder=place / "out",
    )
    assert statuses(found) == ["refused", "verified"]
    assert "algorithm.turn: unknown key" in found.records[1]["reason"]


# Algorithms that do not keep their word


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A plugin with these algorithms."""

    class Entry:
        name = "plugin"

        @staticmethod
        def load() -> Parts:
            every = {"lying": lying, "misplacing": misplacing, "crashing": crashing, "tuned": Tuned}
            return Parts(algorithms=tuple(AlgorithmPart(name=name, run=run) for name, run in every.items()))

    monkeypatch.setattr(catalog_room, "entry_points", lambda group: [Entry])
    catalog.cache_clear()
    yield
    catalog.cache_clear()


def test_what_does_not_hold_is_never_called_verified(place: Path, parts, computed):
    named = {"algorithms": ["lying", "misplacing", "crashing", "optimal"], "grid": {"privacy.k_anonymity": [5]}}
    found = sf.frontier(plan(place, frontier=named), folder=place / "out")
    assert statuses(found) == ["refuted", "refuted", "failed", "verified"]
    assert [found.records[n]["verified"] for n in range(1, 5)] == [False, False, False, True]
    assert "does not meet k-anonymity" in found.records[1]["reason"]
    assert "recoding of" in found.records[2]["reason"]
    assert found.records[3]["reason"] == "ZeroDivisionError: of its own"
    assert found.exit_code == 1
    assert found.pareto == (4,)
    table = list(csv.DictReader((place / "out/points.csv").read_text().splitlines()))
    assert [line["verified"] for line in table] == ["False", "False", "False", "True"]
    sf.frontier(plan(place, frontier=named), folder=place / "out")
    assert [task.tree["algorithm"]["name"] for task in computed[4:]] == ["crashing"]


def test_exit_codes_say_what_there_is(place: Path, parts):
    def code(**named: Any) -> int:
        return sf.frontier(plan(place, frontier=named), folder=place / "out").exit_code

    high = {"privacy.k_anonymity": [900]}
    assert code(algorithms=["optimal"], grid=high) == 3
    template = [{"quasi": ["sex"], "value": "Sales", "limit": 0.9}]
    refusing = {"privacy.k_anonymity": [2], "privacy.confidence": [template]}
    assert code(algorithms=["mondrian"], grid=refusing) == 2
    assert code(algorithms=["lying", "optimal"]) == 1


# Time


def test_points_that_were_not_begun_in_time_are_marked_and_made_later(place: Path, with_page, monkeypatch):
    work, real = Work(seconds=1000), frontier_run.compute

    def slow(task: Any) -> Any:
        work.seconds = 1e-9
        return real(task)

    monkeypatch.setattr(frontier_run, "compute", slow)
    found = sf.frontier(plan(place), folder=place / "out", work=work)
    assert statuses(found) == ["verified", "not run", "not run", "not run"]
    assert found.exit_code == 0
    assert "the time was up" in found.records[2]["reason"]
    assert "1 verified, 3 not run" in (place / "out/frontier.html").read_text()
    monkeypatch.setattr(frontier_run, "compute", real)
    assert statuses(sf.frontier(plan(place), folder=place / "out")) == ["verified"] * 4
    late = sf.frontier(plan(place, frontier={"seconds": 1e-9, "jobs": 2}), folder=place / "new")
    assert statuses(late) == ["not run"] * 4


def test_progress_has_one_step_per_point(place: Path):
    seen: list[tuple[str, int, int]] = []

    class Watch:
        def advance(self, stage: str, done: int, total: int) -> None:
            seen.append((stage, done, total))

    sf.frontier(plan(place), folder=place / "out", work=Work(progress=Watch()))
    assert seen[-1] == ("points", 4, 4)
    assert {stage for stage, _, _ in seen} == {"points"}


# Files


def test_a_picked_point_is_the_release_that_was_measured(place: Path):
    found = sf.frontier(plan(place), folder=place / "out")
    made, checked = pick(plan(place), 3, place / "bundle")
    assert checked.holds
    assert sf.verify(place / "bundle").holds
    manifest = json.loads((place / "bundle/manifest.json").read_text())
    measured = found.records[3]["utility"]
    assert manifest["utility"] == {name: measured[name] for name in manifest["utility"]}
    assert set(measured) - set(manifest["utility"]) == {"entropy"}  # measured against the original
    assert (place / "bundle/report.html").stat().st_size > 1000
    assert recorded(plan(place), 3, place / "out") == found.records[3] | {
        "name": recorded(plan(place), 3, place / "out")["name"]
    }
    assert recorded(plan(place), 3, place / "elsewhere") is None
    assert made.algorithm == "mondrian"
    with pytest.raises(sf.ParameterError, match="numbered from 1 to 4"):
        pick(plan(place), 5, place / "other")
    with pytest.raises(sf.BundleError, match="exists already"):
        pick(plan(place), 3, place / "bundle")
    pick(plan(place), 3, place / "bundle", force=True)


def test_folders_that_are_something_else_are_refused(place: Path):
    pick(plan(place), 1, place / "bundle")
    (place / "full").mkdir()
    (place / "full/letter.txt").write_text("x")
    for folder, message in (
        ("bundle", "is a release bundle"),
        ("full", "is no frontier"),
        ("census.csv", "is no folder"),
    ):
        with pytest.raises(sf.BundleError, match=message):
            sf.frontier(plan(place), folder=place / folder)


def test_the_page_needs_nothing_and_every_mark_leads_to_its_line(place: Path, with_page):
    grid = {"privacy.k_anonymity": [2, 5, 10, 900]}
    found = sf.frontier(plan(place, frontier={"grid": grid}), folder=place / "out")
    page = (place / "out/frontier.html").read_text()
    assert "FOR YOU ONLY" in page
    assert not re.search(r"<script|https?://|@import|url\(|xlink", page)
    assert "#0a0b0" not in page
    lines = re.findall(r'<tr[^>]* id="point-(\d+)"', page)
    assert sorted(map(int, lines)) == [p.number for p in found.points]
    marks = set(re.findall(r'<a href="#point-(\d+)" tabindex="-1"><title>', page))
    assert marks == {str(n) for n, r in found.records.items() if r["status"] == "verified"}
    assert page.count('class="ring"') == len(found.pareto)
    assert "original: " in page
    assert "majority: " in page
    table = list(csv.DictReader((place / "out/points.csv").read_text().splitlines()))
    assert [int(line["point"]) for line in table] == [p.number for p in found.points]
    assert {int(line["point"]) for line in table if line["pareto"] == "True"} == set(found.pareto)
    content = json.loads((place / "out/points.json").read_text())
    assert "not for publication" in content["note"]
    assert content["points"][0]["utility"] == found.records[1]["utility"]
    again = page
    sf.frontier(plan(place, frontier={"grid": grid}), folder=place / "out")
    assert (place / "out/frontier.html").read_text() == again


def test_no_value_of_the_data_is_in_any_file(place: Path, with_page, census: pl.DataFrame):
    sf.frontier(plan(place), folder=place / "out")
    words = {value for name in ("occupation", "education", "race") for value in census[name].unique()} - {"Other"}
    for path in (p for p in (place / "out").rglob("*") if p.is_file()):
        text = path.read_text()
        assert not [word for word in words if re.search(rf"\b{re.escape(word)}\b", text)], path


def test_nothing_to_show_is_said(place: Path, with_page):
    named = {"algorithms": ["optimal"], "grid": {"privacy.k_anonymity": [900]}}
    tree = plan(place, frontier=named, columns={"income": {"role": "drop"}})
    found = sf.frontier(tree, folder=place / "out")
    assert statuses(found) == ["infeasible"]
    assert found.pareto == ()
    page = (place / "out/frontier.html").read_text()
    assert "No point gave a verified release." in page
    assert [axis.name for axis in found.utility] == ["loss", "discernibility-ratio"]
