"""Trees to JSON and back: a flat list of nodes, so that nothing is nested deeply and no node is below itself."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from sfumato.ground.errors import DataError
from sfumato.ground.limits import MOST_CELLS
from sfumato.mine.document_parts import (
    SCHEMA,
    attributes_of,
    figures_of,
    head_json,
    keyed,
    label_json,
    label_of,
    many,
    opened,
    parsed,
    places_of,
    target_of,
)
from sfumato.mine.edge_labels import Attribute, Label
from sfumato.mine.tree_checks import MOST_TREE_NODES, refuse_bad_head
from sfumato.mine.tree_document import TreeDocument

KIND = "sfumato-tree"


def tree_json(tree: TreeDocument) -> dict[str, Any]:
    """The document of a tree as an object for ``json.dumps``.

    Leaves tell their counts where the tree has them, else hit and miss; other nodes tell none, for theirs follow.
    """
    nodes = []
    for node, (above, split) in enumerate(zip(tree.parent.tolist(), tree.split.tolist(), strict=True)):
        one: dict[str, Any] = {}
        if above >= 0:
            attribute = tree.attributes[int(tree.split[above])]
            one = {"parent": above, "edge": label_json(attribute, tree.labels[node])}
        if split >= 0:
            one["split"] = tree.attributes[split].name
        else:
            one["class"] = tree.classes[int(tree.says[node])]
            if tree.counts is None:
                one |= {"hit": int(tree.hit[node]), "miss": int(tree.miss[node])}
            else:
                one["counts"] = tree.counts[node].tolist()
        nodes.append(one)
    return {
        "document": KIND,
        "schema": SCHEMA,
        **head_json(tree.attributes, tree.target, tree.classes),
        "nodes": nodes,
    }


def write_tree(tree: TreeDocument) -> str:
    """The document of a tree as a text; equal trees give equal texts."""
    return json.dumps(tree_json(tree), ensure_ascii=False, separators=(",", ":"))


def read_tree(text: str) -> TreeDocument:
    """The tree in a text from anybody, or a refusal that says where it is none.

    >>> read_tree('{"document": "sfumato-tree", "schema": 2}')
    Traceback (most recent call last):
    sfumato.ground.errors.DataError: the document has schema 2; this version reads schema 1
    """
    return tree_of(parsed(text, KIND))


def tree_of(found: Any) -> TreeDocument:
    """The tree in an object that was read from JSON."""
    part = keyed(opened(found, KIND), "the document", ("document", "schema", "target", "attributes", "nodes"))
    attributes = attributes_of(part["attributes"])
    target, classes = target_of(part["target"])
    refuse_bad_head(attributes, target, classes)
    nodes = many(part["nodes"], "nodes")
    if len(nodes) > MOST_TREE_NODES or len(nodes) * len(classes) > MOST_CELLS:
        raise DataError(
            f"the tree has {len(nodes):,} nodes and {len(classes):,} classes; at most {MOST_TREE_NODES:,} nodes and "
            f"{MOST_CELLS:,} counts are read"
        )
    return _built(attributes, target, classes, nodes)


def _built(attributes: tuple[Attribute, ...], target: str, classes: tuple[str, ...], nodes: list[Any]) -> TreeDocument:
    named = {one.name: place for place, one in enumerate(attributes)}
    values, places = places_of(attributes), {name: code for code, name in enumerate(classes)}
    parent, split = np.full(len(nodes), -1, np.int64), np.full(len(nodes), -1, np.int64)
    says, hit, miss = np.full(len(nodes), -1, np.int64), np.zeros(len(nodes), np.int64), np.zeros(len(nodes), np.int64)
    labels: list[Label] = []
    counted: dict[int, Any] = {}
    leaves = 0
    for node, one in enumerate(nodes):
        where = f"node {node}"
        keyed(one, where, (), ("parent", "edge", "split", "class", "hit", "miss", "counts"))
        parent[node], label = _edge(one, node, split, attributes, values)
        labels.append(label)
        if "split" in one:
            keyed(one, f"{where}, which has a split,", ("split",), ("parent", "edge"))
            if not isinstance(one["split"], str) or one["split"] not in named:
                raise DataError(f"{where} splits by {str(one['split'])[:60]!r}, which is no attribute")
            split[node] = named[one["split"]]
            continue
        leaves += 1
        says[node], hit[node], miss[node], counts = figures_of(one, classes, places, where)
        if counts is not None:
            counted[node] = counts
    if counted and len(counted) < leaves:
        raise DataError("some leaves have counts and some hit and miss; all must tell the same")
    table = None
    if counted:
        table = np.zeros((len(nodes), len(classes)), np.int64)
        table[list(counted)] = list(counted.values())
    return TreeDocument(
        attributes=attributes,
        target=target,
        classes=classes,
        parent=parent,
        split=split,
        labels=tuple(labels),
        says=says,
        hit=hit,
        miss=miss,
        counts=table,
    )


def _edge(
    one: dict[str, Any], node: int, split: Any, attributes: tuple[Attribute, ...], values: list[dict[str, int]]
) -> tuple[int, Label]:
    """The parent of a node, and the label of the edge to it."""
    if node == 0:
        if {"parent", "edge"} & set(one):
            raise DataError("node 0 is the root; it has neither parent nor edge")
        return -1, ()
    keyed(one, f"node {node}", ("parent", "edge"), tuple(one))
    above = one["parent"]
    if type(above) is not int or not 0 <= above < node:
        raise DataError(f"node {node} names {str(above)[:60]} as its parent; a node stands after its parent")
    if split[above] < 0:
        raise DataError(f"node {node} lies below node {above}, which is a leaf")
    place = int(split[above])
    return above, label_of(attributes[place], values[place], one["edge"], f"node {node}")
