"""ATP: against its figure read literally, and what must hold of every result."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.mining.attributes import meeting
from sfumato.mining.document_json import tree_of
from sfumato.mining.leaf_privacy import Leaves, TreeKAnonymity, TreeRecursiveDiversity, TreeSimpleDiversity
from sfumato.mining.rule_document import rules_of
from sfumato.mining.tree_pruning import anonymized, propagated
from tests.brute import published_trees as brute
from tests.mining.small_trees import figure_five, trees
from tests.weights import examples

REQUIREMENTS = st.one_of(
    st.builds(TreeKAnonymity, k=st.integers(1, 60)),
    st.builds(TreeRecursiveDiversity, c=st.sampled_from([1, 1.5, 2, 3, 5]), l=st.integers(1, 4)),
    st.builds(TreeSimpleDiversity, l=st.sampled_from([1, 1.5, 2, 2.5, 3])),
)


def literal(tree, node=0):
    """A document as a nested tree of the brute twin; labels are sets."""
    if tree.split[node] < 0:
        return ("leaf", int(tree.says[node]), int(tree.hit[node]), int(tree.miss[node]))
    return (
        "split",
        int(tree.split[node]),
        [(frozenset(tree.labels[kid]), literal(tree, kid)) for kid in tree.children[node]],
    )


@given(trees(), REQUIREMENTS)
@examples(120, whole=True)
def test_it_is_figure_6_read_literally(tree, requirement):
    passes = {
        TreeKAnonymity: lambda hit, miss: hit + miss >= requirement.k,
        TreeRecursiveDiversity: lambda hit, miss: brute.equation_one(hit, miss, requirement.c, requirement.l),
        TreeSimpleDiversity: lambda hit, miss: hit * requirement.l <= hit + miss,
    }[type(requirement)]
    theirs = brute.pruned(literal(tree), len(tree.classes), passes)
    mine = anonymized(tree, requirement).tree
    assert sorted(brute.leaves(None if mine.empty else literal(mine))) == sorted(brute.leaves(theirs))


@given(trees(), trees(counts=True), REQUIREMENTS)
@examples(200)
def test_what_holds_of_every_result(one, two, requirement):
    """It meets the requirement, keeps all records, and its paths are unions of paths of the tree."""
    for tree in (one, two):
        found = anonymized(tree, requirement)
        assert requirement.check(found.tree.leaf_figures()).holds
        if found.tree.empty:
            assert found.merges or tree.nodes == 1 or not requirement.check(tree.leaf_figures()).holds
            continue
        assert found.tree.records == tree.records
        _refuse_new_paths(tree, found.tree)


def _refuse_new_paths(tree, pruned):
    """Every old path lies in one new path, or apart from it: none is cut in two, and no value moves."""
    old, new = rules_of(tree), rules_of(pruned)
    for mine in old.conditions:
        meets = [
            theirs
            for theirs in new.conditions
            if all(meeting(mine[place], theirs[place]) for place in mine.keys() & theirs.keys())
        ]
        inside = [
            theirs
            for theirs in meets
            if all(place in mine and set_within(mine[place], theirs[place]) for place in theirs)
        ]
        assert len(meets) == len(inside) == 1


def set_within(one, other):
    return meeting(one, other) == one


@given(trees(counts=True), REQUIREMENTS)
@examples(120)
def test_what_the_root_meets_can_be_published(tree, requirement):
    """With exact counts a merge of everything is the root, so a root that passes is left at the least."""
    told = propagated(tree)
    root = Leaves(hit=told.hit[:1], miss=told.miss[:1], counts=told.counts[:1])
    found = anonymized(tree, requirement, keep_root=True).tree
    assert found.empty <= (not requirement.passes(root)[0])


@given(trees(counts=True))
@examples(60)
def test_nothing_happens_where_all_leaves_pass(tree):
    found = anonymized(tree, TreeKAnonymity(k=1))
    assert not found.merges
    assert found.tree.nodes == tree.nodes
    assert found.tree.records == tree.records


def test_exact_counts_are_added():
    document = figure_five()
    for node in document["nodes"]:
        if "class" in node:
            counts = [0] * 5
            place = ["S1", "S2", "S3", "S4", "S5"].index(node["class"])
            counts[place] = node.pop("hit")
            counts[(place + 1) % 5] = half = min(counts[place], node["miss"] // 2)
            rest = node.pop("miss") - half
            for step in (2, 3, 4):
                take = min(counts[place], rest)
                counts[(place + step) % 5] = take
                rest -= take
            assert not rest
            node["counts"] = counts
    tree = tree_of(document)
    found = anonymized(tree, TreeRecursiveDiversity(c=3, l=3, basis="counts")).tree
    assert found.counts is not None
    assert found.counts.sum(axis=0).tolist() == tree.counts.sum(axis=0).tolist()
    assert (found.hit[found.leaves] == found.counts[found.leaves].max(axis=1)).all()


def test_nothing_is_left_where_even_the_root_fails():
    found = anonymized(tree_of(figure_five()), TreeKAnonymity(k=1000))
    assert found.tree.empty
    assert found.tree.attributes
    assert found.merges[-1].replaced
    assert not found.merges[-1].passes
    kept = anonymized(tree_of(figure_five()), TreeKAnonymity(k=79), keep_root=True).tree
    assert kept.nodes == 1
    assert kept.records == 79
    again = anonymized(kept, TreeKAnonymity(k=79))
    assert again.tree.empty
    assert not again.merges


@pytest.mark.parametrize(
    ("leaves", "requirement", "rule", "after"),
    [
        ([(1, 0), (1, 0), (9, 0)], TreeKAnonymity(k=12), 2, (0, 2, 0)),
        ([(6, 0), (3, 2), (2, 2)], TreeRecursiveDiversity(c=3, l=2), 3, (0, 8, 2)),
    ],
)
def test_rules_2_and_3(leaves, requirement, rule, after):
    """Where no sibling is enough one that fails too is taken, the smallest of them; where none fails, the smallest."""
    edges = zip(("c1", "c2", "c3"), leaves, strict=True)
    nodes = [{"parent": 0, "edge": [value], "class": "S1", "hit": hit, "miss": miss} for value, (hit, miss) in edges]
    first = anonymized(tree_of({**figure_five(), "nodes": [{"split": "C"}, *nodes]}), requirement).merges[0]
    assert (first.rule, first.passes, first.after) == (rule, False, after)


def test_rule_2_comes_before_rule_3():
    """With either sibling the result passes; the one that fails too is taken although it is larger."""
    leaves = [("c1", "S1", 3, 0), ("c2", "S2", 2, 2), ("c3", "S2", 5, 1)]
    nodes = [{"parent": 0, "edge": [v], "class": c, "hit": hit, "miss": miss} for v, c, hit, miss in leaves]
    tree = tree_of({**figure_five(), "nodes": [{"split": "C"}, *nodes]})
    first = anonymized(tree, TreeRecursiveDiversity(c=3, l=2)).merges[0]
    assert (first.parts, first.after, first.passes) == (("C = c1", "C = c3"), (1, 5, 4), True)
