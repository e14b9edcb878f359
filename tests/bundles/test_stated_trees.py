"""The verifier's own reader of trees says what the writer's says, and refuses what that refuses."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.bundles.checks.trees import due_claims, stated_tree
from sfumato.core.errors import BundleError, DataError
from sfumato.mining.document_json import read_tree, write_tree
from sfumato.mining.leaf_privacy import TreeKAnonymity, TreeRecursiveDiversity, TreeSimpleDiversity
from sfumato.mining.rule_document import rules_of, write_rules
from sfumato.mining.tree_learning import TreeLearner
from sfumato.mining.tree_publishing import PrunedTrees
from tests.mining.small_trees import figure_five, tables
from tests.weights import examples


@examples(60)
@given(records=tables(), k=st.integers(1, 9), l=st.integers(1, 4), c=st.sampled_from([1, 2, 3.5, 10]))
def test_claims_are_those_of_the_models(records: Any, k: int, l: int, c: float):
    tree = TreeLearner(confidence=None)(records)
    for shown, basis in ((tree, "counts"), (tree.without_counts(), "any"), (tree.without_counts(), "hits")):
        for text in (write_tree(shown), write_rules(rules_of(shown))):
            read = stated_tree(text)
            assert (len(read.leaves), read.records) == (len(tree.leaves), records.count)
            asked = {"k_anonymity": k, "l_diversity": {"kind": "recursive", "c": c, "l": l, "basis": basis}}
            found = [*due_claims(asked, read.leaves)]
            found += due_claims({"l_diversity": {"kind": "simple", "l": l}}, read.leaves)
            models = (TreeKAnonymity(k=k), TreeRecursiveDiversity(c=c, l=l, basis=basis), TreeSimpleDiversity(l=l))  # type: ignore[arg-type]
            for one, model in zip(found, models, strict=True):
                verdict = model.check(shown.leaf_figures())
                assert one["model"] == model.name
                assert (one["holds"], one["classes_failing"]) == (verdict.holds, len(verdict.failing))
                assert one["reached"] == pytest.approx(verdict.reached)


def changed(place: str, change: Any) -> dict[str, Any]:
    whole = copy.deepcopy(figure_five())
    change(whole[place])
    return whole


def pop_edge(nodes: Any) -> None:
    next(one for one in nodes if one.get("edge") == ["a2"])["edge"] = ["a1"]


BAD: dict[str, dict[str, Any]] = {
    "overlap": changed("nodes", pop_edge),
    "below a leaf": changed(
        "nodes", lambda nodes: nodes.append({"parent": 3, "edge": ["b1"], "class": "S1", "hit": 1, "miss": 0})
    ),
    "negative": changed("nodes", lambda nodes: nodes[3].update(hit=-1)),
    "no class": changed("nodes", lambda nodes: nodes[3].update({"class": "S9"})),
    "not leading": changed("nodes", lambda nodes: nodes[3].update(hit=1, miss=90)),
    "later parent": changed("nodes", lambda nodes: nodes[1].update(parent=2)),
    "twice": changed("attributes", lambda some: some.append(some[0])),
    "target": changed("target", lambda target: target.update(values=["S1", "S1"])),
    "schema": {**figure_five(), "schema": 2},
}


@pytest.mark.parametrize("name", BAD)
def test_what_the_reader_refuses_the_verifier_refuses(name: str):
    text = json.dumps(BAD[name])
    with pytest.raises(DataError):
        read_tree(text)
    with pytest.raises((BundleError, LookupError, TypeError, ValueError)):
        stated_tree(text)


def test_rules_that_overlap_are_refused():
    rules = {
        **{key: value for key, value in figure_five().items() if key != "nodes"},
        "document": "sfumato-rules",
        "rules": [
            {"if": {"A": ["a1"]}, "class": "S1", "hit": 3, "miss": 3},
            {"if": {"B": ["b1"]}, "class": "S1", "hit": 3, "miss": 3},
        ],
    }
    with pytest.raises(BundleError, match="overlap"):
        stated_tree(json.dumps(rules))


@examples(30)
@given(records=tables(), k=st.integers(1, 5), seed=st.integers(0, 5))
def test_a_forest_meets_the_requirement_together(records: Any, k: int, seed: int):
    """The literal twin: everybody's leaves in all trees, and how many others have the same."""
    from sfumato.core.errors import Infeasible
    from sfumato.core.randomness import Chance
    from sfumato.mining.prediction import leaves_of

    try:
        forest = PrunedTrees(trees=3, min_leaf=1, confidence=0.5)(records, TreeKAnonymity(k=k), Chance(seed=seed))
    except Infeasible:
        assert records.count < k
        return
    reached = list(zip(*(leaves_of(tree, records).tolist() for tree in forest.trees), strict=True))
    assert min(map(reached.count, reached)) >= k
    assert all(tree.attributes == records.attributes for tree in forest.trees)
