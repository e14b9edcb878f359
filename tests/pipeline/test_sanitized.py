"""Releases that hide rules: the whole way, commitments that tell nothing, bundles that lie, and one clear message."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.attacks.lowered_thresholds import LoweredThresholds, SanitizedSubject
from sfumato.bundles.checks.sanitized import HiddenRules
from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import dump, seal
from sfumato.core.randomness import Chance
from sfumato.counts.sensitive_patterns import Pattern, Thresholds
from sfumato.counts.transactions import Transactions
from sfumato.mining.association_rules import side_effects
from sfumato.pipeline.frontier.frontier import frontier

SECRET = """
key = "{key}"
sets = [["beer", "nappies"]]
rules = [{{ if = ["bread"], then = ["milk"] }}]
"""
KEY = "0123456789abcdef" * 4
BASKETS = ["beer|nappies", "bread|milk", "bread|milk|tea", "tea", "beer|bread|nappies", "milk", "", "bread|milk"] * 5
METHODS = ("auto", "hide-items", "hide-transactions", "hide-unknowns", "hide-border", "hide-exact")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "secret.toml").write_text(SECRET.format(key=KEY))
    return tmp_path


def frame() -> pl.DataFrame:
    return pl.DataFrame({"basket": BASKETS, "shop": ["a", "b"] * 20, "name": [f"p{n}" for n in range(40)]})


def plan(place: Path, method: str = "auto", **more) -> sf.Plan:
    hidden = {"file": "secret.toml", "min_support": 0.2, "min_confidence": 0.6, "margin": 0.1} | more.pop("hidden", {})
    tree = {
        "columns": {"basket": {"role": "quasi", "type": "set"}, "shop": {"role": "keep"}, **more.pop("columns", {})},
        "privacy": {"hidden_rules": hidden, **more.pop("privacy", {})},
        "algorithm": {"name": method, **more.pop("algorithm", {})},
        **more,
    }
    return sf.Plan.parse(tree, folder=place)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_whole_way(place, method, kind):
    asked = plan(place, method, output={"format": kind})
    made = sf.release(asked, frame())
    assert made.effects.hiding_failure == 0
    assert made.write(place / "out").holds
    found = sf.verify(place / "out", rules=place / "secret.toml")
    assert found.holds
    assert [one.what for one in found.checks if one.what.startswith("hidden")] == [
        "hidden: {beer, nappies}",
        "hidden: {bread} -> {milk}",
    ]
    assert not any(one.what == "hidden rules" for one in found.remarks)
    assert sf.verify_again(place / "out", plan=asked, original=frame()).holds
    assert "is hidden" in made.report() or "are hidden" in made.report()
    inside = made.report(inside=True)
    assert "{beer, nappies}" in inside
    assert "not to be published" in inside


@pytest.mark.parametrize("method", METHODS)
def test_no_byte_of_a_bundle_names_what_is_hidden(place, method):
    """Neither a rule, nor the key, nor the file: an item stands in the report only as one that records have."""
    sf.release(plan(place, method), frame()).write(place / "out")
    body = (place / "out" / "manifest.json").read_text() + (place / "out" / "report.html").read_text()
    assert "nappies" not in (place / "out" / "manifest.json").read_text()
    for told in ("{beer, nappies}", "bread -> milk", KEY, "secret.toml"):
        assert told not in body


def test_commitments_are_bound_to_the_key_the_rule_and_the_bytes():
    one = HiddenRules(patterns=(Pattern.of(["b"], ["a"]), Pattern.of("ab")), key=KEY)
    mine = one.commitments("d" * 64)
    assert list(mine) == sorted(mine)
    assert set(mine.values()) == set(one.patterns)
    others = [
        one.commitments("e" * 64),
        replace(one, key="f" * 64).commitments("d" * 64),
        replace(one, patterns=(Pattern.of(["a"], ["b"]), Pattern.of("abc"))).commitments("d" * 64),
    ]
    assert all(set(mine).isdisjoint(other) for other in others)
    assert KEY not in repr(one)


def test_another_file_of_rules_does_not_open_them(place):
    sf.release(plan(place), frame()).write(place / "out")
    other = place / "other.toml"
    other.write_text(SECRET.format(key=KEY).replace('"milk"', '"tea"'))
    wrong = [one for one in sf.verify(place / "out", rules=other).checks if not one.holds]
    assert "does not commit to {bread} -> {tea}; 1 commitments open to no rule" in wrong[0].detail
    other.write_text(SECRET.format(key="f" * 64))
    assert not sf.verify(place / "out", rules=other).holds


def tampered(folder: Path, change) -> None:
    """The bundle with another manifest under a new seal."""
    path = folder / "manifest.json"
    body = json.loads(path.read_text())
    del body["sha256"]
    change(body)
    path.write_text(dump(seal(body)))


def test_a_bundle_that_still_yields_a_rule_is_caught_by_who_has_the_rules(place):
    """Known-bad: the original's records under commitments that fit their bytes."""
    sf.release(plan(place), frame()).write(place / "out")
    frame().select("basket", "shop").write_csv(place / "out" / "data.csv")
    rules = HiddenRules.load(place / "secret.toml", where="")

    def change(body):
        digest = sha256(place / "out" / "data.csv")
        body["data"]["sha256"], body["hiding"]["commitments"] = digest, list(rules.commitments(digest))

    tampered(place / "out", change)
    from sfumato.bundles.checks.sanitized import opened
    from sfumato.bundles.manifest.document import load
    from sfumato.bundles.verify import tables_of

    manifest = load(place / "out" / "manifest.json")
    found = {one.what: one.holds for one in opened(manifest, tables_of(place / "out", manifest)["data"], rules)}
    assert found == {
        "commitments to the rules": True,
        "hidden: {beer, nappies}": False,
        "hidden: {bread} -> {milk}": False,
    }


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda body: body["hiding"].update(min_support=0.1), "min_support of the hidden rules"),
        (lambda body: body["hiding"].update(margin=0.0), "margin of the hidden rules"),
        (lambda body: body["hiding"]["commitments"].reverse(), "commitments"),
        (lambda body: body["hiding"].update(commitments=[]), "commitments"),
        (lambda body: body["recoding"].update(unknown="?"), "mark of unknown items"),
        (lambda body: body.update(marks=[]), "warnings"),
        (lambda body: body["plan"]["privacy"].update(k_anonymity=5), "models that the plan asks for"),
    ],
)
def test_manifests_that_lie_are_caught_without_the_rules(place, change, what):
    sf.release(plan(place, "hide-items"), frame()).write(place / "out")
    tampered(place / "out", change)
    assert what in [one.what for one in sf.verify(place / "out").checks if not one.holds]


