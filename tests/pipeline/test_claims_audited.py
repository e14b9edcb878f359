"""The audit makes the attacks that the claims need, within its time; what it refutes is refused, or told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.bundles.manifest.document import dump, seal
from sfumato.core.errors import ClaimRefuted, PlanError
from sfumato.pipeline.attack import attack as audit
from sfumato.pipeline.plan.evaluation import SECONDS
from tests.attacks.test_definetti import CENSUS
from tests.attacks.test_minimality import HIV, NONE

HALF = {"alpha_k": {"alpha": 0.5, "k": 2, "values": [HIV]}}


def wards(count: int) -> pl.DataFrame:
    """Pairs of places as in Wong et al.: two people with HIV in one, five without in the other."""
    rows = [(f"{n}.{at}", ill) for n in range(count) for at, ill in ((0, HIV), (0, HIV), *[(1, NONE)] * 5)]
    return pl.DataFrame(rows, schema=["place", "ill"], orient="row")


def plan_of(table: pl.DataFrame, privacy: dict[str, Any], **attack: Any) -> sf.Plan:
    pairs: dict[str, list[str]] = {}
    for place in sorted(set(table["place"])):
        pairs.setdefault(f"{place.split('.')[0]}.x", []).append(place)
    place = {"role": "quasi", "hierarchy": {"tree": {"*": pairs}}}
    return sf.Plan.parse(
        {
            "columns": {"place": place, "ill": {"role": "sensitive"}},
            "privacy": privacy,
            "algorithm": {"name": "mondrian", "seed": 1},
            "attack": attack,
        }
    )


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


# What an attack refutes


def test_a_release_whose_algorithm_gives_it_away_is_refused():
    """Mondrian divides a pair where both places keep (0.5, 2)-anonymity: what stays joined has HIV in the first."""
    table = wards(60)
    with pytest.raises(ClaimRefuted) as refused:
        sf.release(plan_of(table, HALF), table)
    told = str(refused.value)
    assert "attack minimality refutes the claim alpha-k-anonymity (alpha = 0.5, k = 2, column = ill" in told
    assert "which allows 50.0%" in told
    assert "100.0% of 120 trials" in told
    for way in ("stronger parameter", "another algorithm", "[attack] accept"):
        assert way in told
    with pytest.raises(ClaimRefuted, match="attack minimality refutes"):
        sf.release(plan_of(table, HALF, accept=["definetti"]), table)


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release that is written although minimality refutes its claim."""
    folder = tmp_path_factory.mktemp("accepted") / "out"
    table = wards(60)
    assert sf.release(plan_of(table, HALF, accept=["minimality"]), table).write(folder).holds
    return folder


def test_what_the_plan_accepts_is_written_and_told(accepted: Path):
    told = {one["attack"]: one for one in manifest(accepted)["attacks"]}
    assert told["minimality"]["outcome"] == "refuted"
    assert told["minimality"]["limit"]["value"] == 0.5
    assert manifest(accepted)["plan"]["attack"]["accept"] == ["minimality"]
    page = " ".join((accepted / "report.html").read_text().split())
    assert "<strong>minimality</strong> refutes a claim of this release, and the plan accepts that" in page
    assert "This refutes the claim alpha-k-anonymity" in page
    checked = sf.verify(accepted)
    said = {check.what: check for check in checked.checks}
    assert checked.holds
    assert said["claims that an attack refutes"].detail == (
        "minimality refutes the claim alpha-k-anonymity (alpha = 0.5, k = 2, column = ill): the plan accepts it"
    )


@pytest.mark.parametrize("accept", [[], ["definetti"], ["mini"]])
def test_verify_allows_what_the_plan_accepts_and_nothing_else(accepted: Path, tmp_path: Path, accept: list[str]):
    content = manifest(accepted)
    content["plan"]["attack"]["accept"] = accept
    for name in ("data.csv", "report.html"):
        (tmp_path / name).write_bytes((accepted / name).read_bytes())
    (tmp_path / "manifest.json").write_text(dump(seal(content)))
    failing = [check for check in sf.verify(tmp_path).checks if not check.holds]
    assert [(check.what, check.detail) for check in failing] == [("attacks", "impossible: minimality")]


