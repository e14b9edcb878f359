"""Divergence bounding from the plan to the attack: honest releases stay within its limit of 0, others do not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks.finding import Outcome
from sfumato.attacks.similarity import Divergence
from sfumato.attacks.subject import Coverage
from sfumato.core.randomness import Chance
from sfumato.models.confidence import DivergenceBounding
from sfumato.pipeline.attack import attack as audit
from sfumato.pipeline.attack import limit_of
from sfumato.pipeline.catalog.catalog import parameters
from sfumato.testing.attacks import raw_subject
from sfumato.testing.models import classes_of
from tests.bundles.forging import failing, forge, manifest_of
from tests.weights import examples

TREE = {"inflammation": ["gastritis", "ulcer"], "tumour": ["cancer", "polyp"], "wound": ["cut"]}
PATHS = {value: (branch,) for branch, values in TREE.items() for value in values}
ILLS = tuple(PATHS)
WIDE = {"confidence": 0.6, "far": "branch"}


def people() -> pl.DataFrame:
    """Forty streets; in each district the diseases of the streets are of one branch or well mixed."""
    rows = []
    for street in range(40):
        ills = ("gastritis", "gastritis", "ulcer") if street % 2 else ("gastritis", "cancer", "cut", "polyp")
        rows += [(f"{street % 2}{street:02d}", ill) for ill in ills]
    return pl.DataFrame(rows, schema=["street", "ill"], orient="row")


def plan(divergence: Any, **more: Any) -> sf.Plan:
    return sf.Plan.parse(
        {
            "columns": {
                "street": {"role": "quasi", "type": "text", "hierarchy": {"kind": "mask", "levels": [2]}},
                "ill": {"role": "sensitive", "hierarchy": {"tree": {"*": TREE}}},
            },
            "privacy": {"k_anonymity": 10, "divergence": divergence},
            **more,
        }
    )


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    assert sf.release(plan(WIDE), people()).write(tmp_path / "out").holds
    return tmp_path / "out"


def told(found: sf.Audit) -> dict[str, Any]:
    return {one.attack: one for one in found.findings}


def test_an_honest_release_is_made_verified_and_attacked_with_its_own_limit(bundle: Path):
    content = manifest_of(bundle)
    claim = {one["model"]: one for one in content["claims"]}["divergence-bounding"]
    assert (claim["limit"], claim["sense"], claim["reached"]) == (0.6, "below", 0.25)
    assert claim["parameters"]["paths"] == {value: list(above) for value, above in PATHS.items()}
    attack = {one["attack"]: one for one in content["attacks"]}["divergence by branches from 0.6"]
    assert attack["limit"] == {"value": 0.0, "why": pytest.approx(attack["limit"]["why"])}
    assert "divergence-bounding" in attack["limit"]["why"]
    assert attack["target"]["rate"] == 0.0
    assert sf.verify(bundle).holds
    page = " ".join((bundle / "report.html").read_text().split())
    assert "no value of ill that is far from somebody&#39;s own has a share of 0.6 or more in any group" in page
    again = told(audit(bundle, people()))["divergence by branches from 0.6"]
    assert again.rate.hits == 0, "the attack needs no plan: the claim says what is far"


def test_the_search_stays_where_the_whole_table_would_not_pass():
    """As one class half of all have gastritis; apart, the streets of one branch may have it as often as they do."""
    made = sf.release(plan({"confidence": 0.5, "far": "branch"}), people())
    assert made.levels == {"street": 1}
    with pytest.raises(sf.Infeasible, match="divergence-bounding"):
        sf.release(plan({"confidence": 0.2, "far": "branch"}), people())


def test_a_mutated_bundle_fails_and_is_refuted(bundle: Path):
    """Somebody gives half of a mixed group one disease, and mends every digest and figure that they know of."""
    rows = pl.read_csv(bundle / "data.csv", infer_schema=False)
    mixed = rows.filter(pl.col("ill") == "cut")["street"][0]
    turned = (pl.col("street") == mixed) & pl.col("ill").is_in(["cancer", "polyp", "cut"])
    rows.with_columns(ill=pl.when(turned).then(pl.lit("cancer")).otherwise("ill")).write_csv(bundle / "data.csv")
    forge(bundle)
    assert any("divergence-bounding" in what for what in failing(bundle))
    found = told(audit(bundle, people()))["divergence by branches from 0.6"]
    assert found.outcome is Outcome.REFUTED
    assert found.worst == 0.75


def test_a_manifest_with_another_tree_is_caught(bundle: Path):
    """A tree of one branch would make everything near; the plan in the manifest asks for the same tree's branches."""

    def one_branch(content: dict[str, Any]) -> None:
        for claim in content["claims"]:
            if claim["model"] == "divergence-bounding":
                claim["parameters"]["far"], claim["parameters"]["paths"] = "value", {}

    forge(bundle, one_branch)
    assert failing(bundle)


