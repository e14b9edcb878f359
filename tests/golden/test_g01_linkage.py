"""Golden G1: the voter roll (document 000, tables 20.1 and 20.2)."""

from __future__ import annotations

import polars as pl
import pytest

import sfumato as sf
from sfumato.attacks.linkage import link

MEDICAL = pl.DataFrame(
    {
        "age": ["24", "37", "26", "38", "36", "25"],
        "zip": ["10598", "90210", "10547", "90345", "89119", "02139"],
        "disease": ["HIV", "Hepatitis C", "HIV", "Hepatitis C", "Diabetes", "HIV"],
    }
)
VOTERS = pl.DataFrame(
    [
        ("Mary A.", "38", "90345"),
        ("John S.", "36", "89119"),
        ("Ann L.", "31", "02139"),
        ("Jack M.", "57", "10562"),
        ("Joy M.", "26", "10547"),
        ("Victor B.", "46", "90345"),
        ("Peter P.", "25", "02139"),
        ("Diana X.", "24", "10598"),
        ("William W.", "37", "90210"),
        ("Sue G.", "26", "10547"),
    ],
    schema=["name", "age", "zip"],
    orient="row",
)
REGIONS = {"Northeastern US": ["10598", "10547", "02139", "10562"], "Western US": ["90210", "90345", "89119"]}
PLAN = sf.Plan.parse(
    {
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10], "low": 20, "high": 60}},
            "zip": {"role": "quasi", "hierarchy": {"tree": {"US": REGIONS}}},
            "disease": {"role": "sensitive"},
        },
        "privacy": {"k_anonymity": 3},
    }
)


def test_the_join_succeeds_on_the_raw_table():
    found = link(MEDICAL, VOTERS, ["age", "zip"])
    names = VOTERS["name"].to_list()
    certain = {name for name, sure in zip(names, found.certain, strict=True) if sure}
    assert certain == {"Mary A.", "John S.", "Peter P.", "Diana X.", "William W."}
    chance = dict(zip(names, found.confidence, strict=True))
    assert chance["Joy M."] == chance["Sue G."] == 0.5
    assert chance["Ann L."] == chance["Jack M."] == chance["Victor B."] == 0.0


def test_the_join_fails_on_the_release():
    made = sf.release(PLAN, MEDICAL)
    assert made.smallest_class == {"value": 3, "wildcard": 3}
    rows = made.frame
    assert sorted(rows.unique().rows()) == sorted(
        [
            ("[20-30)", "Northeastern US", "HIV"),
            ("[30-40)", "Western US", "Hepatitis C"),
            ("[30-40)", "Western US", "Diabetes"),
        ]
    )
    ages = {str(age): f"[{age // 10 * 10}-{age // 10 * 10 + 10})" for age in range(20, 60)}
    places = {code: region for region, codes in REGIONS.items() for code in codes}
    found = link(rows, VOTERS, ["age", "zip"], reading={"age": ages, "zip": places})
    assert not found.certain.any()
    assert found.confidence.max() <= 1 / 3


def test_three_anonymous_and_not_two_diverse():
    """The Northeastern group is homogeneous: everybody learns HIV."""
    rows = sf.release(PLAN, MEDICAL).frame
    classes = sf.classes(rows, quasi=["age", "zip"], counted=["disease"])
    assert sf.models.KAnonymity(k=3).check(classes).holds
    diverse = sf.models.DistinctLDiversity(l=2, column="disease").check(classes)
    assert (diverse.holds, diverse.reached) == (False, 1.0)
    assert [classes.label(i)["zip"] for i in diverse.failing] == ["Northeastern US"]


def test_a_diverse_release_is_refused_or_coarser():
    plan = sf.Plan.parse(
        {
            "columns": {
                "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10], "low": 20, "high": 60}},
                "zip": {"role": "quasi", "hierarchy": {"tree": {"US": REGIONS}}},
                "disease": {"role": "sensitive"},
            },
            "privacy": {"l_diversity": {"kind": "distinct", "l": 4}},
        }
    )
    with pytest.raises(sf.Infeasible, match="the whole table has 3"):
        sf.release(plan, MEDICAL)
