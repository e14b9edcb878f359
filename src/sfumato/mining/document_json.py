"""Trees as JSON, and the parts that all documents share: attributes, target, labels, counts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.core.errors import DataError, ParameterError, listed
from sfumato.core.input_files import MOST_CELLS, MOST_NAME
from sfumato.core.strict_parsing import read_json
from sfumato.mining.attributes import Attribute, Label
from sfumato.mining.tree_document import MOST_COUNT, MOST_TREE_NODES, TreeDocument, refuse_bad_head
from sfumato.tables.schema import Categories, Numbers

# The parts that the JSON of trees and of rules share: attributes, target, labels and counts.


SCHEMA = 1
"""The version of the schema of both documents."""
MOST_DOCUMENT = 64_000_000
"""How many characters a document may have."""


def parsed(text: str, kind: str) -> dict[str, Any]:
    """The object in a JSON text of our schema."""
    if len(text) > MOST_DOCUMENT:
        raise DataError(f"the document has {len(text):,} characters; at most {MOST_DOCUMENT:,} are read")
    try:
        document = read_json(text)
    except (ValueError, RecursionError) as fault:
        raise DataError(f"the document is not acceptable JSON: {fault}") from None
    return opened(document, kind)


def opened(document: Any, kind: str) -> dict[str, Any]:
    """The same of an object that was read already."""
    if not isinstance(document, dict) or document.get("document") != kind:
        raise DataError(
            f"this is no document of the kind {kind!r}; such a document is an object that says so in 'document'"
        )
    if type(document.get("schema")) is not int or document["schema"] != SCHEMA:
        raise DataError(f"the document has schema {document.get('schema')!r}; this version reads schema {SCHEMA}")
    return document


def keyed(part: Any, where: str, needed: Sequence[str], allowed: Sequence[str] = ()) -> dict[str, Any]:
    """An object with the keys that it must have, and no others than it may."""
    if not isinstance(part, dict):
        raise DataError(f"{where} must be an object, not {type(part).__name__}")
    absent = [key for key in needed if key not in part]
    if absent:
        raise DataError(f"{where} has no {absent[0]!r}; it needs {listed(needed)}")
    strange = [key for key in part if key not in needed and key not in allowed]
    if strange:
        raise DataError(
            f"{where} has the unknown key {strange[0][:MOST_NAME]!r}; it may have {listed([*needed, *allowed])}"
        )
    return part


def many(part: Any, where: str) -> list[Any]:
    """A list."""
    if not isinstance(part, list):
        raise DataError(f"{where} must be a list, not {type(part).__name__}")
    return part


def texts(part: Any, where: str) -> tuple[str, ...]:
    """A list of texts."""
    values = many(part, where)
    for value in values:
        if not isinstance(value, str) or len(value) > MOST_NAME:
            raise DataError(f"{where} must be texts of at most {MOST_NAME:,} characters")
    return tuple(values)


def count_of(part: Any, where: str) -> int:
    """A number of records."""
    if type(part) is not int or not 0 <= part <= MOST_COUNT:
        raise DataError(f"{where} must be a whole number from 0 to {MOST_COUNT:,}, not {str(part)[:60]}")
    return part


def real_of(part: Any, where: str) -> float:
    """A number."""
    if type(part) not in (int, float):
        raise DataError(f"{where} must be a number, not {str(part)[:60]}")
    try:
        return float(part)
    except OverflowError:
        raise DataError(f"{where} is too large a number") from None


def attributes_of(part: Any) -> tuple[Attribute, ...]:
    """The attributes with their domains."""
    return tuple(_attribute(entry, f"attribute {place}") for place, entry in enumerate(many(part, "attributes")))


def _attribute(part: Any, where: str) -> Attribute:
    keyed(part, where, ("name",), ("values", "low", "high", "grid", "declared", "date"))
    (name,) = texts([part["name"]], f"{where}, name")
    declared = part.get("declared", False)
    if not isinstance(declared, bool):
        raise DataError(f"{where}, declared must be true or false")
    dated = part.get("date", False)
    if not isinstance(dated, bool) or (dated and "values" in part):
        raise DataError(f"{where}, date must be true or false, and is for numbers of days only")
    listed_, bounds = "values" in part, {"low", "high"} <= set(part)
    if listed_ == bounds or (listed_ and {"low", "high", "grid"} & set(part)):
        raise DataError(f"{where}, {name!r}: its domain is missing or said twice; give either values, or low and high")
    try:
        if listed_:
            return Attribute(
                name=name, domain=Categories(values=texts(part["values"], f"{where}, values")), declared=declared
            )
        low, high = (real_of(part[key], f"{where}, {key}") for key in ("low", "high"))
        grid = None if "grid" not in part else real_of(part["grid"], f"{where}, grid")
        return Attribute(name=name, domain=Numbers(low=low, high=high, grid=grid), declared=declared, date=dated)
    except ParameterError as fault:
        raise DataError(f"{where}, {name!r}: {fault}") from None


def target_of(part: Any) -> tuple[str, tuple[str, ...]]:
    """The name of the class column, and the classes."""
    keyed(part, "target", ("name", "values"))
    (name,) = texts([part["name"]], "target, name")
    return name, texts(part["values"], "target, values")


def head_json(attributes: Sequence[Attribute], target: str, classes: Sequence[str]) -> dict[str, Any]:
    """Attributes and target as JSON."""
    return {
        "target": {"name": target, "values": list(classes)},
        "attributes": [_attribute_json(attribute) for attribute in attributes],
    }


def _attribute_json(attribute: Attribute) -> dict[str, Any]:
    head: dict[str, Any] = {"name": attribute.name, "declared": attribute.declared}
    if isinstance(attribute.domain, Categories):
        return {**head, "values": list(attribute.domain.values)}
    dated = {"date": True} if attribute.date else {}
    grid = {} if attribute.domain.grid is None else {"grid": _plain(attribute.domain.grid)}
    return {**head, "low": _plain(attribute.domain.low), "high": _plain(attribute.domain.high), **grid, **dated}


def _plain(x: float) -> float | int:
    return int(x) if float(x).is_integer() and abs(x) < MOST_COUNT else float(x)


def label_json(attribute: Attribute, label: Label) -> list[Any]:
    """A label as JSON: names of values, or pairs of numbers."""
    if isinstance(attribute.domain, Numbers):
        return [[_plain(low), _plain(high)] for low, high in label]  # type: ignore[misc]
    return [attribute.domain.values[code] for code in label]  # type: ignore[index]


def label_of(attribute: Attribute, places: Mapping[str, int], part: Any, where: str) -> Label:
    """A label from JSON, in order; what it says is checked with the tree."""
    if not attribute.numeric:
        names = texts(part, where)
        strange = [name for name in names if name not in places]
        if strange:
            raise DataError(f"{where}: {attribute.name!r} has no value {strange[0]!r}")
        return tuple(sorted(places[name] for name in names))
    spans = []
    for span in many(part, where):
        ends = many(span, f"{where}, an interval")
        if len(ends) != 2:
            raise DataError(f"{where}: an interval has two ends, not {len(ends)}")
        spans.append((real_of(ends[0], where), real_of(ends[1], where)))
    return tuple(sorted(spans))


def places_of(attributes: Sequence[Attribute]) -> list[dict[str, int]]:
    """For each attribute its values with their codes."""
    return [
        {value: code for code, value in enumerate(attribute.domain.values)}
        if isinstance(attribute.domain, Categories)
        else {}
        for attribute in attributes
    ]


Figures = tuple[int, int, int, "np.ndarray[Any, np.dtype[np.int64]] | None"]


def figures_of(part: dict[str, Any], classes: Sequence[str], places: Mapping[str, int], where: str) -> Figures:
    """What a leaf or a rule says: class, hit, miss, and the counts of all classes where they are given."""
    if not isinstance(part.get("class"), str) or part["class"] not in places:
        raise DataError(f"{where} must name its class, one of {listed(classes)}")
    says = places[part["class"]]
    if "counts" not in part:
        keyed(part, where, ("class", "hit", "miss"), tuple(part))
        return says, count_of(part["hit"], f"{where}, hit"), count_of(part["miss"], f"{where}, miss"), None
    if {"hit", "miss"} & set(part):
        raise DataError(f"{where} has counts and hit or miss; give one of them")
    counts = [count_of(count, f"{where}, counts") for count in many(part["counts"], f"{where}, counts")]
    if len(counts) != len(classes):
        raise DataError(f"{where} has {len(counts)} counts for {len(classes)} classes")
    if sum(counts) > MOST_COUNT:
        raise DataError(f"{where} counts more than {MOST_COUNT:,} records")
    return says, counts[says], sum(counts) - counts[says], np.array(counts, np.int64)


# Trees to JSON and back: a flat list of nodes, so that nothing is nested deeply and no node is below itself.


KIND = "sfumato-tree"


def tree_json(tree: TreeDocument) -> dict[str, Any]:
    """The document of a tree as an object for ``json.dumps``.

    Leaves tell their counts where the tree has them, else hit and miss; other nodes tell none, for theirs follow.
    """
    nodes = []
    for node, (above, split) in enumerate(zip(tree.parent.tolist(), tree.split.tolist(), strict=True)):
        entry: dict[str, Any] = {}
        if above >= 0:
            attribute = tree.attributes[int(tree.split[above])]
            entry = {"parent": above, "edge": label_json(attribute, tree.labels[node])}
        if split >= 0:
            entry["split"] = tree.attributes[split].name
        else:
            entry["class"] = tree.classes[int(tree.says[node])]
            if tree.counts is None:
                entry |= {"hit": int(tree.hit[node]), "miss": int(tree.miss[node])}
            else:
                entry["counts"] = tree.counts[node].tolist()
        nodes.append(entry)
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
    sfumato.core.errors.DataError: the document has schema 2; this version reads schema 1
    """
    return tree_of(parsed(text, KIND))