def test_unknown_items_stand_beside_decoys(place):
    made = sf.release(plan(place, "hide-unknowns", algorithm={"decoys": 1.0, "seed": 3}), frame())
    cells = [set(cell.split("|")) for cell in made.rows["basket"]]
    open_ = [item for cell in cells for item in cell if item.endswith("?")]
    assert len(open_) == 2 * made.outcome.erased
    assert [one.attack for one in made.audit.findings] == ["lowered-thresholds", "lowered-thresholds, unknowns as had"]
    assert made.audit.findings[1].rate.value == 1.0
    assert made.audit.stated()["attacks"] == []
    marked = frame().with_columns(pl.lit("odd?").alias("basket"))
    with pytest.raises((sf.PlanError, sf.DataError), match="ends in '\\?', which marks unknown items"):
        sf.release(plan(place, "hide-unknowns"), marked)


def test_a_margin_hides_from_who_lowers_the_thresholds():
    records = Transactions.of([["a", "b"]] * 3 + [["a"]] * 7 + [["c"]] * 10)
    subject = SanitizedSubject(
        sure=records, possible=records, patterns=(Pattern.of("ab"),), min_support=0.2, min_confidence=0.5
    )
    seen = {by: LoweredThresholds(by=by).run(subject, Chance(seed=1)) for by in (0.0, 0.2, 0.25, 0.5)}
    assert [one.rate.value for one in seen.values()] == [0.0, 0.0, 1.0, 1.0]
    assert seen[0.25].figures == {"appear": 2.0, "hidden_per_set": 0.5}  # {b} and {a, b}
    assert seen[0.25].naive.value == pytest.approx(1 / 3)
    nothing = LoweredThresholds().run(subject.without_release(), Chance(seed=1))
    assert nothing.rate.value == nothing.naive.value == 0
    assert LoweredThresholds().fits(replace(subject, patterns=())).startswith("it is not known what was hidden")


def test_side_effects_by_hand():
    """Five records; {a, b} is hidden by taking b out of one: {b} and the rules of {b, c} stay, a ghost appears."""
    before = Transactions.of(["ab", "ab", "abc", "bc", "bc"])
    after = Transactions.of(["a", "ab", "abc", "bc", "bc"])
    limits = Thresholds(min_support=0.6, min_confidence=0.7)
    found = side_effects(before, after, [Pattern.of("ab")], limits)
    assert found.to_json() == {
        "hiding_failure": 0.0,
        "sets": 4,  # a, b, c, bc
        "lost_sets": 0,
        "rules": 1,  # c -> b
        "lost_rules": 0,
        "ghost_rules": 1,  # b -> c: 3 of 5, then 3 of 4
        "dissimilarity": pytest.approx(1 / 11),
    }


def test_an_algorithm_that_hides_nothing_is_caught(place, monkeypatch):
    """Known-bad: the records as they were."""
    from sfumato.algorithms.sanitize.problem import Erasing
    from sfumato.algorithms.sanitize.removal import ItemRemoval

    monkeypatch.setattr(ItemRemoval, "__call__", lambda self, problem, work: Erasing(problem).result(self.name))
    with pytest.raises(sf.ClaimRefuted, match="hide-items gave records that still yield a sensitive rule"):
        sf.release(plan(place, "hide-items"), frame())


