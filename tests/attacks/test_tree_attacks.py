"""Attacks on published trees: what they find on trees that are worked out by hand, and against literal twins."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np
import pytest

from sfumato.attacks.finding import Limit, Outcome
from sfumato.attacks.trees import (
    TOLD,
    ToldTree,
    TreeCombination,
    TreeInference,
    TreeMembership,
    TreeMinimality,
    TreeSubject,
    combined,
    part_beliefs,
    passes,
)
from sfumato.core.randomness import Chance


def told(counts: list[list[int]], inside: list[int], outside: list[int] | None = None) -> ToldTree:
    table = np.array(counts)
    return ToldTree(
        shares=table / table.sum(axis=1, keepdims=True),
        sizes=table.sum(axis=1),
        inside=np.array(inside),
        outside=None if outside is None else np.array(outside),
    )


def halves(rows: int = 400) -> TreeSubject:
    """Two classes that x and y tell together and neither alone does: the class is p where x equals y."""
    x, y = np.arange(rows) % 2, np.arange(rows) // 2 % 2
    truth = (x != y).astype(np.int64)
    each = rows // 4
    return TreeSubject(
        trees=(told([[each, each], [each, each]], x.tolist()),),
        earlier=(told([[each, each], [each, each]], y.tolist()),),
        truth=truth,
    )


def test_a_leaf_of_one_class_gives_it_away_and_a_claim_is_refuted():
    subject = TreeSubject(
        trees=(told([[100, 0], [50, 50]], [0] * 100 + [1] * 100),),
        truth=np.array([0] * 150 + [1] * 50),
        promised=Limit(value=0.5, why="simple 2-diversity"),
    )
    found = TreeInference(trials=200).run(subject, Chance(seed=1))
    assert found.rate.value == 0.75
    assert found.figures[TOLD] == 0.75
    assert found.worst == 1
    assert found.outcome is Outcome.REFUTED
    within = replace(subject, promised=Limit(value=0.8, why="less"))
    assert TreeInference(trials=200).run(within, Chance(seed=1)).outcome is not Outcome.REFUTED


def test_trees_that_tell_nothing_alone_part_people_together():
    subject = halves()
    found = TreeCombination(trials=400).run(subject, Chance(seed=1))
    assert found.figures["smallest meeting of leaves"] == 100
    assert found.rate.value == pytest.approx(0.5)  # naive Bayes does not see what only both tell
    assert found.exact
    assert TreeCombination().fits(replace(subject, earlier=())) != ""


def test_combining_is_the_product_of_odds():
    dice = np.random.Generator(np.random.PCG64(5))
    people, truth = 300, dice.integers(0, 3, 300)
    trees = []
    for leaves in (4, 5):
        reach = (truth + dice.integers(0, leaves, people) * (dice.random(people) < 0.6)) % leaves
        counts = np.zeros((leaves, 3), int)
        np.add.at(counts, (reach, truth), 1)
        trees.append(told((counts + 1).tolist(), reach.tolist()))
    subject = TreeSubject(trees=(trees[0],), earlier=(trees[1],), truth=truth)
    said = combined(subject, np.arange(people))
    for person in range(people):
        odds = trees[0].overall.copy()
        for tree in trees:
            odds = odds * tree.shares[tree.inside[person]] / tree.overall
        assert odds[said[person]] == pytest.approx(odds.max())


def test_membership_rules_out_classes_that_a_leaf_does_not_have():
    subject = TreeSubject(
        trees=(told([[50, 0], [0, 50]], [0] * 50 + [1] * 50, [0] * 50 + [1] * 50),),
        truth=np.array([0] * 50 + [1] * 50),
        outside_truth=np.array([1] * 50 + [0] * 50),
    )
    found = TreeMembership(trials=200).run(subject, Chance(seed=1))
    assert found.rate.value == 1
    assert TreeMembership().fits(replace(subject, outside_truth=None)) != ""
    hidden = TreeMembership(trials=200).run(subject.without_release(), Chance(seed=1))
    assert hidden.rate.value == 0.5


# Minimality


def recursive(c: float, l: int) -> tuple[dict[str, object], ...]:
    return ({"model": "tree-recursive-l-diversity", "parameters": {"c": c, "l": l, "basis": "counts"}},)


def exact_beliefs(counts: list[int], sizes: list[int], claims: tuple[dict[str, object], ...]) -> np.ndarray:
    """Every way to deal two classes to two parts, weighed by how many there are."""
    (a, b), (n, m) = counts, sizes
    weight, belief = 0, np.zeros((2, 2))
    for k in range(max(0, n - b), min(a, n) + 1):
        held = np.array([[k, n - k], [a - k, m - (a - k)]])
        if not passes(held, claims).all():
            ways = comb(a, k) * comb(b, n - k)
            weight += ways
            belief += ways * held / np.array([[n], [m]])
    return belief / weight


@pytest.mark.parametrize(("counts", "sizes"), [([40, 20], [10, 50]), ([16, 4], [6, 14]), ([30, 9], [13, 26])])
def test_beliefs_are_those_of_all_ways_to_deal_the_classes(counts: list[int], sizes: list[int]):
    claims = recursive(5, 2)
    dice = np.random.Generator(np.random.PCG64(7))
    found = part_beliefs(np.array(counts), sizes, claims, dice)
    assert found == pytest.approx(exact_beliefs(counts, sizes, claims), abs=0.03)  # 4,000 draws: 0.03 is four sigma


def merged_leaves(
    leaves: int = 60, counts: tuple[int, int] = (60, 30), sizes: tuple[int, int] = (10, 80)
) -> TreeSubject:
    """Leaves that ATP merged from two parts each, dealt at random among the ways in which a part fails."""
    dice, claims = np.random.Generator(np.random.PCG64(3)), recursive(5, 2)
    truth, inside, parts = [], [], []
    for leaf in range(leaves):
        while True:
            dealt = dice.permutation(np.repeat([0, 1], counts))
            held = np.array([np.bincount(dealt[: sizes[0]], minlength=2), np.bincount(dealt[sizes[0] :], minlength=2)])
            if not passes(held, claims).all():
                break
        truth += dealt.tolist()
        inside += [leaf] * sum(sizes)
        parts += [0] * sizes[0] + [1] * sizes[1]
    tree = told([list(counts)] * leaves, inside)
    tree = replace(tree, counts=np.array([list(counts)] * leaves), parts=np.array(parts))
    return TreeSubject(trees=(tree,), truth=np.array(truth), algorithm="atp", claims=claims)


def test_merging_tells_why_leaves_were_merged():
    """(5, 2)-diversity allows 5/6; an attacker who knows that leaves were merged is right more often."""
    subject = merged_leaves()
    assert TreeMinimality().fits(subject) == ""
    found = TreeMinimality(trials=2000).run(subject, Chance(seed=1))
    allowed = found.figures["allowed_by_claims"]
    assert allowed == pytest.approx(5 / 6)
    assert found.rate.low > allowed
    assert found.naive.value < allowed
    assert found.worst is not None
    assert found.rate.value == pytest.approx(found.worst, abs=0.04)
    assert found.limit is None, "as for tables, only simple diversity bounds what is inferred"
    simple = ({"model": "tree-simple-l-diversity", "parameters": {"l": 1.2}},)
    refuted = TreeMinimality(trials=2000).run(replace(subject, claims=simple), Chance(seed=1))
    assert refuted.limit is not None
    assert refuted.outcome is Outcome.REFUTED


def test_nothing_follows_where_nothing_was_merged():
    subject = merged_leaves(leaves=2)
    tree = subject.trees[0]
    unmerged = replace(subject, trees=(replace(tree, parts=np.full(len(subject.truth), -1)),))
    assert "no edge shows" in TreeMinimality().fits(unmerged)
    assert "merges no leaves" in TreeMinimality().fits(replace(subject, algorithm="ldm"))
    size = ({"model": "tree-k-anonymity", "parameters": {"k": 5}},)
    assert "no claim bounds" in TreeMinimality().fits(replace(subject, claims=size))
