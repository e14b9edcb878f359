"""Decision trees from randomized answers: reconstructed globally, by class, or by class anew in every node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sfumato.collection.channels import Evidence, Reals, Whole
from sfumato.collection.mechanisms import NoisyNumber
from sfumato.collection.reconstruction import Stopping
from sfumato.collection.region_counts import (
    Asked,
    JointCounts,
    JointGrowing,
    Node,
    Split,
    associated,
    best_of,
    by_class,
    cells_for,
    channel_of,
    classes_of,
    columns_of,
    is_worth,
    pruned,
    shown_evidence,
    split_on,
    true_cells,
)
from sfumato.core.arguments import at_least, one_of
from sfumato.core.extras import extra
from sfumato.core.randomness import Chance

extra("sklearn.base", "mining on distributions")

from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402

Reconstruction = Literal["global", "by-class", "local", "joint", "none"]
RECONSTRUCTIONS = ("global", "by-class", "local", "joint", "none")


@dataclass(slots=True, eq=False)
class _Records:
    """The records of a node."""

    rows: Whole
    """Their places."""
    cells: Whole
    """Columns x records: the cell of each."""
    settled: frozenset[int]
    """The columns that split a node above: their cells stay, since what is left was chosen by its noise too."""


class ReconstructedTree(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns from randomized numbers and categories and true classes, and classifies records that were not randomized.

    ``global`` reconstructs every column once; ``by-class`` once for every class; ``local`` by class in every node.
    ``joint`` grows on counts alone: those of a node come from the joint distribution of the columns above it and one
    more, by class, so that no record has to be put into a cell. ``none`` takes values as they are: true ones, or shown
    ones as if they were true. Categories are split into two parts; where records are put into cells, lots decide who of
    those that show the same goes where.

    Claim: what is learnt depends on shown values and classes alone. In a local node the columns that split above keep
        their cells: their records were chosen by noise, so the law of the noise no longer holds for them.
    Source: Agrawal and Srikant 2000 (Global, ByClass, Local; gini as in SPRINT); document 000, section 20.2.2.
    """

    def __init__(
        self,
        questions: Sequence[Asked] = (),
        *,
        reconstruction: Reconstruction = "by-class",
        stopping: Stopping | None = None,
        cells: int | None = None,
        max_depth: int = 12,
        min_leaf: int = 50,
        doubts: float = 2.0,
        random_state: int = 0,
    ) -> None:
        """Remember how to fit; a split must save more errors than so many standard deviations of them."""
        self.questions, self.reconstruction, self.stopping = questions, reconstruction, stopping
        self.cells, self.max_depth, self.min_leaf, self.doubts = cells, max_depth, min_leaf, doubts
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> ReconstructedTree:  # noqa: N803
        """Grow a tree from shown records, and prune it."""
        one_of("reconstruction", self.reconstruction, RECONSTRUCTIONS)
        at_least("max_depth", self.max_depth, 1)
        at_least("min_leaf", self.min_leaf, 1)
        given = [
            _read(question, column)
            for question, column in zip(self.questions, columns_of(X, self.questions), strict=True)
        ]
        self.classes_, codes = classes_of(y, len(given[0]))
        self.n_features_in_ = len(self.questions)
        cells = self.cells or cells_for(len(codes))
        self.channels_ = [channel_of(question, cells) for question in self.questions]
        if self.reconstruction == "joint":
            counts = JointCounts(self.questions, given, codes, len(self.classes_), self.stopping)
            whole = JointGrowing(counts=counts, max_depth=self.max_depth, min_leaf=self.min_leaf).node({})
        else:
            grown = _Grown(self, given, codes, self._evidence(given, cells))
            whole = grown.node(grown.root(), 0)
        self.root_ = pruned(whole, self.doubts)
        return self

    def _evidence(self, given: Sequence[Any], cells: int) -> list[Evidence] | None:
        if self.reconstruction == "none":
            return None
        return [shown_evidence(question, column, cells) for question, column in zip(self.questions, given, strict=True)]

    def predict_proba(self, X: Any) -> Reals:  # noqa: N803
        """The shares of the classes in every record's leaf."""
        check_is_fitted(self)
        given = zip(self.questions, self.channels_, columns_of(X, self.questions), strict=True)
        columns = [
            _read(q, each) if channel.edges is not None else true_cells(q, channel, each) for q, channel, each in given
        ]
        rows = len(columns[0])
        probabilities = np.empty((rows, len(self.classes_)))
        waiting: list[tuple[Node, Whole]] = [(self.root_, np.arange(rows))]
        while waiting:
            node, some = waiting.pop()
            if node.split is None:
                probabilities[some] = node.counts / node.counts.sum()
                continue
            first = node.split.first(columns[node.split.column][some])
            waiting += [(node.children[0], some[first]), (node.children[1], some[~first])]
        return probabilities

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The most frequent class of every record's leaf."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _read(question: Asked, column: Any) -> Any:
    return np.asarray(column, np.float64) if isinstance(question, NoisyNumber) else np.asarray(column)