def test_a_frontier_of_the_methods(place):
    frame().write_csv(place / "data.csv")
    asked = plan(
        place, input={"path": "data.csv"}, frontier={"grid": {"privacy.hidden_rules.margin": [0.0]}, "jobs": 1}
    )
    found = frontier(asked, folder=place / "front")
    assert [one.algorithm["name"] for one in found.points] == list(METHODS[1:])
    assert found.count("verified") == 5
    assert {one["utility"]["lost_rules"] >= 0 for one in found.records.values()} == {True}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"hidden": {"min_support": 0}}, r"privacy.hidden_rules.min_support must lie in \(0, 1\], not 0"),
        ({"hidden": {"min_support": 2}}, r"privacy.hidden_rules.min_support must lie in \(0, 1\], not 2"),
        ({"hidden": {"min_confidence": 1.5}}, r"privacy.hidden_rules.min_confidence must lie in \(0, 1\], not 1.5"),
        ({"hidden": {"min_confidence": None}}, "privacy.hidden_rules.min_confidence is missing"),
        ({"hidden": {"margin": 1}}, r"privacy.hidden_rules.margin must lie in \[0, 1\), not 1"),
        ({"hidden": {"longest": 0}}, "privacy.hidden_rules.longest must be at least 1"),
        ({"hidden": {"files": "x"}}, "privacy.hidden_rules.files: unknown key"),
        ({"privacy": {"k_anonymity": 2}}, "privacy.k_anonymity: .* meets no model beside 'hidden_rules'"),
        ({"method": "mondrian"}, "algorithm.name: 'mondrian' hides no rules"),
        ({"algorithm": {"by": "lift"}, "method": "hide-items"}, "algorithm.by must be one of 'confidence', 'support'"),
        ({"algorithm": {"by": "support"}}, "algorithm.by: auto takes no options"),
        ({"columns": {"shop": {"role": "sensitive"}}}, "columns.shop.role: 'sensitive' would promise"),
        ({"columns": {"basket": {"role": "keep", "type": "set"}}}, "columns.basket.role: the column of sets must be"),
        ({"columns": {"shop": {"role": "quasi", "type": "set"}}}, "takes one column of type 'set', not 2"),
        ({"input": {"on_missing": "drop"}}, "input.on_missing: .* leaves no row out"),
        ({"attack": {"attacks": ["linkage"]}}, "attack.attacks: 'linkage' is not known"),
    ],
)
def test_plans_that_cannot_be(place, given, message):
    with pytest.raises(sf.PlanError, match=message):
        plan(place, **given)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sets = [['a']]", "key in .* must be 64 hexadecimal digits"),
        ("key = 'ab'\nsets = [['a']]", "key in .* must be 64 hexadecimal digits"),
        (f"key = '{KEY}'", "names nothing to hide"),
        (f"key = '{KEY}'\nsets = 3", "sets must be a list"),
        (f"key = '{KEY}'\nsets = [[]]", r"sets\[0\] must list items"),
        (f"key = '{KEY}'\nrules = [['a']]", r"rules\[0\] must look like"),
        (f"key = '{KEY}'\nrules = [{{ if = ['a'], then = ['a'] }}]", "'a' stands on both sides"),
        (f"key = '{KEY}'\nsets = [['a', 'b'], ['b', 'a']]", r"names \{a, b\} twice"),
        (f"key = '{KEY}'\nsalt = 1", "unknown key 'salt'"),
        ("key = ", "is not valid TOML"),
    ],
)
def test_files_of_rules_that_cannot_be(place, text, message):
    (place / "secret.toml").write_text(text)
    with pytest.raises(sf.PlanError, match=f"privacy.hidden_rules.file: .*{message}"):
        sf.release(plan(place), frame())


def test_rules_that_do_not_occur(place):
    (place / "secret.toml").write_text(f"key = '{KEY}'\nsets = [['beer', 'caviar']]")
    with pytest.raises(sf.DataError, match=r"\{beer, caviar\} does not occur: no record has the item 'caviar'"):
        sf.release(plan(place), frame())
    (place / "secret.toml").unlink()
    with pytest.raises(sf.PlanError, match=r"secret\.toml cannot be read"):
        sf.release(plan(place), frame())


def test_rules_are_opened_of_sanitized_releases_only(place, tmp_path):
    made = sf.release(frame().select("shop"), quasi=["shop"], models=[sf.models.KAnonymity(k=2)])
    made.write(tmp_path / "table")
    with pytest.raises(sf.BundleError, match="hides no rules"):
        sf.verify(tmp_path / "table", rules=place / "secret.toml")
    sf.release(plan(place), frame()).write(tmp_path / "out")
    with pytest.raises(sf.BundleError, match="hidden rules are attacked when they are released"):
        sf.attack(tmp_path / "out", frame())
