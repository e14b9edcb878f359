"""What claims promise to whom: bounds on shares bind who reads a class, words about belief bind who reasons."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.attacks.guarantees import limit_to_tell, promises, protected
from sfumato.models.l_diversity import RecursiveLDiversity
from sfumato.testing.models import classes_of


def told(name: str, **given: Any) -> dict[str, float | None]:
    """The limit of whoever reads a class, and of whoever reasons about it."""
    promised = promises([(name, {"column": "ill", **given})])
    found = {
        way: limit_to_tell(promised, "ill", different=3, known=3, inferred=inferred)
        for way, inferred in (("reads", False), ("reasons", True))
    }
    return {way: None if one is None else one.value for way, one in found.items()}


@pytest.mark.parametrize(
    ("claim", "given", "reads", "reasons"),
    [
        ("simple-l-diversity", {"l": 4}, 0.25, 0.25),
        ("alpha-k-anonymity", {"alpha": 0.4, "k": 2}, 0.4, 0.4),
        ("recursive-l-diversity", {"c": 3, "l": 2}, 0.75, None),
        ("entropy-l-diversity", {"l": 3}, pytest.approx(1 / 3, abs=1e-6), None),
        ("distinct-l-diversity", {"l": 3}, None, None),
        ("t-closeness", {"t": 0.1, "distance": "emd-equal"}, None, None),
        ("k-anonymity", {"k": 5}, None, None),
        ("lkc-privacy", {"l": 3, "k": 5, "c": 0.5}, 0.5, 0.5),
        ("lkc-privacy", {"l": 2, "k": 5, "c": 0.5}, None, None),
        ("lkc-privacy", {"l": 3, "k": 5, "c": 1.0}, None, None),
    ],
)
def test_whom_a_claim_binds(claim: str, given: dict[str, Any], reads: float | None, reasons: float | None):
    assert told(claim, **given) == {"reads": reads, "reasons": reasons}


def test_named_values_bind_bets_on_them_only():
    alpha = {"alpha": 0.4, "k": 2}
    named = {**alpha, "values": ("HIV",)}
    promised = promises([("alpha-k-anonymity", {"column": "ill", **named})])

    def limit(*values: str) -> float | None:
        found = limit_to_tell(promised, "ill", values=values, known=3, inferred=True)
        return None if found is None else found.value

    assert limit() is None
    assert limit("HIV") == 0.4
    assert limit("HIV", "flu") is None
    assert limit_to_tell(promised, "other", values=("HIV",), known=3) is None
    assert protected(promised, "ill", 3) == {0.4: ("HIV",)}


def test_the_tightest_claim_about_a_value_counts_and_the_loosest_value():
    both = [
        ("simple-l-diversity", {"l": 2, "column": "ill"}),
        ("alpha-k-anonymity", {"alpha": 0.1, "k": 2, "column": "ill", "values": ("HIV",)}),
    ]
    for values, expected in [((), 0.5), (("HIV",), 0.1), (("HIV", "flu"), 0.5)]:
        found = limit_to_tell(promises(both), "ill", values=values, known=2, inferred=True)
        assert found is not None
        assert found.value == expected


def test_values_that_their_owners_guard():
    paths = {"HIV": ("virus",), "flu": ("virus",), "cut": ("wound",)}
    guards = {"HIV": "HIV", "flu": "wound", "cut": ""}
    promised = promises([("personalized-privacy", {"p": 0.3, "column": "ill", "paths": paths, "guards": guards})])
    assert protected(promised, "ill") == {0.3: ("HIV",)}, "flu is guarded by nobody who has it"
    by_column = {"p": 0.3, "column": "ill", "paths": paths, "guards": {}, "guard_column": "wish"}
    assert promises([("personalized-privacy", by_column)]) == ()


def test_recursive_diversity_with_one_value_bounds_by_c():
    """l = 1 counts the most frequent value among the rest: a class of one value is fine where c is above 1."""
    table = classes_of({"zip": ["1", "1"], "ill": ["flu", "flu"]}, quasi=["zip"])
    assert RecursiveLDiversity(c=2, l=1, column="ill").check(table).holds
    assert told("recursive-l-diversity", c=2, l=1)["reads"] is None
    assert told("recursive-l-diversity", c=0.6, l=1)["reads"] == 0.6