def test_wider_intervals_than_are_used_do_not_hide_what_is_refuted(accepted: Path, tmp_path: Path):
    content = manifest(accepted)
    found = next(one for one in content["attacks"] if one["attack"] == "linkage")
    found["target"].update(confidence=1 - 1e-12, low=0.0, high=1.0)
    for name in ("data.csv", "report.html"):
        (tmp_path / name).write_bytes((accepted / name).read_bytes())
    (tmp_path / "manifest.json").write_text(dump(seal(content)))
    assert [check.detail for check in sf.verify(tmp_path).checks if not check.holds] == ["impossible: linkage"]


def test_anatomy_of_columns_that_go_together_is_refused_unless_accepted():
    people = sf.datasets.census(4000, seed=1).select([*CENSUS, "occupation"])
    flat = {"role": "quasi", "hierarchy": {"kind": "flat"}}
    tree = {
        "columns": {**dict.fromkeys(CENSUS, flat), "occupation": {"role": "sensitive"}},
        "privacy": {"l_diversity": {"kind": "simple", "l": 2}},
        "algorithm": {"name": "anatomy", "seed": 1},
    }
    with pytest.raises(ClaimRefuted, match=r"refutes the claim simple-l-diversity .*\[attack\] accept"):
        sf.release(sf.Plan.parse(tree), people)
    made = sf.release(sf.Plan.parse({**tree, "attack": {"accept": ["definetti", "foreground"]}}), people)
    outcomes = {one.attack: str(one.outcome) for one in made.audit.findings}
    assert (outcomes["definetti"], outcomes["foreground"]) == ("refuted", "refuted")


# LKC-privacy


def test_lkc_privacy_is_tried_with_its_own_numbers(tmp_path: Path):
    table = sf.datasets.census(1200, seed=4).select("sex", "race", "education", "occupation")
    quasi = {n: {"role": "quasi", "hierarchy": {"bundled": f"census/{n}"}} for n in ("sex", "race", "education")}
    plan = sf.Plan.parse(
        {
            "columns": {**quasi, "occupation": {"role": "sensitive"}},
            "privacy": {"lkc": {"l": 2, "k": 8, "c": 0.4, "values": ["Sales", "Craft-repair"]}},
            "algorithm": {"name": "optimal", "seed": 1},
        }
    )
    assert sf.release(plan, table).write(tmp_path / "out").holds
    told = manifest(tmp_path / "out")
    limits = {one["attack"]: (one["limit"] or {}).get("value") for one in told["attacks"]}
    assert limits["lkc-adversary, 2 known, worst"] == limits["lkc-adversary, 2 known, random"] == 1 / 8
    protected = "protected-values of 'Sales', 'Craft-repair', 2 known"
    assert limits[f"{protected}, worst"] == limits[f"{protected}, random"] == 0.4
    assert "minimality" in told["attacks_not_made"]


# The time of attacks


def test_attacks_that_do_not_fit_into_their_time_are_told(tmp_path: Path):
    table = wards(20)
    made = sf.release(plan_of(table, {"k_anonymity": 2}, seconds=1e-9), table)
    assert made.audit.findings == ()
    assert set(made.audit.skipped.values()) == {"the time for attacks was over: [attack] seconds = 1e-09"}
    assert made.write(tmp_path / "out").holds
    assert manifest(tmp_path / "out")["plan"]["attack"]["seconds"] == 1e-9
    assert "seconds = 1e-09" in (tmp_path / "out" / "report.html").read_text()
    assert plan_of(table, {"k_anonymity": 2}).public()["attack"]["seconds"] == SECONDS
    baskets = pl.DataFrame({"basket": ["a|b", "a|b|c", "b|c", "a|c"] * 10})
    items = {"columns": {"basket": {"role": "quasi", "type": "set"}}, "privacy": {"km": {"k": 3, "m": 2}}}
    skipped = sf.release(sf.Plan.parse({**items, "attack": {"seconds": 1e-9}}), baskets).audit.skipped
    assert set(skipped.values()) == {"the time for attacks was over: [attack] seconds = 1e-09"}


