"""Minimality reads what LKC-privacy and t-closeness refuse, and its limit is what the claims promise about its bets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from typing import Literal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks.definetti import DeFinetti
from sfumato.attacks.finding import Outcome
from sfumato.attacks.guarantees import Closeness
from sfumato.attacks.minimality import Minimality
from sfumato.attacks.refused_tables import DRAWS, View, belief, beliefs, distance_to, kept_close
from sfumato.attacks.subject import Subject
from sfumato.core.randomness import Chance
from sfumato.pipeline.attack import limit_of
from tests.attacks import kit
from tests.attacks.test_minimality import HIV, NONE, WONG, naive_minimal, random_pairs, subject_of
from tests.weights import examples

ALPHA = ("alpha-k-anonymity", {"alpha": 0.5, "k": 2, "column": "ill", "values": (HIV,)})


# What the claims allow


def test_a_broken_half_of_alpha_k_anonymity_is_refuted():
    """The known-bad twin of (0.5, 2)-anonymity: bets on HIV come true in 64 of 100 cases."""
    subject = replace(naive_minimal(random_pairs(3000, 0.3, seed=2), 2), claims=(ALPHA,))
    attack = Minimality()
    limit = limit_of(attack, subject, "ill")
    assert limit is not None
    assert (limit.value, limit.why) == (0.5, "claim alpha-k-anonymity (alpha = 0.5, k = 2, column = ill)")
    found = attack.run(subject, Chance(seed=1), limit)
    assert found.outcome is Outcome.REFUTED
    assert 0.58 < found.rate.value < 0.7


def test_bets_that_are_promised_nothing_have_no_limit():
    subject = naive_minimal([WONG] * 30, 2)
    distinct = ("distinct-l-diversity", {"l": 2, "column": "ill"})
    assert limit_of(Minimality(), replace(subject, claims=(distinct,)), "ill") is None
    assert Minimality().run(replace(subject, claims=(distinct,)), Chance(seed=1)).limit is None
    both = replace(subject, claims=(distinct, ALPHA))
    assert limit_of(Minimality(), both, "ill") is None, "he bets on every value, and only HIV is bounded"
    forms = dict(Minimality().variants(both))
    assert [*forms] == ["", " for 'HIV'"]
    told = limit_of(forms[" for 'HIV'"], both, "ill")
    assert told is not None
    assert told.value == 0.5


def test_no_value_may_pass_its_own_bound():
    """The limit over several values is the largest bound; of several claims about a value the tightest counts."""
    third = ("simple-l-diversity", {"l": 3, "column": "ill"})
    subject = replace(naive_minimal([WONG] * 30, 2), claims=(third, ALPHA))
    limit = limit_of(Minimality(), subject, "ill")
    assert limit is not None
    assert limit.value == pytest.approx(1 / 3)


# LKC-privacy


def two_columns(count: int, seed: int) -> Subject:
    """A twin that knows L = 1: pairs of places are joined where one of them has HIV too often; sex says nothing."""
    plain = naive_minimal(random_pairs(count, 0.3, seed), 2)
    sex = pl.Series("sex", np.random.default_rng(seed).choice(["f", "m"], plain.people.height))
    claim = ("lkc-privacy", {"l": 1, "k": 2, "c": 0.5, "column": "ill", "values": (HIV,)})
    coverage = kit.raw_subject(pl.DataFrame({"sex": ["f", "m"]}), ("sex",)).coverage
    return replace(
        plain,
        quasi=("sex", "place"),
        coverage={**coverage, **plain.coverage},
        people=plain.people.with_columns(sex),
        release=plain.release.with_columns(sex),
        claims=(claim,),
    )


def test_few_known_columns_are_reasoned_about_alone():
    """Places were joined for the sake of groups by place alone; classes by both columns are beside the point."""
    subject = two_columns(3000, seed=2)
    attack = Minimality()
    assert limit_of(attack, subject, "ill") is None, "the bets tell it"
    found = attack.run(subject, Chance(seed=1))
    assert found.limit is not None
    assert (found.limit.value, "lkc-privacy" in found.limit.why) == (0.5, True)
    assert found.outcome is Outcome.REFUTED
    assert found.rate.value > 0.58


def test_an_honest_release_of_few_known_columns_is_not_refuted():
    """Pairs that are joined regardless: what he believes is wrong. He is refuted once in 2,000 such releases."""
    subject = two_columns(800, seed=3)
    always = naive_minimal(random_pairs(800, 0.3, seed=3), 2, always=True)
    joined = replace(
        subject,
        release=subject.release.with_columns(always.release["place"]),
        coverage={**subject.coverage, "place": always.coverage["place"]},
    )
    found = Minimality().run(joined, Chance(seed=1))
    assert found.figures["singled_out"] > 0
    assert found.limit is not None
    assert found.outcome is not Outcome.REFUTED


# t-closeness


def far(reference: np.ndarray, values: tuple[str, ...], promised: Closeness) -> Callable[[np.ndarray], np.ndarray]:
    found = distance_to(reference, values, promised)
    assert found is not None
    return found


def distance(shares: list[float], reference: list[float], name: str) -> float:
    """Straight from the definitions."""
    if name == "kl":
        return sum(p * np.log(p / q) for p, q in zip(shares, reference, strict=True) if p)
    if name == "emd-ordered":
        sums = [sum(shares[:at]) - sum(reference[:at]) for at in range(1, len(shares))]
        return sum(map(abs, sums)) / max(len(shares) - 1, 1)
    return sum(max(p - q, 0) for p, q in zip(shares, reference, strict=True))


@examples(60)
@given(
    values=st.lists(st.sampled_from("012"), min_size=2, max_size=6),
    cut=st.integers(1, 5),
    t=st.sampled_from([0.0, 0.1, 0.25, 0.5]),
    name=st.sampled_from(["variational", "emd-equal", "kl", "emd-ordered"]),
)
def test_beliefs_by_closeness_are_those_of_trying_all_orders(values: list[str], cut: int, t: float, name: str):
    """All orders of the values; those stay in which one of two parts is too far from the whole table."""
    cut = min(cut, len(values) - 1)
    reference, sizes = np.array([0.5, 0.3, 0.2]), np.array([cut, len(values) - cut])
    orders = [[list(order[:cut]), list(order[cut:])] for order in permutations(values)]

    def fine(part: list[str]) -> bool:
        return distance([part.count(v) / len(part) for v in "012"], reference.tolist(), name) <= t + 1e-9

    bad = [parts for parts in orders if not all(map(fine, parts))]
    counts = np.array([values.count(v) for v in "012"])
    way = far(reference, ("0", "1", "2"), Closeness(t=t, distance=name))
    found = kept_close(counts, sizes, way, t, np.random.default_rng(1))
    assert (found is None) == (not bad)
    if found is None:
        return
    assert found[0].chance == pytest.approx(1 - len(bad) / len(orders))
    for at, value in enumerate("012"):
        expected = [np.mean([parts[part].count(value) for parts in bad]) / sizes[part] for part in (0, 1)]
        posterior = belief(tuple(sizes.tolist()), int(counts[at]), found[at])
        assert posterior is not None
        assert posterior == pytest.approx(expected)


def test_draws_stand_in_for_all_ways():
    """Many ways: 400 draws are within 0.1 of the truth, by five deviations of a share."""
    counts, sizes = np.array([12, 6, 6]), np.array([12, 12])
    way = far(counts / 24, ("a", "b", "c"), Closeness(t=0.2, distance="variational"))
    drawn = kept_close(counts, sizes, way, 0.2, np.random.default_rng(3))
    assert drawn is not None
    draw = np.random.default_rng(4)
    every = [draw.permutation(np.repeat([0, 1, 2], counts))[:12] for _ in range(20_000)]
    shares = np.array([np.bincount(one, minlength=3) / 12 for one in every])
    assert drawn[0].chance == pytest.approx(float((way(shares) <= 0.2 + 1e-9).mean()), abs=5 * 0.5 / DRAWS**0.5)


def naive_close(pairs: list[list[list[str]]], t: float) -> Subject:
    """The known-bad twin: a pair is joined if one part alone has HIV more than t away from the share of all."""
    everybody = [value for parts in pairs for part in parts for value in part]
    share = everybody.count(HIV) / len(everybody)
    people, release = [], []
    for number, parts in enumerate(pairs):
        whole = [*parts[0], *parts[1]]
        if abs(whole.count(HIV) / len(whole) - share) > t:
            continue
        joined = any(abs(part.count(HIV) / len(part) - share) > t for part in parts)
        for at, part in enumerate(parts):
            people += [(f"{number}.{at}", value) for value in part]
            release += [(f"{number}.*" if joined else f"{number}.{at}", value) for value in part]
    claim = ("t-closeness", {"t": t, "column": "ill", "distance": "emd-equal"})
    return replace(subject_of(people, release, 2), claims=(("k-anonymity", {"k": 2}), claim))


def test_a_minimal_algorithm_under_closeness_is_broken():
    """Small parts beside large ones: the small one was too far away, and mostly because it has HIV too often."""
    draw = np.random.default_rng(5)
    sizes = [(int(draw.integers(2, 4)), int(draw.integers(8, 13))) for _ in range(2500)]
    pairs = [[[HIV if draw.random() < 0.2 else NONE for _ in range(n)] for n in pair] for pair in sizes]
    subject = naive_close(pairs, 0.25)
    found = Minimality(values=(HIV,)).run(subject, Chance(seed=1))
    assert found.limit is not None
    share = subject.release["ill"].to_list().count(HIV) / subject.release.height
    assert (found.limit.value, "t-closeness" in found.limit.why) == (pytest.approx(share + 0.25), True)
    assert found.outcome is Outcome.REFUTED
    assert found.figures["believed"] == pytest.approx(found.rate.value, abs=0.1)


def test_distances_by_a_tree_are_not_read():
    claim = ("t-closeness", {"t": 0.1, "column": "ill", "distance": "emd-hierarchical", "paths": {HIV: ("x",)}})
    subject = replace(naive_minimal([WONG] * 3, 2), claims=(claim,))
    assert "by which an attacker could reason" in Minimality().fits(subject)
    words = Closeness(t=0.1, distance="emd-ordered")
    assert distance_to(np.array([0.5, 0.5]), ("low", "high"), words) is None
    listed = distance_to(np.array([0.5, 0.5]), ("high", "low"), replace(words, order=("low", "middle", "high")))
    assert listed is not None
    assert listed(np.array([[1.0, 0.0]])) == pytest.approx([0.5]), "half a step of two, for half of the rows: 2/2/2"


def test_a_view_of_nothing_promised_bets_nothing():
    subject = naive_minimal([WONG] * 3, 2)
    view = View.of(subject, "ill", [], (HIV,), 2)
    found = beliefs(view, together=False, classes=10, draw=np.random.default_rng(1))
    assert not found.raised.any()
    assert (view.bets_above == 1).all()


@pytest.mark.parametrize("scope", ["class", "table"])
def test_tables_with_too_many_beliefs_are_looked_at_in_part_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch, scope: Literal["class", "table"]
):
    """A refusal of a whole table needs all classes; one of a class needs that class."""
    subject = naive_minimal([WONG] * 30, 2)
    whole = Minimality(scope=scope).run(subject, Chance(seed=1)).figures["singled_out"]
    monkeypatch.setattr("sfumato.attacks.refused_tables.MOST_BELIEFS", 10 * 7 * 2)
    some = Minimality(scope=scope).run(subject, Chance(seed=1)).figures["singled_out"]
    assert some == (pytest.approx(whole / 3) if scope == "class" else 0)


def test_numbers_are_not_bet_on_one_by_one():
    people = [("1.0", f"{n}") for n in range(300)]
    subject = subject_of(people, people, 2)
    assert Minimality().fits(subject) == (
        "'ill' has 300 different values; single ones are bet on where there are at most 200"
    )
    assert "300 different values" in DeFinetti().fits(subject)
