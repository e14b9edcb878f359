"""Attacks on published trees: what they find on trees that are worked out by hand, and against literal twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sfumato.attacks.frame.tree_subject import ToldTree, TreeSubject
from sfumato.attacks.frame.trials import Limit, Outcome
from sfumato.attacks.trees.tree_combination import TreeCombination, combined
from sfumato.attacks.trees.tree_inference import TOLD, TreeInference
from sfumato.attacks.trees.tree_membership import TreeMembership
from sfumato.ground.chance import Chance


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
