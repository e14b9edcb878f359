"""What a classifier makes of a differentially private release: trained on it, tried on rows that it was not made from.

The figures are the steward's: they are read off the private table, and no epsilon covers them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.chance import Chance
from sfumato.ground.work import Work
from sfumato.publish.cut import ColumnCut
from sfumato.publish.noisy_table import Attribute, NoisyTable, PrivateTable
from sfumato.utility.accuracy import MOST_ROWS, STUDY
from sfumato.utility.learners import Learner, ends_read, learnt, told
from sfumato.utility.view import Reals

Rows = NDArray[np.int64]
PrivateAlgorithm = Callable[[PrivateTable, Work], NoisyTable]


def split(table: PrivateTable) -> tuple[Rows, Rows]:
    """Two thirds of the rows to release from, one third to try; the same rows for the same table."""
    order = Chance(seed=STUDY).generator().permutation(table.rows)[:MOST_ROWS]
    tested = -(-len(order) // 3) if len(order) > 1 else 0
    return np.sort(order[tested:]), np.sort(order[:tested])


def rows_of(table: PrivateTable, rows: Rows) -> PrivateTable:
    """Some rows of a table."""
    return replace(table, attributes=tuple(_taken(one, rows) for one in table.attributes), target=table.target[rows])


def _taken(one: Attribute, rows: Rows) -> Attribute:
    if one.starts is None:
        return replace(one, codes=one.codes[rows])
    lengths = np.diff(one.starts)[rows]
    places = [np.arange(one.starts[row], one.starts[row + 1]) for row in rows]
    codes = one.codes[np.concatenate([np.zeros(0, np.int64), *places]).astype(np.int64)]
    return replace(one, codes=codes, starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def accuracies(table: PrivateTable, learner: Learner = "tree") -> dict[str, float]:
    """What the learner reaches after the original training rows, and what the most frequent class does."""
    train, test = split(table)
    if not len(train) or not len(test):
        return {"original": 0.0, "majority": 0.0}
    plain = [one for one in table.attributes if one.starts is None]
    parts = [_meaning(one, np.arange(len(one.values), dtype=np.int32), len(one.values)) for one in plain]
    codes = table.target.astype(np.int64)
    found = learnt(told(parts, [one.codes[train] for one in plain], len(train)), codes[train], learner, STUDY)
    said = found.predict(told(parts, [one.codes[test] for one in plain], len(test)))
    most = int(np.bincount(codes[train]).argmax())
    return {"original": float((said == codes[test]).mean()), "majority": float((codes[test] == most).mean())}


def released_accuracy(table: PrivateTable, run: PrivateAlgorithm, learner: Learner = "tree") -> float:
    """What the learner reaches after a release of the training rows, asked about the others in the release's labels."""
    train, test = split(table)
    made = run(rows_of(table, train), Work())
    if not made.counts.sum() or not len(test):
        return 0.0
    return _tried(made, table, test, learner)


def _tried(made: NoisyTable, table: PrivateTable, test: Rows, learner: Learner) -> float:
    known: Mapping[str, Attribute] = {one.name: one for one in table.attributes}
    read: list[tuple[Attribute, ColumnCut, Reals, NDArray[np.int32]]] = []
    for place, name in enumerate(made.columns):
        cut = made.cut[place] if made.cut else None
        if cut is None or known[name].starts is not None:
            continue
        read.append((known[name], cut, _meaning(known[name], cut.of_code, len(cut.labels)), _places(made, place, cut)))
    groups, classes = np.nonzero(made.counts)
    many = made.counts[groups, classes]
    rows, said = np.repeat(groups, many), np.repeat(classes, many).astype(np.int64)
    features = told([meaning for _, _, meaning, _ in read], [places[rows] for *_, places in read], len(rows))
    found = learnt(features, said, learner, STUDY)
    asked = [cut.of_code[one.codes[test]] for one, cut, _, _ in read]
    answers = found.predict(told([meaning for _, _, meaning, _ in read], asked, len(test)))
    return float((answers == table.target[test]).mean())


def _places(made: NoisyTable, place: int, cut: ColumnCut) -> NDArray[np.int32]:
    """For each group, the place of its label in the cut."""
    names = {label: n for n, label in enumerate(cut.labels)}
    found: NDArray[np.int32] = np.array([names[label] for label in made.labels[place]], np.int32)[made.keys[place]]
    return found


def _meaning(one: Attribute, of_code: NDArray[np.int32], labels: int) -> Reals:
    """Labels x features: the ends of their numbers, or the share of their leaves under each node."""
    cover = np.equal.outer(np.arange(labels), of_code).astype(np.float64)
    cover /= np.maximum(cover.sum(axis=1, keepdims=True), 1.0)
    if one.tree is None:
        return ends_read(cover, np.array([one.edge(cell) for cell in range(len(one.values))]))
    nodes = np.stack([one.tree.covers(node) for node in range(1, len(one.tree.labels))], axis=1).astype(np.float64)
    averages: Reals = cover @ nodes
    return averages
