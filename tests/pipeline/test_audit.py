"""The audit end to end: what bundles say about attacks, what is refused, and what ``sfumato attack`` tells."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from msgspec import structs

import sfumato as sf
from sfumato.attacks.finding import Limit, Rate
from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import dump, seal
from sfumato.cli.main import main
from sfumato.core.errors import BundleError, ClaimRefuted, DataError, PlanError
from sfumato.pipeline.attack import attack as audit
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods.method import Audit

PLAN = """
[input]
path = "census.csv"
[columns.sex]
role = "quasi"
hierarchy = { bundled = "census/sex" }
[columns.race]
role = "quasi"
hierarchy = { bundled = "census/race" }
[columns.education]
role = "quasi"
hierarchy = { bundled = "census/education" }
[columns.age]
role = "quasi"
hierarchy = { bundled = "census/age" }
[columns.occupation]
role = "sensitive"
[privacy]
k_anonymity = 5
[algorithm]
name = "mondrian"
seed = 3
[attack]
trials = 200
"""
WHOLE, PART = "linkage by all published columns", "singling-out by quasi-identifiers"
"""Attacks that are made twice where more than quasi-identifiers is published."""
EXACT = ("definetti", "foreground", "minimality")
"""Attacks whose figures depend on exact values: a bundle leaves them to the steward."""
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["sfumato", *map(str, arguments)])
        code: Any = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        return code or 0, captured.out, " ".join(captured.err.split())

    return call


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, control people, a plan and its bundle."""
    place = tmp_path_factory.mktemp("audit")
    sf.datasets.census(900, seed=4).write_csv(place / "census.csv")
    sf.datasets.census(400, seed=5).write_csv(place / "others.csv")
    (place / "plan.toml").write_text(PLAN)
    assert sf.release(sf.Plan.load(place / "plan.toml")).write(place / "out").holds
    return place


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    shutil.copytree(made, tmp_path / "copy")
    return tmp_path / "copy"


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


def asked(place: Path, *overrides: str) -> sf.Plan:
    return sf.Plan.load(place / "plan.toml", overrides)


def names(folder: Path) -> list[str]:
    return [one["attack"] for one in manifest(folder)["attacks"]]


# What bundles carry


def test_a_bundle_tells_what_the_quick_attacks_found(made: Path):
    found = names(made / "out")
    quick = [name for name, part in catalog().attacking("table").items() if part.quick]
    assert found == [
        title
        for name in quick
        if name not in ("similarity", "proximity", "protected-values", *EXACT)
        for title in ((name, WHOLE) if name == "linkage" else (name,))
    ]
    for one in manifest(made / "out")["attacks"]:
        assert one["outcome"] in ("refuted", "not refuted", "inconclusive", "not tried")
        assert one["target"]["trials"] == 200
        assert one["target"]["low"] <= one["target"]["rate"] <= one["target"]["high"]
    linkage = manifest(made / "out")["attacks"][0]
    assert linkage["limit"] == {"value": 0.2, "why": "claim k-anonymity (k = 5)"}
    assert linkage["worst"] <= 0.2
    assert linkage["outcome"] != "refuted"
    for name in (*found, "definetti"):
        assert name in (made / "out" / "report.html").read_text()


def test_only_the_steward_sees_figures_that_depend_on_exact_values(place: Path):
    """A bundle says that the attack was made; it shows figures only where a claim was refuted and that was accepted."""
    made = sf.release(asked(place))
    assert {one.attack for one in made.audit.findings if one.exact} == {"definetti", "foreground"}
    told = manifest(place / "out")
    assert all(told["attacks_not_made"][name].startswith("made, and refutes no claim") for name in EXACT[:2])
    assert "definetti</strong>" in made.report(inside=True)
    assert "definetti</strong>" not in (place / "out" / "report.html").read_text()
    broken = replace(
        made.audit.findings[0], exact=True, limit=Limit(value=0.0, why="claim"), rate=Rate(hits=50, trials=50)
    )
    stated = Audit(findings=(broken,)).stated()
    assert [one["outcome"] for one in stated["attacks"]] == ["refuted"]


@pytest.mark.parametrize(
    ("override", "wanted"),
    [
        ("attack.run=false", []),
        ('attack.attacks=["homogeneity"]', ["homogeneity"]),
        ('attack.attacks=["definetti", "linkage"]', ["definetti", "linkage", WHOLE]),
    ],
)
def test_the_plan_says_which_attacks_are_made(place: Path, override: str, wanted: list[str]):
    assert sf.release(asked(place, override)).write(place / "new").holds
    assert names(place / "new") == [name for name in wanted if name not in EXACT]
    assert {*wanted} <= {*names(place / "new"), *manifest(place / "new")["attacks_not_made"]}


