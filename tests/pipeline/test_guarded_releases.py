"""Releases with a column that is a quasi-identifier and sensitive: from the plan to the written file and the attack."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.bundles.manifest.document import dump, seal
from sfumato.core.errors import Infeasible, PlanError
from sfumato.pipeline.plan.columns import ColumnPlan
from tests.brute import guarded as brute
from tests.weights import examples

ILLS = {"lung": ["flu", "asthma", "tb"], "gut": ["ulcer", "colic"], "skin": ["burn"]}
PATHS = {ill: (group,) for group, ills in ILLS.items() for ill in ills}
AREAS = {"north": ["1", "2"], "south": ["3", "4"]}
BOTH = ["quasi", "sensitive"]
COLUMNS: dict[str, Any] = {
    "area": {"role": "quasi", "type": "text", "hierarchy": {"tree": AREAS}},
    "ill": {"role": BOTH, "hierarchy": {"tree": ILLS}},
}
SIMPLE = {"l_diversity": {"kind": "simple", "l": 3}}
SEARCHES = ("optimal", "samarati", "incognito", "datafly", "greedy", "auto")


def plan(privacy: dict[str, Any], columns: dict[str, Any] | None = None, **more: Any) -> sf.Plan:
    tree = {
        "columns": COLUMNS if columns is None else columns,
        "privacy": privacy,
        "utility": {"metric": "height"},
        "algorithm": {"name": "optimal", "seed": 1},
        "attack": {"run": False},
    }
    return sf.Plan.parse({**tree, **more})


def patients(rows: int = 60) -> pl.DataFrame:
    """In area 1 most people have flu and in area 2 most are burnt, elsewhere all illnesses are about as frequent."""
    ills, most = list(PATHS), {"1": "flu", "2": "burn"}
    area = [str(1 + n % 4) for n in range(rows)]
    ill = [most[a] if a in most and n % 3 else ills[n // 4 % 6] for n, a in enumerate(area)]
    return pl.DataFrame({"area": area, "ill": ill})


def elsewhere() -> pl.DataFrame:
    """The people of the other areas."""
    return patients(120).filter(pl.col("area") != "2")


def surest(rows: pl.DataFrame) -> float:
    """The surest inference of an illness from the area, by literal counting of the released rows."""
    found = brute.worst(rows.select("area", "ill").to_dicts(), ["area"], "ill", PATHS, brute.simple, max)
    return max(found.values())


@pytest.mark.parametrize("suppressed", ["remove", "star"])
@pytest.mark.parametrize("algorithm", SEARCHES)
def test_nobody_infers_the_column_from_the_others(algorithm: str, suppressed: str, tmp_path: Path):
    chosen = {"name": algorithm, "max_suppressed": 0.2, "suppressed": suppressed}
    made = sf.release(plan({"k_anonymity": 2, **SIMPLE}, algorithm=chosen), patients())
    assert made.write(tmp_path / "b").holds
    rows = pl.read_csv(tmp_path / "b" / "data.csv", infer_schema=False)
    assert surest(rows) <= 1 / 3 + 1e-12
    assert min(Counter(rows.select("area", "ill").iter_rows()).values()) >= 2
    told = json.loads((tmp_path / "b" / "manifest.json").read_text())["claims"][1]
    assert told["reached"] == pytest.approx(surest(rows), abs=1e-12)
    assert told["parameters"]["guarded"] == {"column": "ill", "paths": {v: list(p) for v, p in PATHS.items()}}


def test_a_plain_quasi_identifier_is_inferred():
    """The same release without the second role gives the illness away: what the role adds can be seen."""
    columns = {**COLUMNS, "ill": {**COLUMNS["ill"], "role": "quasi"}}
    assert surest(sf.release(plan({"k_anonymity": 2}, columns), patients()).rows) > 0.6


ROWS = st.lists(st.tuples(st.sampled_from("1234"), st.sampled_from([*PATHS, None])), min_size=1, max_size=10)


@pytest.mark.parametrize("algorithm", ["optimal", "samarati", "incognito"])
@given(rows=ROWS, l=st.sampled_from([1, 1.5, 2, 3]), k=st.integers(1, 2))
@examples(60)
def test_the_best_node_of_all_is_found(algorithm: str, rows: Any, l: float, k: int):
    frame = pl.DataFrame(rows, schema={"area": pl.String, "ill": pl.String}, orient="row")
    fit = [sum(node) for node in product(range(3), range(3)) if _fits(rows, node, l, k)]
    asked = plan({"k_anonymity": k, "l_diversity": {"kind": "simple", "l": l}}, algorithm={"name": algorithm})
    if not fit:
        with pytest.raises(Infeasible):
            sf.release(asked, frame)
        return
    assert sum(sf.release(asked, frame).outcome.levels or ()) == min(fit)


def _fits(rows: Any, node: tuple[int, int], l: float, k: int) -> bool:
    over = {value: (value, group, "*") for group, values in AREAS.items() for value in values}
    above = {value: (value, *PATHS[value], "*") for value in PATHS} | {None: (None, None, "*")}
    shown = [{"area": over[area][node[0]], "ill": above[ill][node[1]]} for area, ill in rows]
    found = brute.worst(shown, ["area"], "ill", PATHS, brute.simple, max)
    sizes = Counter((row["area"], row["ill"]) for row in shown)
    return max(found.values()) <= 1 / l + 1e-12 and min(sizes.values()) >= k


@pytest.mark.parametrize(
    "privacy",
    [
        {"l_diversity": [{"kind": "distinct", "l": 3}, {"kind": "entropy", "l": 2.5}]},
        {"l_diversity": {"kind": "recursive", "c": 2, "l": 2}},
        {"t_closeness": {"t": 0.3, "distance": "emd-hierarchical"}},
        {"t_closeness": {"t": 0.3, "distance": "emd-ordered", "order": [*PATHS, ""]}},
        {"t_closeness": {"t": 0.3}, **SIMPLE},
        {"confidence": [{"value": "flu", "limit": 0.3}, {"quasi": ["area"], "value": "burn", "limit": 0.5}]},
    ],
)
def test_every_model_of_inference_is_written_and_verified(privacy: dict[str, Any], tmp_path: Path):
    rows = patients().with_row_index().with_columns(ill=pl.when(pl.col("index") == 7).then(None).otherwise("ill"))
    made = sf.release(plan({"k_anonymity": 1, **privacy}), rows.drop("index"))
    assert made.write(tmp_path / "b").holds
    assert all("guarded" in claim.parameters for claim in made.claims[1:])


def test_a_sensitive_column_beside_is_judged_as_ever(tmp_path: Path):
    rows = patients().with_columns(pay=pl.Series(["low", "high", "mid"] * 20))
    made = sf.release(plan(SIMPLE, {**COLUMNS, "pay": {"role": "sensitive"}}), rows)
    assert made.write(tmp_path / "b").holds
    assert [claim.parameters["column"] for claim in made.claims] == ["pay", "ill"]
    assert ["guarded" in claim.parameters for claim in made.claims] == [False, True]


@pytest.mark.parametrize("algorithm", ["optimal", "samarati", "greedy"])
def test_people_are_counted(algorithm: str, tmp_path: Path):
    rows = patients().with_columns(who=pl.Series([str(n % 40) for n in range(60)]))
    columns = {"who": {"role": "identifier"}, **COLUMNS}
    asked = plan({"k_anonymity": 2, **SIMPLE}, columns, input={"unit": "who"}, algorithm={"name": algorithm})
    made = sf.release(asked, rows)
    assert made.write(tmp_path / "b").holds
    shown = made.rows.unique(["who", "area", "ill"])
    assert surest(shown) <= 1 / 3 + 1e-12
    assert next(c for c in made.claims if c.model == "simple-l-diversity").reached == pytest.approx(surest(shown))


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("guarded") / "bundle"
    made = sf.release(plan({"k_anonymity": 2, **SIMPLE}, attack={"run": True}), elsewhere())
    assert made.outcome.levels == (0, 1)
    made.write(place)
    return place


def failing(bundle: Path, folder: Path, change: Callable[[dict[str, Any]], object]) -> set[str]:
    """The checks that fail after a change, with a seal that holds."""
    place = folder / "copy"
    place.mkdir()
    for file in bundle.iterdir():
        (place / file.name).write_bytes(file.read_bytes())
    content = json.loads((place / "manifest.json").read_text())
    change(content)
    (place / "manifest.json").write_text(dump(seal(content)))
    return {check.what for check in sf.verify(place).checks if not check.holds}


def _tree(content: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = content["claims"][1]["parameters"]["guarded"]["paths"]
    return found


@pytest.mark.parametrize(
    ("change", "caught"),
    [
        (lambda c: _tree(c).update({"cold": ["lung"], "cough": ["lung"]}), "tree of ill"),
        (lambda c: _tree(c).update({v: ["other"] for v in _tree(c)}), "what the manifest describes"),
        (lambda c: c["claims"][1]["parameters"].pop("guarded"), "what the manifest describes"),
        (lambda c: c["claims"].pop(), "what the manifest describes"),
        (lambda c: c["data"]["columns"][1].pop("guarded"), "roles of the columns"),
        (lambda c: c["plan"]["columns"]["ill"].update(role="quasi"), "roles of the columns"),
        (lambda c: c["claims"][1]["parameters"].update(l=2.0), "claims are what the plan asks for"),
    ],
)
def test_forged_bundles_are_caught(bundle: Path, tmp_path: Path, change: Any, caught: str):
    assert caught in failing(bundle, tmp_path, change)


def test_nothing_changed_is_nothing_caught(bundle: Path, tmp_path: Path):
    assert not failing(bundle, tmp_path, lambda content: None)


def test_the_report_names_both_roles(bundle: Path):
    assert "quasi-identifier and sensitive" in (bundle / "report.html").read_text()
    assert "agree in the other quasi-identifiers" in (bundle / "report.html").read_text()


TITLE = "homogeneity of ill by the others"


def test_whoever_knows_the_others_is_tried_and_bound_by_the_claim(bundle: Path):
    """The attacker names a value at random among the likeliest ones: right as often as the surest inference allows."""
    found = next(one for one in json.loads((bundle / "manifest.json").read_text())["attacks"] if one["attack"] == TITLE)
    assert found["limit"]["value"] == pytest.approx(1 / 3)
    assert found["target"]["rate"] <= 1 / 3
    assert found["knows"].startswith("a person's quasi-identifiers but ill")
    again = next(
        one for one in sf.attack(bundle, elsewhere(), seed=1, plan=plan(SIMPLE)).findings if one.attack == TITLE
    )
    assert again.rate.value == pytest.approx(found["target"]["rate"])


def test_the_attack_finds_what_a_plain_release_gives_away():
    made = sf.release(plan({"k_anonymity": 2}, attack={"run": True}), patients(200))
    found = next(one for one in made.audit.findings if one.attack == TITLE)
    assert found.limit is None
    assert found.worst > 0.6
    assert found.rate.value > found.naive.value


def test_toml_and_python_say_the_same():
    tree = {"tree": ILLS}
    for roles in (BOTH, tuple(BOTH), ["sensitive", "quasi"]):
        made = ColumnPlan(role=roles, hierarchy=tree)  # type: ignore[arg-type]
        assert (made.role, made.guarded, made.public()["role"]) == ("quasi", True, BOTH)
    assert plan(SIMPLE).columns["ill"] == ColumnPlan(role=tuple(BOTH), hierarchy=tree)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("column", "says"),
    [
        ({"role": ["quasi", "keep"]}, "cannot be one column's roles"),
        ({"role": ["quasi"]}, "cannot be one column's roles"),
        ({"role": []}, "cannot be one column's roles"),
        ({"role": BOTH}, "needs a declared tree"),
        ({"role": BOTH, "hierarchy": {"kind": "flat"}}, "needs a declared tree"),
        ({"role": BOTH, "hierarchy": {"kind": "intervals", "widths": [5], "low": 0, "high": 9}}, "needs a declared"),
    ],
)
def test_other_roles_and_hierarchies_are_refused(column: dict[str, Any], says: str):
    with pytest.raises(PlanError, match=says):
        plan({"k_anonymity": 2}, {**COLUMNS, "ill": column})


@pytest.mark.parametrize(
    "privacy",
    [
        {"alpha_k": {"alpha": 0.5, "k": 2}},
        {"lkc": {"l": 1, "k": 2, "c": 0.5}},
        {"e_m": {"e": 1, "m": 2}},
    ],
)
def test_models_that_count_k_besides_are_refused(privacy: dict[str, Any]):
    with pytest.raises(PlanError, match=r"cannot be asked of 'ill'.*distinct-l-diversity"):
        plan(privacy)


@pytest.mark.parametrize("algorithm", ["mondrian", "local", "top-down", "bottom-up", "k-optimize", "cell-suppression"])
def test_searches_that_do_not_judge_labels_are_refused(algorithm: str):
    with pytest.raises(PlanError, match="use optimal"):
        sf.release(plan(SIMPLE, algorithm={"name": algorithm}), patients())


def test_other_kinds_of_release_are_refused():
    with pytest.raises(PlanError, match="a private release has none"):
        plan({"epsilon": 1.0})
    columns = {**COLUMNS, "items": {"role": "quasi", "type": "set"}}
    with pytest.raises(PlanError, match="paths or sets has none"):
        plan({"km": {"k": 2, "m": 1}}, columns, algorithm={"name": "sets"}, utility={})


def test_a_tree_in_a_file_and_groups_of_numbers_are_declared_too(tmp_path: Path):
    lines = [f"{ill},{group}" for ill, (group,) in PATHS.items()]
    (tmp_path / "ill.csv").write_text("\n".join(lines))
    columns = {**COLUMNS, "ill": {"role": BOTH, "hierarchy": {"file": str(tmp_path / "ill.csv")}}}
    assert sf.release(plan(SIMPLE, columns), patients()).write(tmp_path / "b").holds


def test_a_label_of_two_meanings_is_refused():
    columns = {**COLUMNS, "ill": {"role": BOTH, "hierarchy": {"tree": {**ILLS, "gut": ["gut", "ulcer", "colic"]}}}}
    with pytest.raises(PlanError, match="'gut' for different sets"):
        sf.release(plan(SIMPLE, columns), patients())