@examples(200, whole=True)
@given(
    rows=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(ILLS)), min_size=20, max_size=40),
    confidence=st.sampled_from([0.2, 1 / 3, 0.4, 0.5, 2 / 3, 1.0]),
    branch=st.booleans(),
)
def test_the_attack_finds_a_breach_where_the_model_does_and_nowhere_else(rows, confidence, branch):
    """Two ways to say the same that share no code: share by share in classes, and person by person from outside."""
    columns = {"zip": [zip_ for zip_, _ in rows], "ill": [ill for _, ill in rows]}
    more: dict[str, Any] = {"far": "branch", "paths": PATHS} if branch else {}
    model = DivergenceBounding(confidence=confidence, column="ill", **more)
    subject = raw_subject(
        pl.DataFrame(columns), ("zip",), ("ill",), claims=(("divergence-bounding", parameters(model)),)
    )
    ((_, attack),) = Divergence().variants(subject)
    found = attack.run(subject, Chance(seed=1), limit_of(attack, subject, "ill"))
    verdict = model.check(classes_of(columns, quasi=["zip"]))
    assert (found.outcome is Outcome.REFUTED) == (not verdict.holds)
    assert found.worst == pytest.approx(verdict.reached)


def test_people_whom_several_classes_fit_are_no_trials():
    """The rows of two classes together promise nothing: one may be all gastritis, the other all cancer."""
    table = pl.DataFrame({"zip": ["1"] * 30, "ill": ["gastritis"] * 10 + ["cancer"] * 20})
    model = DivergenceBounding(confidence=0.5, column="ill")
    subject = raw_subject(table, ("zip",), ("ill",), claims=(("divergence-bounding", parameters(model)),))
    shown = subject.release.with_columns(zip=pl.Series(["1"] * 10 + ["*"] * 20))
    both = Coverage(labels=("1", "*"), values=("1",), covers=np.ones((2, 1), np.bool_))
    seen = replace(subject, release=shown, coverage={"zip": both})
    ((_, attack),) = Divergence().variants(seen)
    assert attack.run(seen, Chance(seed=1), attack.limit(seen, "ill")).outcome is Outcome.NOT_TRIED


def test_where_people_have_several_rows_no_limit_is_taken_from_the_claim(tmp_path: Path):
    frame = people().with_row_index("who").with_columns(who=pl.col("who") // 2)
    tree = plan(WIDE)
    asked = sf.Plan.parse(
        {
            "input": {"unit": "who"},
            "columns": {
                "who": {"role": "identifier"},
                "street": {"role": "quasi", "type": "text", "hierarchy": {"kind": "mask", "levels": [2]}},
                "ill": {"role": "sensitive", "hierarchy": {"tree": {"*": TREE}}},
            },
            "privacy": tree.privacy,
        }
    )
    made = sf.release(asked, frame)
    assert made.write(tmp_path / "out").holds
    found = {one["attack"]: one for one in manifest_of(tmp_path / "out")["attacks"]}
    assert found["divergence"]["limit"] is None


def test_plans_that_ask_for_nonsense_are_refused():
    for spec, told_ in [
        (0, "privacy.divergence: confidence must"),
        ({"confidence": 0.5, "far": "away"}, "privacy.divergence.far"),
        ({"confidence": 0.5, "column": "street"}, "not a sensitive column"),
        ({"confidence": 0.5, "branch": True}, "privacy.divergence.branch"),
    ]:
        with pytest.raises(sf.PlanError, match=told_):
            sf.release(plan(spec), people())