def test_all_means_every_attack_that_fits_and_the_others_say_why(place: Path):
    plan = asked(place, 'attack.attacks=["all"]', 'attack.control="others.csv"')
    found = sf.release(plan).audit  # type: ignore[union-attr]
    assert {*(one.attack for one in found.findings), *found.skipped} == {*catalog().attacking("table"), WHOLE, PART}
    assert "membership" in [one.attack for one in found.findings]
    assert all(found.skipped.values())


def test_people_who_are_not_in_the_table_are_attacked_too(place: Path):
    assert sf.release(asked(place, 'attack.control="others.csv"')).write(place / "new").holds
    control = {one["attack"]: one["control"] for one in manifest(place / "new")["attacks"]}
    assert control["homogeneity"]["trials"] == 200
    assert {one["control"] for one in manifest(place / "out")["attacks"]} == {None}


@pytest.mark.slow
def test_equal_seeds_give_equal_findings(place: Path):
    first, second = (sf.release(asked(place)).audit for _ in range(2))  # type: ignore[union-attr]
    assert first.to_json() == second.to_json()
    assert first.stated()["attacks"] == manifest(place / "out")["attacks"]
    plan = asked(place)

    def again(seed: int) -> list[dict[str, Any]]:
        return audit(place / "out", place / "census.csv", plan=plan, attacks=("all",), trials=100, seed=seed).to_json()

    once = again(1)
    assert again(1) == once
    assert again(2) != once


def test_a_release_and_its_bundle_are_the_same_to_an_attacker(place: Path):
    told = {one["attack"]: one for one in manifest(place / "out")["attacks"]}
    everybody = sf.release(asked(place, "attack.trials=900")).audit  # type: ignore[union-attr]
    bundle = audit(place / "out", place / "census.csv", plan=asked(place), trials=900, seed=1)
    for one, other in zip(everybody.findings, bundle.findings, strict=True):
        assert one.attack == other.attack
        assert one.attack in told or one.exact
    assert everybody.findings[0].rate == bundle.findings[0].rate


# What is refused


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ('attack.attacks=["homogenity"]', "attack.attacks: 'homogenity' is not known; did you mean 'homogeneity'"),
        ("attack.trials=19", "attack.trials must be at least 20, not 19"),
        ("attack.trails=50", "attack.trails: unknown key; did you mean 'trials'"),
        ("attack.max_risk=1.5", "attack.max_risk must be a share between 0 and 1"),
        ('attack.control="none.csv"', "none.csv"),
    ],
)
def test_plans_that_cannot_be_meant(place: Path, run: Run, override: str, message: str):
    code, out, err = run("release", place / "plan.toml", "--set", override, "-o", place / "new")
    assert (code, out) == (2, "")
    assert message in err
    assert not (place / "new").exists()


def test_max_risk_without_attacks_is_refused(place: Path):
    with pytest.raises(PlanError, match=r"attack.max_risk: without attacks nothing can be said"):
        asked(place, "attack.run=false", "attack.max_risk=0.5")


def test_a_release_that_gives_away_more_than_allowed_is_not_written(place: Path, run: Run):
    with pytest.raises(ClaimRefuted, match=r"attack.max_risk = 0: attack .* over guessing .*Nothing was written"):
        sf.release(asked(place, "attack.max_risk=0")).write(place / "new")
    code, _, err = run("release", place / "plan.toml", "--set", "attack.max_risk=0", "-o", place / "new")
    assert code == 1
    assert "attack.max_risk" in err
    assert not (place / "new").exists()
    assert sf.release(asked(place, "attack.max_risk=1")).write(place / "new").holds


# The command line


def attack(run: Run, place: Path, *more: object, plan: bool = True) -> tuple[int, Any, str]:
    """Attack the bundle by the command line; what it said as JSON."""
    with_plan = ("--plan", place / "plan.toml") if plan else ()
    told = run(
        *("attack", place / "out", "--original", place / "census.csv", *with_plan),
        *("--trials", 100, "--seed", 1, "--json", *more),
    )
    return told[0], json.loads(told[1]), told[2]


def test_one_object_of_json_tells_everything(made: Path, run: Run):
    code, told, err = attack(run, made, "--control", made / "others.csv")
    assert (code, err) == (0, "")
    every = {*catalog().attacking("table"), WHOLE, PART}
    assert {*(one["attack"] for one in told["attacks"]), *told["not_made"]} == every
    assert told["refuted"] == []
    assert all(one["control"] is not None for one in told["attacks"] if one["attack"] == "linkage")
    code, told, _ = attack(run, made, "--attacks", "linkage, homogeneity")
    assert [one["attack"] for one in told["attacks"]] == ["linkage", WHOLE, "homogeneity"]
    assert code == 0


