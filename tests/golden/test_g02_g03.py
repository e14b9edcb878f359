"""Golden G2 (document 003, tables 2.1 and 2.2) and G3 (tables 3.1 and 3.2)."""

from __future__ import annotations

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
        ("Professional", "Male", "[35-40)", "Hepatitis"),
        ("Professional", "Male", "[35-40)", "Hepatitis"),
        ("Professional", "Male", "[35-40)", "HIV"),
        ("Writer", "Female", "[30-35)", "Flu"),
        ("Writer", "Female", "[30-35)", "HIV"),
        ("Dancer", "*", "30", "HIV"),
        ("Dancer", "*", "30", "HIV"),
    ],
    schema=["job", "sex", "age", "disease"],
    orient="row",
)
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


def test_g2_two_anonymous_with_a_certain_group():
    classes = sf.classes(G2, quasi=QUASI, counted=["disease"])
    assert KAnonymity(k=2).check(classes).holds
    bound = ConfidenceBounding(templates=(Template(quasi=(), column="disease", value="HIV", limit=0.5),))
    verdict = bound.check(classes)
    assert not verdict.holds
    assert verdict.reached == 1.0
    assert [classes.label(i)["job"] for i in verdict.failing] == ["Dancer"]


def test_g2_a_two_diverse_bucketization_exists():
    diseases = ["Hepatitis", "Hepatitis", "HIV", "Flu", "HIV", "HIV", "HIV"]
    bucket_of = {1: "1", 3: "1", 2: "2", 5: "2", 4: "3", 6: "3", 7: "3"}
    frame = pl.DataFrame({"bucket": [bucket_of[i] for i in range(1, 8)], "disease": diseases})
    classes = sf.classes(frame, quasi=["bucket"], counted=["disease"])
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
