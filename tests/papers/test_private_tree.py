"""The private decision tree of figure 6.5: what it costs, and that it is the greedy tree where noise is small."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.private_table import Attribute, PrivateTable
from sfumato.counts.local_cuts import CodedRows
from sfumato.papers import diffgen_compared
from sfumato.papers.diffgen_compared import Node, PrivateTree, predicted
from tests.weights import examples


def table_of(sizes: list[int], numbers: list[bool]) -> PrivateTable:
    kinds = ["number" if number else "tree" for number in numbers]
    attributes = tuple(
        Attribute(name=f"a{n}", kind=kind, values=tuple(map(str, range(size))))  # type: ignore[arg-type]
        for n, (size, kind) in enumerate(zip(sizes, kinds, strict=True))
    )
    nothing = CodedRows(columns=(), counted={"class": np.zeros(0, np.int32)})
    return PrivateTable(attributes=attributes, classes=("no", "yes"), counts=nothing, target_name="class")


def literal(rows: list[tuple[int, ...]], kinds: list[int], sizes: list[int], numbers: list[bool], depth: int) -> Any:
    """The best score that one question can reach: rows of the most frequent class of every part, over all questions."""
    best = -1
    for column, (size, number) in enumerate(zip(sizes, numbers, strict=True)):
        cuts = [[[v for v in range(size) if v <= c], [v for v in range(size) if v > c]] for c in range(size - 1)]
        for parts in cuts if number else [[[v] for v in range(size)]]:
            held = [[k for row, k in zip(rows, kinds, strict=True) if row[column] in part] for part in parts]
            best = max(best, sum(max(one.count(0), one.count(1)) for one in held))
    return best


@examples(60)
@given(
    rows=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 1)), min_size=12, max_size=40),
    seed=st.integers(0, 99),
)
def test_with_a_large_budget_the_first_question_is_the_best_one(rows, seed):
    kinds = np.random.default_rng(seed).integers(0, 2, len(rows))
    sizes, numbers = [3, 5, 2], [False, True, False]
    columns = [np.array([row[n] for row in rows], np.int32) for n in range(3)]
    tree = PrivateTree(epsilon=Fraction(10**6), depth=1).grown(table_of(sizes, numbers), columns, kinds)
    assert tree.column >= 0
    hits = int((predicted(tree, columns, len(rows)) == kinds).sum())
    assert hits == literal(rows, kinds.tolist(), sizes, numbers, 1)


@pytest.mark.parametrize(("depth", "numbers"), [(1, 0), (2, 1), (3, 2)])
def test_every_path_spends_the_whole_budget_at_most(monkeypatch, depth, numbers):
    """Parts of a node are different rows: what is spent is the most that lies on one path, and is exactly epsilon."""
    spent: list[Fraction] = []
    paths: list[Fraction] = []
    real_node = diffgen_compared._Grower.node

    def node(self: Any, here: Any, left: Any, rest: int) -> Node:
        before = len(spent)
        made = real_node(self, here, left, rest)
        if made.column < 0:
            paths.append(sum(spent[:before], Fraction(0)) + sum(spent[before:], Fraction(0)))
        del spent[before:]
        return made

    class Counted:
        def __init__(self, values: Any) -> None:
            self.values = np.asarray(values) + 10**9  # never too few to go on

    def counts(values: Any, *, epsilon: Any) -> Counted:
        spent.append(Fraction(epsilon))
        return Counted(values)

    def choice(scores: Any, *, epsilon: Any, **_: Any) -> tuple[int, None]:
        spent.append(Fraction(epsilon))
        return 0, None

    monkeypatch.setattr(diffgen_compared._Grower, "node", node)
    monkeypatch.setattr(diffgen_compared, "noisy_counts", counts)
    monkeypatch.setattr(diffgen_compared, "chosen", choice)
    sizes, kinds = [3] * 5, [True] * numbers + [False] * (5 - numbers)
    columns = [np.zeros(8, np.int32) for _ in sizes]
    PrivateTree(epsilon=Fraction(7, 3), depth=depth).grown(table_of(sizes, kinds), columns, np.zeros(8, np.int64))
    assert max(paths) == Fraction(7, 3)


def test_a_tree_sends_rows_where_it_says():
    leaves = (Node(says=0), Node(says=1))
    tree = Node(says=0, column=1, cell=2, parts=leaves)
    assert predicted(tree, [np.zeros(4, np.int32), np.array([0, 2, 3, 4])], 4).tolist() == [0, 0, 1, 1]
