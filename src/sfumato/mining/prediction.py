"""Routes records to leaves, predicts classes, and measures the quality of shared models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import DataError, ParameterError
from sfumato.counts.keys import distinct
from sfumato.mining.records import Records, read_like
from sfumato.mining.rule_document import last_asked
from sfumato.mining.tree_document import TreeDocument, Whole

# Records find their leaves: all records take one edge at a time together.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Edges:
    """The edges that ask for one attribute: pieces in order of node, then of where they begin."""

    starts: NDArray[Any]
    """All values at which a piece of any node begins, ascending."""
    keys: Whole
    """Node and rank of the start, in one number."""
    children: Whole
    """Where each piece leads."""


def records_for(tree: TreeDocument, rows: Any) -> Records:
    """Rows as records of a tree's attributes; a frame is read, unknown values stay unknown."""
    if not isinstance(rows, Records):
        return read_like(rows, attributes=tree.attributes, target=tree.target, classes=tree.classes)
    if rows.attributes == tree.attributes:
        return rows
    names = [attribute.name for attribute in rows.attributes]
    known = dict(zip(names, zip(rows.attributes, rows.columns, strict=True), strict=True))
    columns = []
    for attribute in tree.attributes:
        if attribute.name not in known or known[attribute.name][0].domain != attribute.domain:
            raise ParameterError(f"the records have no attribute {attribute.name!r} with the domain of the tree")
        columns.append(known[attribute.name][1])
    return Records(
        attributes=tree.attributes, columns=tuple(columns), target=rows.target, classes=rows.classes, codes=rows.codes
    )


def leaves_of(tree: TreeDocument, rows: Any) -> Whole:
    """The leaf of every record, by node.

    A number beyond the domain counts as its end; a value that the domain does not have goes where most records went.
    """
    if tree.empty:
        raise DataError("the tree is empty; it says nothing about any record")
    records = records_for(tree, rows)
    edges = {place: _edges(tree, place) for place in np.unique(tree.split[tree.split >= 0]).tolist()}
    usual = _usual(tree)
    nodes = np.zeros(records.count, np.int64)
    waiting = np.arange(records.count) if tree.split[0] >= 0 else np.zeros(0, np.int64)
    while len(waiting):
        splits = tree.split[nodes[waiting]]
        for place in np.unique(splits).tolist():
            some = waiting[splits == place]
            nodes[some] = _next(tree, edges[place], place, nodes[some], records.columns[place][some], usual)
        waiting = waiting[tree.split[nodes[waiting]] >= 0]
    return nodes


def predicted(tree: TreeDocument, rows: Any) -> Whole:
    """The class of every record, by code."""
    return np.asarray(tree.says[leaves_of(tree, rows)])


def predict(tree: TreeDocument, rows: Any) -> NDArray[np.object_]:
    """The class of every record, by name."""
    return np.array(tree.classes, object)[predicted(tree, rows)]


def _edges(tree: TreeDocument, place: int) -> _Edges:
    """The pieces of all edges that ask for an attribute."""
    numeric = tree.attributes[place].numeric
    asking = np.flatnonzero(tree.split == place)
    children = [child for node in asking.tolist() for child in tree.children[node]]
    pieces = [(piece[0] if numeric else piece, child) for child in children for piece in tree.labels[child]]
    begin = np.array([start for start, _ in pieces])
    leads = np.array([child for _, child in pieces], np.int64)
    starts, ranks = np.unique(begin, return_inverse=True)
    keys = tree.parent[leads] * (len(starts) + 1) + ranks + 1
    order = np.argsort(keys, kind="stable")
    return _Edges(starts=starts, keys=keys[order], children=leads[order])


def _next(tree: TreeDocument, edges: _Edges, place: int, nodes: Whole, values: NDArray[Any], usual: Whole) -> Whole:
    """The node below for each record."""
    attribute = tree.attributes[place]
    if attribute.numeric:
        low, high = attribute.whole[0]  # type: ignore[misc]
        unknown = np.isnan(values)
        ranks = np.searchsorted(edges.starts, np.clip(np.where(unknown, low, values), low, high), side="right")
    else:
        ranks = np.searchsorted(edges.starts, values, side="right")
        unknown = values < 0
    keys = nodes * (len(edges.starts) + 1) + ranks
    piece = np.maximum(np.searchsorted(edges.keys, keys, side="right") - 1, 0)
    leads = edges.children[piece]
    lost = unknown | (tree.parent[leads] != nodes)
    if not attribute.numeric:
        lost |= edges.keys[piece] != keys
    return np.asarray(np.where(lost, usual[nodes], leads))


def _usual(tree: TreeDocument) -> Whole:
    """For each node the child with the most records."""
    held = subtree_records(tree)
    usual_child = np.full(tree.nodes, -1, np.int64)
    for node, below in enumerate(tree.children):
        if below:
            usual_child[node] = max(below, key=lambda child: (held[child], -child))
    return usual_child


def subtree_records(tree: TreeDocument) -> Whole:
    """How many records lie below each node."""
    held: list[int] = (tree.hit + tree.miss).tolist()
    for node in range(tree.nodes - 1, 0, -1):
        held[int(tree.parent[node])] += held[node]
    return np.array(held, np.int64)


# How good a shared model is: accuracy, class match, path match and the classification metric (section 7.1).


def share_right(predictions: NDArray[Any], records: Records) -> float:
    """Accuracy: the share of records whose class is told rightly."""
    return _share(np.asarray(predictions) == records.codes)


def class_match(predictions: NDArray[Any], other: NDArray[Any]) -> float:
    """The share of records that two models classify alike."""
    return _share(np.asarray(predictions) == np.asarray(other))


def _share(right: NDArray[np.bool_]) -> float:
    if not len(right):
        raise ParameterError("there are no records to measure with")
    return float(right.mean())


def path_match(first_tree: TreeDocument, other: TreeDocument) -> float:
    """Paths that two trees share, as a share of the paths of either; a path is its label.

    Two empty trees share everything there is.
    """
    mine, theirs = (_paths(tree) for tree in (first_tree, other))
    return len(mine & theirs) / len(mine | theirs) if mine or theirs else 1.0


def _paths(tree: TreeDocument) -> frozenset[Any]:
    """The labels of all paths; each edge's label is spelt out once."""
    labels: list[Any] = [None]
    for node, above in enumerate(tree.parent.tolist()[1:], start=1):
        attribute = tree.attributes[int(tree.split[above])]
        labels.append((attribute.name, _said(attribute, tree.labels[node])))
    return frozenset(frozenset(labels[node] for node in path.values()) for path in last_asked(tree))


def _said(attribute: Any, label: Any) -> Any:
    """A label that reads alike in trees whose domains list their values in another order."""
    return label if attribute.numeric else frozenset(attribute.domain.values[code] for code in label)


def classification_metric(records: Records, suppressed: int = 0) -> float:
    """CM: the share of rows that are suppressed or not of the most frequent class among rows with equal attributes.

    Source: Iyengar 2002; document 004, section 7.3, where attributes that no path asks for are left out of pseudo-data.
    """
    parts, sizes = [], []
    for attribute, column in zip(records.attributes, records.columns, strict=True):
        codes = np.unique(column, return_inverse=True)[1] if attribute.numeric else column
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
