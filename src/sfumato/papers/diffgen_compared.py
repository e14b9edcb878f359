"""DiffGen, a private decision tree, and top-down specialization on Adult: figure 6.5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.diffgen import DiffGen
from sfumato.algorithms.private_table import PrivateTable
from sfumato.algorithms.top_down import TopDown
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.dp.noise import noisy_counts
from sfumato.dp.selection import chosen
from sfumato.papers.diffgen_adult import Trial, behind, trial_of
from sfumato.papers.lkc import prepared_whole
from sfumato.papers.setup import adult_data, by_epsilon
from sfumato.pipeline.methods.table.studies import study
from sfumato.reports.papers import Beside, Grid, Shown

# A decision tree that asks differentially private questions: DiffP-C4.5 of Friedman and Schuster (2010).
#
# The tree is grown from the top. A node asks for its noisy size; where that is large enough it chooses a split point
# for every number and then an attribute, each by a private choice scored by the Max operator (how many rows the most
# frequent classes of the parts have: one row moves it by at most 1). A leaf asks for noisy counts of its classes. The
# rows of two nodes of one level are different rows, so a level costs what one node costs: one count, n split points
# and one choice. With n numbers and depth d everything costs (2 + n) d + 2 equal parts of epsilon.


Codes = NDArray[Any]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node: what it says, and where it sends a row."""

    says: int
    """The most frequent class of its rows, by noisy counts; of an inner node, not used."""
    column: int = -1
    """The attribute that it asks for; -1 in a leaf."""
    cell: int = -1
    """Of a number, the last cell that goes to the first part; -1 of a category."""
    parts: tuple[Node, ...] = ()
    """One for each part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateTree:
    """Grows a tree whose every question is paid from epsilon."""

    epsilon: Fraction
    """Of the whole tree."""
    depth: int = 5
    """How many questions lead to a leaf at most."""

    def grown(self, table: PrivateTable, columns: Sequence[Codes], kinds: Codes) -> Node:
        """A tree over declared domains; ``columns`` and ``kinds`` are the codes of the rows."""
        numbers = [n for n, attribute in enumerate(table.attributes) if attribute.kind == "number"]
        part = Fraction(self.epsilon) / ((2 + len(numbers)) * self.depth + 2)
        sizes = [len(attribute.values) for attribute in table.attributes]
        grower = _Grower(columns, kinds, len(table.classes), sizes, frozenset(numbers), part)
        return grower.node(np.ones(len(kinds), np.bool_), tuple(range(len(sizes))), self.depth)


def predicted(tree: Node, columns: Sequence[Codes], rows: int) -> Codes:
    """The class of every row."""
    predictions = np.zeros(rows, np.int64)
    waiting = [(tree, np.arange(rows))]
    while waiting:
        node, here = waiting.pop()
        if node.column < 0:
            predictions[here] = node.says
            continue
        codes = columns[node.column][here]
        side = codes if node.cell < 0 else (codes > node.cell).astype(np.int64)
        waiting += [(child, here[side == n]) for n, child in enumerate(node.parts)]
    return predictions


class _Grower:
    def __init__(
        self,
        columns: Sequence[Codes],
        kinds: Codes,
        classes: int,
        sizes: Sequence[int],
        numbers: frozenset[int],
        part: Fraction,
    ) -> None:
        self.columns, self.kinds, self.classes, self.sizes = columns, kinds, classes, sizes
        self.numbers, self.part = numbers, part
        self.widest = max((size for n, size in enumerate(sizes) if n not in numbers), default=2)

    def node(self, here: Mask, left: tuple[int, ...], depth: int) -> Node:
        size = int(noisy_counts(np.array([here.sum()]), epsilon=self.part).values[0])
        if not left or not depth or size / (self.widest * self.classes) < sqrt(2) / float(self.part):
            counts = np.bincount(self.kinds[here], minlength=self.classes)
            return Node(says=int(noisy_counts(counts, epsilon=self.part).values.argmax()))
        tables = {n: self._counts(n, here) for n in left}
        cells = {n: self._split(tables[n]) for n in left if n in self.numbers}
        scores = [self._max(tables[n], cells.get(n, -1)) for n in left]
        column = left[chosen(scores, sensitivity=1, epsilon=self.part, monotonic=True)[0]]
        codes, cell = self.columns[column], cells.get(column, -1)
        side = codes if cell < 0 else (codes > cell).astype(np.int64)
        rest = left if column in self.numbers else tuple(n for n in left if n != column)
        many = self.sizes[column] if cell < 0 else 2
        parts = tuple(self.node(here & (side == n), rest, depth - 1) for n in range(many))
        return Node(says=0, column=column, cell=cell, parts=parts)

    def _counts(self, column: int, here: Mask) -> NDArray[np.int64]:
        """Values x classes."""
        codes = self.columns[column][here].astype(np.int64) * self.classes + self.kinds[here]
        return np.bincount(codes, minlength=self.sizes[column] * self.classes).reshape(-1, self.classes)

    def _split(self, table: NDArray[np.int64]) -> int:
        """A split point among all cells of the grid but the last."""
        if len(table) < 2:
            return 0
        below = table.cumsum(axis=0)[:-1]
        scores = below.max(axis=1) + (table.sum(axis=0) - below).max(axis=1)
        return chosen(scores, sensitivity=1, epsilon=self.part, monotonic=True)[0]

    def _max(self, table: NDArray[np.int64], cell: int) -> float:
        if cell >= 0:
            below = table[: cell + 1].sum(axis=0)
            return float(below.max() + (table.sum(axis=0) - below).max())
        return float(table.max(axis=1).sum())


# DiffGen, a private decision tree and top-down specialization on Adult: figure 6.5 of the thesis.


FOLDS, STEPS, K, DEPTH = 10, 15, 5, 5
NAMES = ("DiffGen", "private tree", "top-down, k = 5")


def accuracy(*, full: bool, work: Work) -> Shown:
    """Figure 6.5: accuracies of a cross-validation, by budget."""
    epsilons = ("0.5", "0.75", "1", "2", "3", "4") if full else ("0.5", "1", "4")
    runs, folds = (10, FOLDS) if full else (1, 2)
    frame = adult_data().frame
    fold = Chance(seed=1).generator().permutation(frame.height) % FOLDS
    accuracies: dict[tuple[str, str], list[float]] = {(name, e): [] for name in NAMES[:2] for e in epsilons}
    released = []
    for number in range(folds):
        trial = trial_of(frame, fold != number)
        released.append(_top_down(fold != number, work))
        for place, e in enumerate(epsilons):
            work.advance("folds", number * len(epsilons) + place, folds * len(epsilons))
            for _ in range(runs):
                release = DiffGen(epsilon=e, specializations=STEPS)(trial.train, work)
                accuracies[NAMES[0], e].append(100 * trial.accuracy(release))
                accuracies[NAMES[1], e].append(100 * _tree(trial, e))
    mean = {key: fmean(values) for key, values in accuracies.items()}
    top_down = 100 * fmean(released)
    comparisons = _stated(mean, epsilons, top_down)
    chart = by_epsilon(mean, {name: name for name in NAMES[:2]}, epsilons, {NAMES[2]: top_down}, "accuracy by epsilon")
    rows = [[name, *(f"{mean[name, e]:.2f}" for e in epsilons)] for name in NAMES[:2]]
    rows.append([NAMES[2], *(f"{top_down:.2f}" for _ in epsilons)])
    title = f"accuracy in %, {folds} of {FOLDS} folds, {runs} run{'s' * (runs > 1)} each"
    grid = Grid(title=title, heads=["", *epsilons], rows=rows)
    return Shown(data=adult_data().words, beside=comparisons, grids=[grid], panels=[chart])


def _stated(mean: Mapping[tuple[str, str], float], epsilons: Sequence[str], top_down: float) -> list[Beside]:
    """What the thesis says about the three."""
    small = [e for e in epsilons if float(e) <= 2]
    large = [e for e in epsilons if float(e) > 2]
    return [
        Beside(
            what="DiffGen beside the private tree, in points, epsilon up to 2",
            theirs="clearly better",
            ours=", ".join(f"{mean[NAMES[0], e] - mean[NAMES[1], e]:+.1f} at {e}" for e in small),
            holds=all(mean[NAMES[0], e] > mean[NAMES[1], e] for e in small),
            why="The thesis takes the tree's figures from its own paper; here it is built again, with the Max operator "
            f"and depth {DEPTH}, and without the pruning that follows the growing.",
        ),
        Beside(
            what="DiffGen beside the private tree, in points, larger epsilon",
            theirs="comparable",
            ours=", ".join(f"{mean[NAMES[0], e] - mean[NAMES[1], e]:+.1f} at {e}" for e in large),
        ),
        Beside(
            what=f"DiffGen beside top-down specialization with k = {K} ({top_down:.1f} %), in points",
            theirs="better",
            ours=", ".join(f"{mean[NAMES[0], e] - top_down:+.1f} at {e}" for e in epsilons),
            holds=all(mean[NAMES[0], e] > top_down for e in epsilons if float(e) >= 1),
        ),
    ]


def _tree(trial: Trial, epsilon: str) -> float:
    columns, kinds = behind(trial.train)
    tree = PrivateTree(epsilon=Fraction(epsilon), depth=DEPTH).grown(trial.train, columns, kinds)
    others, truth = behind(trial.test)
    return float((predicted(tree, others, len(truth)) == truth).mean())


def _top_down(train: np.ndarray[Any, np.dtype[np.bool_]], work: Work) -> float:
    """The accuracy on one fold of a tree that learns from k-anonymous records."""
    preparation = prepared_whole({"k_anonymity": K})
    return 1 - study(preparation, "tree", train).errors(TopDown()(preparation.problem, work)).released
