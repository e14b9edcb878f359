"""Golden G9 (document 004, figures 3, 5 and 7, examples 6 to 20): a tree judged, pruned, and drawn from."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sfumato.core.randomness import Chance
from sfumato.mining.document_json import tree_of
from sfumato.mining.federation import pseudo_data
from sfumato.mining.leaf_privacy import Leaves, TreeKAnonymity, TreeRecursiveDiversity, TreeSimpleDiversity
from sfumato.mining.prediction import leaves_of
from sfumato.mining.rule_document import rules_of
from sfumato.mining.tree_pruning import Told, anonymized, estimated_counts, propagated, united
from tests.mining.small_trees import CLASSES, figure_five, nodes_of_figure_five

THREE = TreeRecursiveDiversity(c=3, l=3)
TREE = tree_of(figure_five())
NODE = nodes_of_figure_five()


def told(*names: str) -> Told:
    """What some nodes say, inner ones by equations 2 and 3."""
    found, some = propagated(TREE), [NODE[name] for name in names]
    return Told(says=found.says[some], hit=found.hit[some], miss=found.miss[some])


def passes(hit: int, miss: int) -> bool:
    return bool(THREE.passes(Leaves.of_hits([hit], [miss]))[0])


def test_counts_at_b_are_estimated_by_equation_2():
    """Example 15."""
    kids = told(*"defgh")
    assert estimated_counts(kids, 5) == [Fraction(45, 4), 11, Fraction(39, 4), 11, 7]
    assert united(kids, 5) == (0, 12, 38)
    b = told("b")
    assert (int(b.says[0]), int(b.hit[0]), int(b.miss[0])) == (0, 12, 38)
    f, h = told("f"), told("h")
    assert (CLASSES[f.says[0]], f.hit[0], f.miss[0]) == ("S3", 5, 9)
    assert (CLASSES[h.says[0]], h.hit[0], h.miss[0]) == ("S1", 3, 7)


@pytest.mark.parametrize(
    ("name", "tail", "good"),
    [("k", 1, True), ("m", 3, True), ("d", 0, False), ("e", 1, False), ("g", 2, False)],
)
def test_tails_of_equation_1(name, tail, good):
    """Example 12: tail 1 and 2 < 3 passes; 5 is not below 3; 6 is not below 6, for the comparison is strict."""
    node = NODE[name]
    leaf = Leaves.of_hits([TREE.hit[node]], [TREE.miss[node]])
    assert THREE.tails(leaf).tolist() == [tail]
    assert THREE.passes(leaf).tolist() == [good]


def test_which_leaves_fail():
    """Examples 10, 12 and 15: the tree is 3-anonymous, and d, e, g and o fail (3, 3)-diversity."""
    assert TreeKAnonymity(k=3).check(TREE.leaf_figures()).holds
    assert not TreeKAnonymity(k=4).check(TREE.leaf_figures()).holds
    failing = TREE.leaves[THREE.check(TREE.leaf_figures()).failing].tolist()
    assert failing == [NODE[name] for name in "dego"]


def test_simple_diversity():
    """Example 14: g satisfies l = 2, the leaf of A = a2 and C = c1 satisfies l = 3."""
    assert TreeSimpleDiversity(l=2).passes(Leaves.of_hits([6], [8])).tolist() == [True]
    node = NODE["i"]
    assert TreeSimpleDiversity(l=3).passes(Leaves.of_hits([TREE.hit[node]], [TREE.miss[node]])).tolist() == [True]


def test_which_siblings_d_could_be_merged_with():
    """Example 16: with e, f and g the result passes, with h it does not."""
    merged = {name: united(told("d", name), 5) for name in "efgh"}
    assert {name: passes(*one[1:]) for name, one in merged.items()} == {"e": True, "f": True, "g": True, "h": False}


def test_the_pruned_tree_is_figure_3():
    """Example 16: o with p, which replaces j; d with e to (S2, 5, 7); g with h to (S4, 8, 16)."""
    found = anonymized(TREE, THREE)
    assert [(one.parts, one.after, one.rule, one.passes, one.replaced) for one in found.merges] == [
        (("D in [1-4)", "D in [4-10]"), (1, 6, 9), 1, True, True),
        (("B = b1", "B = b2"), (1, 5, 7), 1, True, False),
        (("B = b4", "B = b5"), (3, 8, 16), 1, True, False),
    ]
    assert (found.leaves_before, found.failing_before) == (10, 4)
    assert THREE.check(found.tree.leaf_figures()).holds
    assert sorted(rules_of(found.tree).texts()) == [
        "A = a1 and B = b3 and C = c1: S = S5 (2 of 4)",
        "A = a1 and B = b3 and C in {c2, c3}: S = S3 (4 of 10)",
        "A = a1 and B in {b1, b2}: S = S2 (5 of 12)",
        "A = a1 and B in {b4, b5}: S = S4 (8 of 24)",
        "A = a2 and C = c1: S = S3 (4 of 14)",
        "A = a2 and C in {c2, c3}: S = S2 (6 of 15)",
    ]


def test_example_8_the_leftmost_path():
    rules = rules_of(anonymized(TREE, THREE).tree)
    place = [text.startswith("A = a1 and B in {b1, b2}") for text in rules.texts()].index(True)
    assert rules.conditions[place] == {0: (0,), 1: (0, 1)}
    assert (rules.classes[rules.says[place]], rules.hit[place], rules.miss[place]) == ("S2", 5, 7)


@pytest.mark.parametrize("seed", range(5))
def test_pseudo_data_of_a_path(seed):
    """Example 20: 24 tuples with A = a1 and B one of b4 and b5, 8 of class S4, 16 spread evenly over the other four."""
    tree = anonymized(TREE, THREE).tree
    found = pseudo_data(tree, chance=Chance(seed=seed))
    path = next(leaf for leaf in tree.leaves.tolist() if (tree.hit[leaf], tree.miss[leaf]) == (8, 16))
    mine = found.take(leaves_of(tree, found) == path)
    assert mine.count == 24
    assert set(mine.columns[0].tolist()) == {0}
    assert set(mine.columns[1].tolist()) == {3, 4}
    assert np.bincount(mine.codes, minlength=5).tolist() == [4, 4, 4, 8, 4]