class _Grown:
    """The growing of one tree."""

    def __init__(self, tree: ReconstructedTree, given: Sequence[Any], codes: Whole, seen: list[Evidence] | None):
        self.tree, self.given, self.codes, self.seen = tree, given, codes, seen
        self.many = len(tree.classes_)
        draw = Chance(seed=tree.random_state).generator()
        self.lots = [draw.permutation(len(codes)) for _ in given]
        self.edges = [channel.edges for channel in tree.channels_]

    def root(self) -> _Records:
        """All records, in the cells in which the mode begins."""
        rows = np.arange(len(self.codes))
        if self.seen is None:
            columns = zip(self.tree.questions, self.tree.channels_, self.given, strict=True)
            cells = [true_cells(*triple) for triple in columns]
        elif self.tree.reconstruction == "global":
            parts = zip(self.seen, self.given, self.lots, strict=True)
            cells = [associated(seen, answers, self.tree.stopping, lots) for seen, answers, lots in parts]
        else:
            cells = [self._by_class(column, rows) for column in range(len(self.given))]
        return _Records(rows=rows, cells=np.array(cells), settled=frozenset())

    def _by_class(self, column: int, rows: Whole) -> Whole:
        if self.seen is None:
            raise TypeError("values that were not randomized are not reconstructed")
        seen, lots = self.seen[column].take(rows), self.lots[column][rows]
        return by_class(seen, self.given[column][rows], self.codes[rows], self.many, self.tree.stopping, lots)

    def node(self, held: _Records, depth: int) -> Node:
        """A node with everything below it."""
        codes = self.codes[held.rows]
        counts = np.bincount(codes, minlength=self.many).astype(np.float64)
        if depth >= self.tree.max_depth or not is_worth(counts, self.tree.min_leaf):
            return Node(counts=counts)
        if self.tree.reconstruction == "local" and depth:
            for column in set(range(len(self.given))) - held.settled:
                held.cells[column] = self._by_class(column, held.rows)
        split = best_of(self._split(column, held.cells[column], codes) for column in range(len(self.given)))
        if split is None:
            return Node(counts=counts)
        edges, cells = self.edges[split.column], held.cells[split.column]
        first = split.first(cells if edges is None else edges[cells])
        parts = [self._part(held, some, split) for some in (first, ~first)]
        return Node(counts=counts, split=split, children=tuple(self.node(part, depth + 1) for part in parts))

    def _split(self, column: int, cells: Whole, codes: Whole) -> Split | None:
        size = self.tree.channels_[column].cells
        table = np.bincount(cells * self.many + codes, minlength=size * self.many).reshape(size, self.many)
        return split_on(column, table.astype(np.float64), self.edges[column], self.tree.min_leaf)

    def _part(self, held: _Records, some: Any, split: Split) -> _Records:
        return _Records(rows=held.rows[some], cells=held.cells[:, some], settled=held.settled | {split.column})
