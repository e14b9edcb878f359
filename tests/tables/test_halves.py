"""Nodes in between: what they cover, how wide they are, and when a node stays as it is."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.tables.taxonomy import WIDE, halved, taxonomy
from tests.weights import examples

WIDTHS = st.lists(st.integers(1, 23), min_size=1, max_size=9)


def tree_of(widths, *, same=False):
    trunks = [(f"g{g}", f"v{n}" if same else f"v{g}.{n}") for g, width in enumerate(widths) for n in range(width)]
    sizes = {(f"g{g}",): float(width) for g, width in enumerate(widths)}
    return taxonomy(trunks, sizes, total=float(sum(widths)), height=2)


def covered(tree):
    """The values below every node, by its name."""
    return {label: frozenset(np.flatnonzero(tree.covers(node)).tolist()) for node, label in enumerate(tree.labels)}


@examples(60)
@given(WIDTHS)
def test_declared_nodes_stay_and_none_is_wide(widths):
    tree, found = tree_of(widths), halved(tree_of(widths))
    made = {label for label, new in zip(found.tree.labels, found.made.tolist(), strict=True) if new}
    after = covered(found.tree)
    assert len(after) == len(found.tree.labels), "every node has a name of its own"
    assert {name: some for name, some in after.items() if name not in made} == covered(tree)
    assert max(map(len, found.tree.children)) <= WIDE
    for node in np.flatnonzero(found.made).tolist():
        first, last = found.tree.labels[node].split(" … ")
        run = sorted(after[found.tree.labels[node]])
        assert run == list(range(run[0], run[-1] + 1)), "values that are declared side by side"
        assert min(after[first]) == run[0]
        assert max(after[last]) == run[-1]
        assert found.tree.sizes[node] == len(run)
        above = found.tree.parent[node]
        assert found.tree.steps[above] >= found.tree.steps[node] > 0
    assert (found.tree.parent < np.arange(len(found.tree.labels))).all()


def test_where_names_could_be_taken_for_others_nothing_is_halved():
    twice = tree_of([9, 9], same=True)
    assert halved(twice).tree is twice
    named = taxonomy([(x,) for x in ("a … b", *"abcdef")], {}, total=7.0, height=1)
    assert halved(named).tree is named
    narrow = tree_of([4, 3])
    assert halved(narrow).tree is narrow
