"""Trees and forests of scikit-learn as documents: thresholds on its features become labels of attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, nextafter
from typing import Any

import numpy as np

from sfumato.core.errors import DataError, ParameterError
from sfumato.core.extras import require
from sfumato.mining.attributes import Attribute, Label, Spans, grid_cut
from sfumato.mining.node_rows import GrownTree
from sfumato.mining.prediction import leaves_of
from sfumato.mining.records import Records
from sfumato.mining.tree_document import TreeDocument
from sfumato.tables.schema import Categories, Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """What one column of a learner's matrix stands for."""

    attribute: int
    """The attribute, by place."""
    value: int | None = None
    """Of a one-hot column the value that it marks; None for numbers and for codes."""


def features_of(attributes: Sequence[Attribute], *, one_hot: bool = True) -> tuple[Feature, ...]:
    """The features of ``Records.matrix``."""
    features = []
    for place, attribute in enumerate(attributes):
        if isinstance(attribute.domain, Categories) and one_hot:
            features += [Feature(attribute=place, value=code) for code in range(len(attribute.domain.values))]
        else:
            features.append(Feature(attribute=place))
    return tuple(features)


def tree_from_sklearn(estimator: Any, records: Records, *, one_hot: bool = True) -> TreeDocument:
    """A fitted ``DecisionTreeClassifier`` as a document, with the counts of the records that it was fitted on.

    Claim: the document sends every one of the records where the estimator sends it, and its counts are theirs. The
        estimator was fitted on ``records.matrix(one_hot=...)`` and ``records.codes``.
    How: a one-hot column becomes a set of values, a column of codes a set of codes, a number an interval: the first
        mark of its grid above the threshold, or the next float. Counts are taken from the records, for an estimator
        may have seen weights or a bootstrap sample.
    Needs: scikit-learn.
    """
    require("sklearn", "a tree of scikit-learn")
    tree = getattr(estimator, "tree_", None)
    features = features_of(records.attributes, one_hot=one_hot)
    if tree is None or not hasattr(estimator, "classes_"):
        raise ParameterError("estimator must be a fitted DecisionTreeClassifier")
    if tree.n_features != len(features):
        raise ParameterError(f"the estimator has {tree.n_features} features, the records give {len(features)}")
    if (records.codes < 0).any():
        raise DataError("a tree is counted by records with a known class")
    matrix = records.matrix(one_hot=one_hot)
    reached = np.asarray(estimator.decision_path(matrix).tocsc().astype(np.int64).T @ _marked(records))
    document = _document(tree, features, records, reached)
    _refuse_other_ways(document, records)
    return document


def _refuse_other_ways(tree: TreeDocument, records: Records) -> None:
    """The estimator reads numbers in single precision; where that sends a record elsewhere, counts would be wrong."""
    counts = np.zeros((tree.nodes, len(tree.classes)), np.int64)
    np.add.at(counts, (leaves_of(tree, records), records.codes), 1)
    strange = 0 if tree.counts is None else int(np.abs(counts - tree.counts).sum()) // 2
    if strange:
        raise DataError(
            f"{strange} records lie so near to a threshold that the estimator, which reads numbers in single "
            "precision, sends them elsewhere; round the numbers, or declare a grid"
        )


def forest_from_sklearn(forest: Any, records: Records, *, one_hot: bool = True) -> tuple[TreeDocument, ...]:
    """The trees of a fitted ``RandomForestClassifier`` or ``BaggingClassifier`` on all features, one by one."""
    members = getattr(forest, "estimators_", None)
    if members is None:
        raise ParameterError("forest must be a fitted ensemble of trees")
    return tuple(tree_from_sklearn(member, records, one_hot=one_hot) for member in np.ravel(members))


def _marked(records: Records) -> Any:
    """Records x classes: a one for the class of each."""
    return np.eye(len(records.classes), dtype=np.int64)[records.codes]


def _document(tree: Any, features: Sequence[Feature], records: Records, reached: Any) -> TreeDocument:
    grown = GrownTree(reached[0], [attribute.whole for attribute in records.attributes])
    waiting = [(0, 0)]
    while waiting:
        theirs, mine = waiting.pop()
        if tree.children_left[theirs] < 0:
            continue
        feature = features[int(tree.feature[theirs])]
        attribute = records.attributes[feature.attribute]
        held = grown.held(mine, feature.attribute)
        labels = _sides(attribute, feature, held, float(tree.threshold[theirs]))
        kids = [int(tree.children_left[theirs]), int(tree.children_right[theirs])]
        if not all(labels):
            raise DataError(f"the estimator splits {attribute.name!r} where its domain has nothing on one side")
        new = grown.split(mine, feature.attribute, labels, [reached[node] for node in kids])
        waiting += list(zip(kids, new, strict=True))
    return grown.document(records)


def _sides(attribute: Attribute, feature: Feature, held: Label, threshold: float) -> list[Label]:
    """What is left of a label up to a threshold, and above it."""
    if isinstance(attribute.domain, Numbers):
        cut = _above(attribute.domain, threshold)
        left: Spans = tuple((low, min(high, cut)) for low, high in held if low < cut)  # type: ignore[misc]
        right: Spans = tuple((max(low, cut), high) for low, high in held if high > cut)  # type: ignore[misc]
        return [left, right]
    codes = [code for code in held if isinstance(code, int)]
    lower = [code <= threshold if feature.value is None else code != feature.value for code in codes]
    pairs = list(zip(codes, lower, strict=True))
    return [tuple(code for code, yes in pairs if yes), tuple(code for code, yes in pairs if not yes)]


def _above(domain: Numbers, threshold: float) -> float:
    """The smallest cut with the threshold below it."""
    if domain.grid is None:
        return nextafter(threshold, np.inf)
    return grid_cut(domain, floor((threshold - domain.low) / domain.grid + 1e-9) + 1)