@pytest.mark.parametrize(
    ("attack", "message"),
    [
        ({"seconds": 0}, "attack.seconds must be above 0, not 0"),
        ({"accept": ["definety"]}, "attack.accept: 'definety' is not known; did you mean 'definetti'"),
        ({"accept": ["all"]}, "attack.accept: 'all' is not known"),
        ({"earlier": ["nowhere"]}, "attack.earlier: nowhere is no bundle"),
    ],
)
def test_plans_that_cannot_be_meant(attack: dict[str, Any], message: str):
    table = wards(20)
    with pytest.raises(PlanError) as refused:
        sf.release(plan_of(table, {"k_anonymity": 2}, **attack), table)
    assert message in str(refused.value)


def test_paths_and_sets_are_not_laid_over_earlier_bundles():
    columns = {"basket": {"role": "quasi", "type": "set"}}
    with pytest.raises(PlanError, match=r"attack.earlier: attacks on a release of paths or sets"):
        sf.release(
            sf.Plan.parse({"columns": columns, "privacy": {"km": {"k": 3, "m": 2}}, "attack": {"earlier": ["x"]}}),
            pl.DataFrame({"basket": ["a|b"] * 10}),
        )


# Earlier bundles


def hospital(place: Path, table: pl.DataFrame, column: str, name: str, **attack: Any) -> sf.Plan:
    """A plan that publishes one column, and the illness of pairs."""
    tree = {"role": "quasi", "hierarchy": {"kind": "flat"}}
    said = {
        "columns": {column: tree, "ill": {"role": "sensitive"}},
        "privacy": {"k_anonymity": 2, "l_diversity": {"kind": "distinct", "l": 2}},
        "algorithm": {"name": "optimal", "seed": 1},
        "attack": attack or {"run": False},
    }
    plan = sf.Plan.parse(said, folder=place)
    if not attack:
        assert sf.release(plan, table).write(place / name).holds
    return plan


def grid(copies: int) -> pl.DataFrame:
    """docs/attacks/composition.md, many times over: by age two illnesses, by zip two, by both one."""
    ages, zips, ills = ["20", "20", "30", "30"], ["1", "2", "1", "2"], ["flu", "HIV", "HIV", "asthma"]
    rows = [
        (f"{n}-{age}", f"{n}-{zip_}", ill)
        for n in range(copies)
        for age, zip_, ill in zip(ages, zips, ills, strict=True)
    ]
    return pl.DataFrame(rows, schema=["age", "zip", "ill"], orient="row")


def test_two_hospitals_are_laid_over_each_other(tmp_path: Path):
    """One publishes ages, one zips: everybody is told, where each release by itself tells one in two."""
    table = grid(30)
    hospital(tmp_path, table, "zip", "zips")
    made = sf.release(hospital(tmp_path, table, "age", "ages", attacks=["homogeneity"], earlier=["zips"]), table)
    found = {one.attack: one for one in made.audit.findings}
    assert [*found] == ["homogeneity", "composition with bundle 1"]
    both = found["composition with bundle 1"]
    assert (both.rate.value, both.rate.trials) == (1.0, 120)
    assert both.naive.value == pytest.approx(0.5)
    assert both.limit is None, "no claim speaks of two releases"
    assert made.write(tmp_path / "ages").holds
    assert manifest(tmp_path / "ages")["plan"]["attack"]["earlier"] == 1
    assert "zips" not in json.dumps(manifest(tmp_path / "ages"))
    later = audit(tmp_path / "ages", table, attacks=["homogeneity"], earlier=[tmp_path / "zips"], seed=1)
    assert later.findings[-1].rate == both.rate


