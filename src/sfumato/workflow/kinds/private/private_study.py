"""What a classifier makes of a differentially private release: trained on it, tried on rows that it was not made from.

The figures are the steward's: they are read off the private table, and no epsilon covers them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.chance import Chance
from sfumato.ground.work import Work
from sfumato.group.coded_rows import CodedRows
from sfumato.group.needs import refuse_lacking
from sfumato.publish.cut import ColumnCut
from sfumato.publish.noisy_table import Attribute, NoisyTable, PrivateTable
from sfumato.utility.accuracy import MOST_ROWS, STUDY
from sfumato.utility.learners import Learner, ends_read, feature_rows, learnt
from sfumato.utility.view import Reals

Rows = NDArray[np.int64]
PrivateAlgorithm = Callable[[PrivateTable, Work], NoisyTable]


def rows_behind(table: PrivateTable) -> CodedRows:
    """The single rows of a table; a source that only counts is refused."""
    refuse_lacking(table.counts, ("rows",), "accuracy on rows that were kept back")
    return cast("CodedRows", table.counts)


def split(table: PrivateTable) -> tuple[Rows, Rows]:
    """Two thirds of the rows to release from, one third to try; the same rows for the same table."""
    order = Chance(seed=STUDY).generator().permutation(rows_behind(table).rows)[:MOST_ROWS]
    tested = -(-len(order) // 3) if len(order) > 1 else 0
    return np.sort(order[tested:]), np.sort(order[:tested])


def rows_of(table: PrivateTable, rows: Rows) -> PrivateTable:
    """Some rows of a table."""
    return replace(table, counts=rows_behind(table).take(rows))


def accuracies(table: PrivateTable, learner: Learner = "tree") -> dict[str, float]:
    """What the learner reaches after the original training rows, and what the most frequent class does."""
    train, test = split(table)
    if not len(train) or not len(test):
        return {"original": 0.0, "majority": 0.0}
    behind = rows_behind(table)
    plain = [(one, rows.codes) for one, rows in zip(table.attributes, behind.columns, strict=True) if one.kind != "set"]
    parts = [_label_features(one, np.arange(len(one.values), dtype=np.int32), len(one.values)) for one, _ in plain]
    codes = behind.counted[table.target_name or ""].astype(np.int64)
    found = learnt(feature_rows(parts, [mine[train] for _, mine in plain], len(train)), codes[train], learner, STUDY)
    said = found.predict(feature_rows(parts, [mine[test] for _, mine in plain], len(test)))
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
    behind = rows_behind(table)
    known = {one.name: (one, rows) for one, rows in zip(table.attributes, behind.columns, strict=True)}
    read: list[tuple[NDArray[np.int32], ColumnCut, Reals, NDArray[np.int32]]] = []
    for place, name in enumerate(made.columns):
        cut, (one, rows) = (made.cut[place] if made.cut else None), known[name]
        if cut is None or one.kind == "set":
            continue
        read.append(
            (rows.codes[test], cut, _label_features(one, cut.of_code, len(cut.labels)), _places(made, place, cut))
        )
    groups, classes = np.nonzero(made.counts)
    many = made.counts[groups, classes]
    group, said = np.repeat(groups, many), np.repeat(classes, many).astype(np.int64)
    features = feature_rows(
        [features for _, _, features, _ in read], [places[group] for *_, places in read], len(group)
    )
    found = learnt(features, said, learner, STUDY)
    asked = [cut.of_code[codes] for codes, cut, _, _ in read]
    answers = found.predict(feature_rows([features for _, _, features, _ in read], asked, len(test)))
    return float((answers == behind.counted[table.target_name or ""][test]).mean())


def _places(made: NoisyTable, place: int, cut: ColumnCut) -> NDArray[np.int32]:
    """For each group, the place of its label in the cut."""
    names = {label: n for n, label in enumerate(cut.labels)}
    found: NDArray[np.int32] = np.array([names[label] for label in made.labels[place]], np.int32)[made.keys[place]]
    return found


def _label_features(one: Attribute, of_code: NDArray[np.int32], labels: int) -> Reals:
    """Labels x features: the ends of their numbers, or the share of their leaves under each node."""
    cover = np.equal.outer(np.arange(labels), of_code).astype(np.float64)
    cover /= np.maximum(cover.sum(axis=1, keepdims=True), 1.0)
    if one.tree is None:
        return ends_read(cover, np.array([one.edge(cell) for cell in range(len(one.values))]))
    nodes = np.stack([one.tree.covers(node) for node in range(1, len(one.tree.labels))], axis=1).astype(np.float64)
    averages: Reals = cover @ nodes
    return averages