def test_people_read_sentences(made: Path, run: Run):
    code, out, _ = run(
        "attack", made / "out", "--original", made / "census.csv", "--plan", made / "plan.toml", "--trials", 100
    )
    told = " ".join(out.split())
    assert code == 0
    assert "linkage: Somebody who knows" in told
    assert "not made: membership (there is no control file" in told


def test_raw_rows_that_claim_to_be_anonymous_are_refuted(place: Path, run: Run):
    """Resealed, so that only the rows themselves tell."""
    data, kept = place / "out" / "data.csv", pl.read_csv(place / "out" / "data.csv", infer_schema=False).columns
    pl.read_csv(place / "census.csv", infer_schema=False).select(kept).write_csv(data)
    forge(place, lambda content: content["data"].update(sha256=sha256(data)))
    code, told, _ = attack(run, place)
    assert code == 1
    assert "linkage" in told["refuted"]
    linkage = next(one for one in told["attacks"] if one["attack"] == "linkage")
    assert (linkage["outcome"], linkage["limit"]["value"]) == ("refuted", 0.2)
    assert linkage["target"]["low"] > 0.2
    assert not sf.verify(place / "out").holds


def test_labels_that_cannot_be_read_ask_for_the_plan(made: Path, run: Run):
    code, told, _ = attack(run, made, plan=False)
    assert code == 2
    assert "does not say which values it covers" in str(told)
    assert "--plan" in str(told)


def test_control_people_without_a_column_are_refused(place: Path, run: Run):
    pl.read_csv(place / "others.csv").drop("race").write_csv(place / "others.csv")
    code, told, _ = attack(run, place, "--control", place / "others.csv")
    assert code == 2
    assert "no column 'race'" in str(told)


def test_a_table_without_a_released_column_is_no_original(place: Path, run: Run):
    pl.read_csv(place / "census.csv").drop("education").write_csv(place / "census.csv")
    code, told, _ = attack(run, place)
    assert code == 2
    assert "no column 'education'" in str(told)


def test_too_few_trials_and_unknown_attacks(made: Path, run: Run):
    code, told, _ = attack(run, made, "--trials", 19)
    assert (code, "--trials must be at least 20" in str(told)) == (2, True)
    code, told, _ = attack(run, made, "--attacks", "linkge")
    assert (code, "did you mean" in str(told)) == (2, True)


# Registers


def raw_bundle(place: Path) -> Path:
    """Rows as they are, with a claim that they meet."""
    plan = asked(place, "privacy.k_anonymity=1", 'algorithm.name="optimal"', "attack.run=false")
    assert sf.release(plan).write(place / "raw").holds
    return place / "raw"


def test_a_register_with_errors_links_people(place: Path):
    register = pl.read_csv(place / "census.csv").select("age", "sex", "race", "education")
    wrong = pl.int_range(pl.len()) % 10 == 0
    register = register.with_columns(
        age=pl.when(wrong).then(pl.col("age") + 1).otherwise(pl.col("age")),
        race=pl.when(pl.int_range(pl.len()) % 15 == 1).then(None).otherwise(pl.col("race")),
    )
    register.write_csv(place / "register.csv")
    found = audit(
        raw_bundle(place),
        place / "census.csv",
        known=place / "register.csv",
        plan=asked(place),
        attacks=("linkage",),
        trials=300,
        seed=1,
    )
    linked, exact, whole = found.findings
    assert (linked.attack, exact.attack, whole.attack) == ("fellegi-sunter", "linkage", WHOLE)
    assert linked.rate.trials == 300
    assert linked.rate.low > linked.naive.high
    assert linked.figures["linked"] > 0.9


def test_a_register_of_other_length_or_without_any_column_is_refused(place: Path, run: Run):
    register = pl.read_csv(place / "census.csv")
    register.head(10).write_csv(place / "short.csv")
    code, told, _ = attack(run, place, "--known", place / "short.csv")
    assert code == 2
    assert "has 10 lines, but the original has 900 rows" in str(told)
    register.select("income").write_csv(place / "strange.csv")
    with pytest.raises(DataError, match="has none of the quasi-identifiers"):
        audit(place / "out", place / "census.csv", known=place / "strange.csv", plan=asked(place), trials=50)


# Other kinds of bundles


