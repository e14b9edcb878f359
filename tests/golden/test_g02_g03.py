"""Golden G2 (document 003, tables 2.1 and 2.2) and G3 (tables 3.1 and 3.2)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl

import sfumato as sf
from sfumato.models import (
    ConfidenceBounding,
    DistinctLDiversity,
    KAnonymity,
    LKCPrivacy,
    SimpleLDiversity,
    Template,
)

G2 = pl.DataFrame(
    [
        ("Engineer", "Male", 35, "Hepatitis"),
        ("Engineer", "Male", 38, "Hepatitis"),
        ("Lawyer", "Male", 38, "HIV"),
        ("Writer", "Female", 30, "Flu"),
        ("Writer", "Female", 33, "HIV"),
        ("Dancer", "Male", 30, "HIV"),
        ("Dancer", "Female", 30, "HIV"),
    ],
    schema=["job", "sex", "age", "disease"],
    orient="row",
)
G2_PUBLISHED = {
    **dict.fromkeys((1, 2, 3), ("Professional", "Male", "[35-40)")),
    **dict.fromkeys((4, 5), ("Writer", "Female", "[30-35)")),
    **dict.fromkeys((6, 7), ("Dancer", "*", "30")),
}
G2_BUCKETS = {frozenset({1, 3}), frozenset({2, 5}), frozenset({4, 6, 7})}
JOBS = {"Professional": ["Engineer", "Lawyer"], "Artist": ["Writer", "Dancer"]}
FLAT = {"role": "quasi", "hierarchy": {"kind": "flat"}}
G3 = [
    ("Janitor", "M", "34", "Y", "Transgender"),
    ("Doctor", "M", "58", "N", "Plastic"),
    ("Mover", "M", "34", "Y", "Transgender"),
    ("Lawyer", "M", "24", "N", "Vascular"),
    ("Mover", "M", "58", "N", "Urology"),
    ("Janitor", "M", "44", "Y", "Plastic"),
    ("Doctor", "M", "24", "N", "Urology"),
    ("Lawyer", "F", "58", "N", "Plastic"),
    ("Doctor", "F", "44", "N", "Vascular"),
    ("Carpenter", "F", "63", "Y", "Vascular"),
    ("Technician", "F", "63", "Y", "Plastic"),
]
PUBLISHED = {
    **dict.fromkeys((1, 3, 5, 6), ("Non-Technical", "M", "[30,60)")),
    2: ("Professional", "M", "[30,60)"),
    **dict.fromkeys((4, 7), ("Professional", "M", "[1,30)")),
    **dict.fromkeys((8, 9), ("Professional", "F", "[30,60)")),
    **dict.fromkeys((10, 11), ("Technical", "F", "[60,99)")),
}
QUASI = ["job", "sex", "age"]
LKC = LKCPrivacy(l=2, k=2, c=0.5, column="surgery", values=("Transgender",))


def g2_release() -> sf.Release:
    """The seven records, cut along the taxonomies: nobody says which rows go together."""
    plan = {
        "columns": {
            "job": {"role": "quasi", "hierarchy": {"tree": JOBS}},
            "sex": FLAT,
            "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [5], "low": 0, "high": 100}},
            "disease": {"role": "sensitive"},
        },
        "privacy": {"k_anonymity": 2},
        "algorithm": {"name": "mondrian"},
        "attack": {"trials": 20},
    }
    return sf.release(sf.Plan.parse(plan), G2)


def test_g2_the_published_table_is_what_mondrian_finds(tmp_path: Path):
    """Table 2.2 as a release: the labels, 2-anonymity, and the certain group of dancers."""
    made = g2_release()
    wanted = Counter((*G2_PUBLISHED[i], G2["disease"][i - 1]) for i in range(1, 8))
    assert Counter(made.frame.select("job", "sex", "age", "disease").rows()) == wanted
    assert [(claim.model, claim.holds, claim.as_value) for claim in made.claims] == [("k-anonymity", True, 2.0)]
    assert made.write(tmp_path / "g2").holds
    assert sf.verify(tmp_path / "g2").holds


def test_g2_two_anonymous_with_a_certain_group():
    classes = sf.classes(g2_release().frame, quasi=QUASI, counted=["disease"])
    assert KAnonymity(k=2).check(classes).holds
    assert not KAnonymity(k=3).check(classes).holds
    bound = ConfidenceBounding(templates=(Template(quasi=(), column="disease", value="HIV", limit=0.5),))
    verdict = bound.check(classes)
    assert not verdict.holds
    assert verdict.reached == 1.0
    assert [classes.label(i)["job"] for i in verdict.failing] == ["Dancer"]


def buckets_of(made: sf.Release) -> set[frozenset[int]]:
    """Which records an anatomy release puts together, read off its first table: no two records are alike there."""
    number = {row[:3]: place for place, row in enumerate(G2.rows(), start=1)}
    found: dict[int, set[int]] = {}
    for *person, group in made.frame.select("job", "sex", "age", "group").rows():
        found.setdefault(group, set()).add(number[tuple(person)])
    return {frozenset(rows) for rows in found.values()}


def g2_anatomy(seed: int) -> sf.Release:
    columns = {"job": FLAT, "sex": FLAT, "age": FLAT, "disease": {"role": "sensitive"}}
    plan = {
        "columns": columns,
        "privacy": {"l_diversity": {"kind": "distinct", "l": 2}},
        "algorithm": {"name": "anatomy", "seed": seed},
        "attack": {"trials": 20},
    }
    return sf.release(sf.Plan.parse(plan), G2)


def test_g2_the_two_diverse_bucketization_is_one_that_anatomy_draws(tmp_path: Path):
    """It draws one of 36 partitions; the published one is among them. Seed 24 draws it, until a generator changes."""
    made = next(found for seed in range(24, 1000) if buckets_of(found := g2_anatomy(seed)) == G2_BUCKETS)
    assert [(claim.model, claim.holds, claim.as_value) for claim in made.claims] == [
        ("distinct-l-diversity", True, 2.0)
    ]
    assert made.write(tmp_path / "g2").holds
    data, values = (pl.read_csv(tmp_path / "g2" / name) for name in ("data.csv", "sensitive.csv"))
    expanded = values.select(pl.col("group", "disease").repeat_by("count")).explode("group", "disease")
    assert sorted(expanded["group"]) == sorted(data["group"])
    classes = sf.classes(expanded.cast(pl.String), quasi=["group"], counted=["disease"])
    assert DistinctLDiversity(l=2, column="disease").check(classes).holds
    assert SimpleLDiversity(l=2, column="disease").check(classes).reached == 2 / 3


def test_g3_the_published_solution_is_lkc_private_and_not_two_anonymous():
    rows = [(*PUBLISHED[i], *G3[i - 1][3:]) for i in range(1, 12)]
    frame = pl.DataFrame(rows, schema=["job", "sex", "age", "transfuse", "surgery"], orient="row")
    classes = sf.classes(frame, quasi=QUASI, counted=["surgery"])
    assert LKC.check(classes).holds
    alone = KAnonymity(k=2).check(classes)
    assert (alone.holds, alone.reached) == (False, 1.0)
    assert [classes.label(i) for i in alone.failing] == [{"job": "Professional", "sex": "M", "age": "[30,60)"}]


def test_g3_attacks_on_the_raw_table():
    frame = pl.DataFrame(G3, schema=["job", "sex", "age", "transfuse", "surgery"], orient="row")
    classes = sf.classes(frame, quasi=QUASI, counted=["surgery"])
    assert not LKC.check(classes).holds
    movers = frame.filter((pl.col("job") == "Mover") & (pl.col("age") == "34"))
    assert movers.height == 1
    men = frame.filter((pl.col("sex") == "M") & (pl.col("age") == "34"))
    assert men["surgery"].to_list() == ["Transgender", "Transgender"]


def test_g3_the_lattice_finds_an_lkc_private_release_too():
    jobs = {
        "ANY": {
            "Blue-collar": {"Non-Technical": ["Janitor", "Mover"], "Technical": ["Carpenter", "Technician"]},
            "White-collar": {"Professional": ["Doctor", "Lawyer"]},
        }
    }
    plan = sf.Plan.parse(
        {
            "columns": {
                "job": {"role": "quasi", "hierarchy": {"tree": jobs}},
                "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
                "age": {
                    "role": "quasi",
                    "hierarchy": {"kind": "intervals", "cuts": [[30, 60], [60]], "low": 1, "high": 99},
                },
                "transfuse": {"role": "target"},
                "surgery": {"role": "sensitive"},
            },
            "privacy": {"lkc": {"l": 2, "k": 2, "c": 0.5, "values": ["Transgender"]}},
        }
    )
    frame = pl.DataFrame(G3, schema=["job", "sex", "age", "transfuse", "surgery"], orient="row")
    made = sf.release(plan, frame)
    assert made.claims[0].holds
    assert LKC.check(sf.classes(made.frame, quasi=QUASI, counted=["surgery"])).holds
