"""How good a shared model is: accuracy, class match, path match and the classification metric (section 7.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import ParameterError
from sfumato.group.keys import distinct
from sfumato.mine.records import Records
from sfumato.mine.rule_document import last_asked
from sfumato.mine.tree_document import TreeDocument


def share_right(said: NDArray[Any], records: Records) -> float:
    """Accuracy: the share of records whose class is told rightly."""
    return _share(np.asarray(said) == records.codes)


def class_match(said: NDArray[Any], other: NDArray[Any]) -> float:
    """The share of records that two models classify alike."""
    return _share(np.asarray(said) == np.asarray(other))


def _share(right: NDArray[np.bool_]) -> float:
    if not len(right):
        raise ParameterError("there are no records to measure with")
    return float(right.mean())


def path_match(one: TreeDocument, other: TreeDocument) -> float:
    """Paths that two trees share, as a share of the paths of either; a path is its label.

    Two empty trees share everything there is.
    """
    mine, theirs = (_paths(tree) for tree in (one, other))
    return len(mine & theirs) / len(mine | theirs) if mine or theirs else 1.0


def _paths(tree: TreeDocument) -> frozenset[Any]:
    """The labels of all paths; each edge's label is spelt out once."""
    said: list[Any] = [None]
    for node, above in enumerate(tree.parent.tolist()[1:], start=1):
        attribute = tree.attributes[int(tree.split[above])]
        said.append((attribute.name, _said(attribute, tree.labels[node])))
    return frozenset(frozenset(said[node] for node in path.values()) for path in last_asked(tree))


def _said(attribute: Any, label: Any) -> Any:
    """A label that reads alike in trees whose domains list their values in another order."""
    return label if attribute.numeric else frozenset(attribute.domain.values[code] for code in label)


def classification_metric(records: Records, suppressed: int = 0) -> float:
    """CM: the share of rows that are suppressed or not of the most frequent class among rows with equal attributes.

    Source: Iyengar 2002; document 004, section 7.3, where attributes that no path asks for are left out of pseudo-data.
    """
    parts, sizes = [], []
    for one, column in zip(records.attributes, records.columns, strict=True):
        codes = np.unique(column, return_inverse=True)[1] if one.numeric else column
        parts.append(np.asarray(codes, np.int32))
        sizes.append(int(codes.max(initial=0)) + 1)
    ids, count = distinct(parts, sizes, records.count)
    classes = len(records.classes)
    counts = np.bincount(ids * classes + records.codes, minlength=count * classes).reshape(-1, classes)
    whole = records.count + suppressed
    return float(whole - counts.max(axis=1, initial=0).sum()) / max(whole, 1)


def asked_for(tree: TreeDocument) -> tuple[str, ...]:
    """The attributes that any path of a tree asks for."""
    used = np.unique(tree.split[tree.split >= 0]).tolist()
    return tuple(tree.attributes[place].name for place in used)