def test_private_bundles_can_be_attacked(tmp_path: Path, run: Run):
    jobs = {"Any": {"Desk": ["Clerk", "Lawyer"], "Stage": ["Dancer", "Singer"]}}
    frame = pl.DataFrame(
        {
            "job": [("Clerk", "Lawyer", "Dancer", "Singer")[n % 4] for n in range(600)],
            "age": [18 + (n * 7) % 48 for n in range(600)],
            "class": ["Y" if n % 4 < 2 else "N" for n in range(600)],
        }
    )
    columns = {
        "job": {"role": "quasi", "hierarchy": {"tree": jobs}},
        "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 18, "high": 65}},
        "class": {"role": "target", "values": ["Y", "N"]},
    }
    for output in ("records", "counts"):
        plan = sf.Plan.parse(
            {
                "columns": columns,
                "privacy": {"epsilon": 4},
                "algorithm": {"name": "diffgen", "specializations": 4, "output": output},
            }
        )
        assert sf.release(plan, frame).write(tmp_path / output).holds
        assert manifest(tmp_path / output)["attacks"] == []
        frame.write_csv(tmp_path / "people.csv")
        code, out, _ = run("attack", tmp_path / output, "--original", tmp_path / "people.csv", "--json", "--seed", 1)
        told = json.loads(out)
        assert code == 0
        assert {"linkage", "homogeneity"} <= {one["attack"] for one in told["attacks"]}
        assert told["refuted"] == []


def test_sets_are_attacked_when_they_are_released_and_not_later(tmp_path: Path, run: Run):
    baskets = ["a|b|c", "a|b", "b|c", "a|c", "a|b|c", "b|d", "a|d", "c|d"] * 10
    frame = pl.DataFrame({"basket": baskets})
    columns = {"basket": {"role": "quasi", "type": "set"}}
    plan = sf.Plan.parse({"columns": columns, "privacy": {"km": {"k": 3, "m": 2}}, "algorithm": {"seed": 1}})
    assert sf.release(plan, frame).write(tmp_path / "out").holds
    told = manifest(tmp_path / "out")["attacks"]
    assert [one["attack"] for one in told][:2] == ["sparse, 1 known", "sparse, 2 known"]
    assert told[1]["limit"]["value"] == pytest.approx(1 / 3)
    frame.write_csv(tmp_path / "in.csv")
    code, out, err = run("attack", tmp_path / "out", "--original", tmp_path / "in.csv")
    assert (code, out) == (2, "")
    assert "paths and sets are attacked when they are released" in err
    with pytest.raises(BundleError, match="known whose record is whose"):
        audit(tmp_path / "out", frame)
    quiet = replace(plan, attack=structs.replace(plan.attack, run=False))
    assert sf.release(quiet, frame).write(tmp_path / "quiet").holds
    assert manifest(tmp_path / "quiet")["attacks"] == []


# The frontier


def test_attacks_are_axes_of_a_frontier(place: Path):
    (place / "frontier.toml").write_text(
        PLAN + '[frontier]\nalgorithms = ["mondrian"]\nattacks = ["homogeneity"]\njobs = 1\n'
        "[frontier.grid]\n" + '"privacy.k_anonymity" = [3, 50]\n'
    )
    found = sf.frontier(sf.Plan.load(place / "frontier.toml"), folder=place / "front")
    assert "attack homogeneity" in [axis.name for axis in found.privacy]
    gains = [found.records[point.number]["attacks"]["homogeneity"] for point in found.points]
    assert all(0 <= gain <= 1 for gain in gains)
    assert ("attack homogeneity", "loss") in found.fronts()
    assert "attack homogeneity" in (place / "front" / "frontier.html").read_text()
    with pytest.raises(PlanError, match="'homogenity' is not known"):
        sf.frontier(sf.Plan.load(place / "frontier.toml", ['frontier.attacks=["homogenity"]']), folder=place / "other")
    plain = sf.frontier(sf.Plan.load(place / "frontier.toml", ["frontier.attacks=[]"]), folder=place / "other")
    assert not any(axis.name.startswith("attack") for axis in plain.privacy)


# Forged figures


def forge(place: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the manifest and mend its seal."""
    content = manifest(place / "out")
    change(content)
    (place / "out" / "manifest.json").write_text(dump(seal(content)))


def _first(content: dict[str, Any]) -> Any:
    return content["attacks"][0]


IMPOSSIBLE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "an interval upside down": lambda m: _first(m)["target"].update(low=0.9, high=0.1),
    "a rate outside its interval": lambda m: _first(m)["target"].update(rate=0.99),
    "a rate above 1": lambda m: _first(m)["naive"].update(rate=1.2, high=1.3),
    "more failed trials than trials": lambda m: _first(m)["target"].update(failed=10**6),
    "another word": lambda m: _first(m).update(outcome="refuted"),
    "beyond the limit, and not refuted": lambda m: (
        _first(m)["target"].update(low=0.5, rate=0.6, high=0.7),
        _first(m).update(outcome="not refuted"),
    ),
    "refuted, and published all the same": lambda m: _first(m).update(outcome="refuted"),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_impossible_figures_are_noticed(place: Path, name: str):
    assert sf.verify(place / "out").holds
    forge(place, IMPOSSIBLE[name])
    failing = [check for check in sf.verify(place / "out").checks if not check.holds]
    assert [check.what for check in failing] == ["attacks"]
    assert "impossible: linkage" in failing[0].detail