def test_columns_that_the_original_lacks_are_left_out_and_told(tmp_path: Path):
    """The earlier bundle has a column that nobody can look up here; the others still tell."""
    table = grid(30).with_columns(ward=pl.col("age"))
    tree = {"role": "quasi", "hierarchy": {"kind": "flat"}}
    earlier = sf.Plan.parse(
        {
            "columns": {"zip": tree, "ward": tree, "ill": {"role": "sensitive"}},
            "privacy": {"k_anonymity": 1},
            "algorithm": {"name": "optimal", "seed": 1},
            "attack": {"run": False},
        }
    )
    assert sf.release(earlier, table).write(tmp_path / "before").holds
    hospital(tmp_path, table, "age", "ages")
    found = audit(tmp_path / "ages", table.drop("ward"), attacks=["linkage"], earlier=[tmp_path / "before"], seed=1)
    both = found.findings[-1]
    assert both.rate.value == 1.0
    assert "lacks 'ward' of the earlier bundle" in both.note
    alone = audit(tmp_path / "ages", table.drop("ward", "zip"), attacks=["linkage"], earlier=[tmp_path / "before"])
    assert "lacks 'zip', 'ward'" in alone.skipped["composition with bundle 1"]


def test_bundles_without_a_common_illness_tell_nothing(tmp_path: Path):
    table = grid(10)
    hospital(tmp_path, table, "age", "ages")
    hospital(tmp_path, table.with_columns(pl.col("ill").alias("pay")), "zip", "zips")
    other = sf.Plan.parse(
        {
            "columns": {"zip": {"role": "quasi", "hierarchy": {"kind": "flat"}}, "pay": {"role": "sensitive"}},
            "privacy": {"k_anonymity": 2},
            "attack": {"run": False},
        }
    )
    assert sf.release(other, table.rename({"ill": "pay"})).write(tmp_path / "pays").holds
    found = audit(tmp_path / "ages", table, attacks=["linkage"], earlier=[tmp_path / "pays", tmp_path / "zips"])
    assert "no sensitive column in common" in found.skipped["composition with bundle 1"]
    assert [one.attack for one in found.findings] == [
        "linkage",
        "linkage by all published columns",
        "composition with bundle 2",
    ]


def test_people_with_several_rows_are_laid_over_each_other_once(tmp_path: Path):
    """Everybody has three rows: the attack is made on each person once, by one row in both bundles."""
    table = pl.concat([grid(30).with_columns(who=pl.int_range(pl.len()).cast(pl.String))] * 3)
    tree = {"role": "quasi", "hierarchy": {"kind": "flat"}}

    def plan(column: str, **attack: Any) -> sf.Plan:
        said = {
            "input": {"unit": "who"},
            "columns": {column: tree, "ill": {"role": "sensitive"}, "who": {"role": "identifier"}},
            "privacy": {"k_anonymity": 2},
            "algorithm": {"name": "optimal", "seed": 1},
            "attack": attack or {"run": False},
        }
        return sf.Plan.parse(said, folder=tmp_path)

    assert sf.release(plan("zip"), table).write(tmp_path / "zips").holds
    made = sf.release(plan("age", attacks=["homogeneity"], earlier=["zips"]), table)
    both = next(one for one in made.audit.findings if one.attack == "composition with bundle 1")
    assert (both.rate.value, both.rate.trials) == (1.0, 120)


def test_the_command_line_takes_earlier_bundles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    from sfumato.cli.main import main

    table = grid(30)
    hospital(tmp_path, table, "age", "ages")
    hospital(tmp_path, table, "zip", "zips")
    table.write_csv(tmp_path / "table.csv")

    def run(*more: object) -> tuple[int, dict[str, Any]]:
        words = ("attack", tmp_path / "ages", "--original", tmp_path / "table.csv", "--json", "--attacks", "linkage")
        monkeypatch.setattr("sys.argv", ["sfumato", *map(str, (*words, *more))])
        code: Any = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        return code or 0, json.loads(capsys.readouterr().out)

    code, told = run("--earlier", tmp_path / "zips", "--seed", 1)
    assert code == 0
    assert [one["attack"] for one in told["attacks"]] == [
        "linkage",
        "linkage by all published columns",
        "composition with bundle 1",
    ]
    assert told["attacks"][1]["target"]["rate"] == 1.0
    code, told = run("--earlier", tmp_path / "nowhere")
    assert code == 2
    assert "--earlier" in str(told)
    assert "is no bundle" in str(told)