def tree_of(document: Any) -> TreeDocument:
    """The tree in an object that was read from JSON."""
    part = keyed(opened(document, KIND), "the document", ("document", "schema", "target", "attributes", "nodes"))
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
    named = {attribute.name: place for place, attribute in enumerate(attributes)}
    values, places = places_of(attributes), {name: code for code, name in enumerate(classes)}
    parent, split = np.full(len(nodes), -1, np.int64), np.full(len(nodes), -1, np.int64)
    says, hit, miss = np.full(len(nodes), -1, np.int64), np.zeros(len(nodes), np.int64), np.zeros(len(nodes), np.int64)
    labels: list[Label] = []
    counted: dict[int, Any] = {}
    leaves = 0
    for node, entry in enumerate(nodes):
        where = f"node {node}"
        keyed(entry, where, (), ("parent", "edge", "split", "class", "hit", "miss", "counts"))
        parent[node], label = _edge(entry, node, split, attributes, values)
        labels.append(label)
        if "split" in entry:
            keyed(entry, f"{where}, which has a split,", ("split",), ("parent", "edge"))
            if not isinstance(entry["split"], str) or entry["split"] not in named:
                raise DataError(f"{where} splits by {str(entry['split'])[:60]!r}, which is no attribute")
            split[node] = named[entry["split"]]
            continue
        leaves += 1
        says[node], hit[node], miss[node], counts = figures_of(entry, classes, places, where)
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
    entry: dict[str, Any], node: int, split: Any, attributes: tuple[Attribute, ...], values: list[dict[str, int]]
) -> tuple[int, Label]:
    """The parent of a node, and the label of the edge to it."""
    if node == 0:
        if {"parent", "edge"} & set(entry):
            raise DataError("node 0 is the root; it has neither parent nor edge")
        return -1, ()
    keyed(entry, f"node {node}", ("parent", "edge"), tuple(entry))
    above = entry["parent"]
    if type(above) is not int or not 0 <= above < node:
        raise DataError(f"node {node} names {str(above)[:60]} as its parent; a node stands after its parent")
    if split[above] < 0:
        raise DataError(f"node {node} lies below node {above}, which is a leaf")
    place = int(split[above])
    return above, label_of(attributes[place], values[place], entry["edge"], f"node {node}")
