"""Documents of trees and rules, read by a reader of its own: the one that wrote them is not believed.

Every node is told which part of every attribute its path leaves; the edges below it must share that out exactly.
Nothing here is used to make, prune or draw a tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite
from typing import Any

from sfumato.bundle.form import Either, Flag, Form, Listed, Mapped, OneOf, Record, Row, Whole
from sfumato.bundle.manifest_parts import NAME, NUMBER
from sfumato.ground.errors import BundleError
from sfumato.ground.strict_json import read_json

KINDS = {"sfumato-tree": "tree", "sfumato-rules": "rules"}
MOST_DEPTH, MOST_LEAVES, MOST_PAIRS = 256, 200_000, 2_000_000
"""Deeper trees, more leaves and more pairs of rules are not read."""
Part = frozenset[str] | tuple[tuple[float, float], ...]
"""Some values of a category, or intervals of a range in order."""
Box = Mapping[str, Part]
"""What a path leaves of the attributes that it asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedLeaf:
    """What one leaf or rule tells."""

    box: Box
    """Whom it is about."""
    says: str
    """The class that it names."""
    hit: int
    """Records of it."""
    miss: int
    """Others."""
    counts: tuple[int, ...] | None
    """The records of every class, where they are told."""

    @property
    def size(self) -> int:
        """All records."""
        return self.hit + self.miss


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedTree:
    """One document."""

    form: str
    """tree or rules."""
    target: str
    """The class column."""
    classes: tuple[str, ...]
    """The classes."""
    whole: Mapping[str, Part]
    """Every attribute with its domain."""
    declared: Mapping[str, bool]
    """Whether the publisher declared the domain."""
    leaves: tuple[StatedLeaf, ...]
    """What is told."""
    depth: int
    """The most edges, or conditions, that lead to a leaf."""

    @property
    def records(self) -> int:
        """How many records the leaves hold."""
        return sum(one.size for one in self.leaves)


_VALUES = Either((Listed(of=NAME), Listed(of=Row((NUMBER, NUMBER)))))
_LEAF: Mapping[str, Form] = {"class": NAME, "hit": NUMBER, "miss": NUMBER, "counts": Listed(of=NUMBER)}
_HEAD: Mapping[str, Form] = {
    "document": OneOf(tuple(KINDS)),
    "schema": Whole(),
    "target": Record(needed={"name": NAME, "values": Listed(of=NAME)}),
    "attributes": Listed(
        of=Record(
            needed={"name": NAME},
            optional={
                "declared": Flag(),
                "date": Flag(),
                "values": Listed(of=NAME),
                **dict.fromkeys(("low", "high", "grid"), NUMBER),
            },
        )
    ),
}
_FORMS = {
    "tree": Record(
        needed={
            **_HEAD,
            "nodes": Listed(
                of=Record(needed={}, optional={"parent": Whole(), "edge": _VALUES, "split": NAME, **_LEAF})
            ),
        }
    ),
    "rules": Record(needed={**_HEAD, "rules": Listed(of=Record(needed={"if": Mapped(of=_VALUES)}, optional=_LEAF))}),
}
"""What a document may hold, and nothing else."""


def stated_tree(text: str) -> StatedTree:
    """The document in a text; whatever is no tree and no set of rules is refused."""
    try:
        found = read_json(text)
    except (ValueError, RecursionError) as fault:
        raise BundleError(f"it is not acceptable JSON: {fault}") from None
    if not isinstance(found, dict) or found.get("document") not in KINDS or found.get("schema") != 1:
        raise BundleError("it is no document of a tree or of rules, schema 1")
    form = KINDS[found["document"]]
    error = _FORMS[form].fault(found, "")
    _must(error is None, f"its form is another one: {error}")
    whole, declared = {}, {}
    for one in found["attributes"]:
        _must(one["name"] not in whole, f"attribute {one['name']!r} stands there twice")
        whole[one["name"]], declared[one["name"]] = _domain(one), one.get("declared", False) is True
    classes = tuple(found["target"]["values"])
    _must(len(set(classes)) == len(classes) > 0, "classes must be different, at least one")
    _must(found["target"]["name"] not in whole, "the class column is an attribute too")
    leaves, depth = _nodes(found["nodes"], whole, classes) if form == "tree" else _rules(found["rules"], whole, classes)
    return StatedTree(
        form=form,
        target=found["target"]["name"],
        classes=classes,
        whole=whole,
        declared=declared,
        leaves=leaves,
        depth=depth,
    )


def _must(holds: bool, otherwise: str) -> None:
    if not holds:
        raise BundleError(otherwise)


def _domain(one: Mapping[str, Any]) -> Part:
    if "values" in one:
        values = frozenset(one["values"])
        _must(len(values) == len(one["values"]) > 0, f"the values of {one['name']!r} must be different, at least one")
        return values
    low, high = float(one["low"]), float(one["high"])
    _must(one.get("grid", 1) > 0, f"the grid of {one['name']!r} must be above 0")
    _must(isfinite(low) and isfinite(high) and low < high, f"the range of {one['name']!r} is none")
    return ((low, high),)


def _part(given: Sequence[Any], domain: Part, where: str) -> Part:
    """An edge or condition, within the domain of its attribute."""
    if isinstance(domain, frozenset):
        found = frozenset(given)
        _must(0 < len(found) == len(given) and found <= domain, f"{where} names other values than the domain has")
        return found
    spans = tuple(sorted((float(low), float(high)) for low, high in given))
    _must(bool(spans) and all(low < high for low, high in spans), f"{where} has an interval that is none")
    _must(_tiled(spans) is not None and domain[0][0] <= spans[0][0] and spans[-1][1] <= domain[-1][1],
          f"{where} lies outside the domain, or overlaps itself")  # fmt: skip
    return spans


def _tiled(spans: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...] | None:
    """Intervals in order with those that touch put together; None where two overlap."""
    found: list[tuple[float, float]] = []
    for low, high in spans:
        if found and low < found[-1][1]:
            return None
        if found and low == found[-1][1]:
            found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
    return tuple(found)


def _shared_out(parts: Sequence[Part], held: Part) -> bool:
    """Whether parts are apart and together are what was held."""
    if isinstance(held, frozenset):
        named = [value for part in parts for value in part]
        return len(named) == len(held) and frozenset(named) == held
    spans = sorted(span for part in parts for span in part)
    return _tiled(spans) == _tiled(held)  # type: ignore[arg-type]


def _nodes(
    nodes: Sequence[Mapping[str, Any]], whole: Mapping[str, Part], classes: tuple[str, ...]
) -> tuple[tuple[StatedLeaf, ...], int]:
    """The leaves of a tree, from the root down."""
    _must(len(nodes) <= 2 * MOST_LEAVES, "it has too many nodes")
    boxes: list[Box] = []
    depth: list[int] = []
    parts: list[list[Part]] = [[] for _ in nodes]
    leaves = []
    for number, node in enumerate(nodes):
        above: Any = node.get("parent")
        if number == 0:
            _must(above is None, "the first node has a parent")
            boxes.append({})
            depth.append(0)
        else:
            _must(type(above) is int and 0 <= above < number, f"node {number} does not stand after its parent")
            asked: Any = nodes[above].get("split")
            _must(asked in whole, f"node {number} lies below a leaf")
            part = _part(node["edge"], whole[asked], f"the edge to node {number}")
            parts[above].append(part)
            boxes.append({**boxes[above], asked: part})
            depth.append(depth[above] + 1)
        if "split" in node:
            _must("class" not in node, f"node {number} splits and names a class")
        else:
            leaves.append(_leaf(node, boxes[number], classes, f"node {number}"))
    _must(max(depth, default=0) <= MOST_DEPTH, "it is too deep")
    for number, node in enumerate(nodes):
        if "split" in node:
            _must(node["split"] in whole, f"node {number} splits by what is no attribute")
            held = boxes[number].get(node["split"], whole[node["split"]])
            _must(_shared_out(parts[number], held), f"the edges below node {number} do not share out what is left")
    return tuple(leaves), max(depth, default=0)


def _rules(
    rules: Sequence[Mapping[str, Any]], whole: Mapping[str, Part], classes: tuple[str, ...]
) -> tuple[tuple[StatedLeaf, ...], int]:
    """Rules, which must be apart: the counts of two that overlap tell more than each alone."""
    found = []
    for number, rule in enumerate(rules):
        where = f"rule {number}"
        _must(set(rule["if"]) <= set(whole), f"{where} asks for what is no attribute")
        box = {name: _part(given, whole[name], where) for name, given in rule["if"].items()}
        found.append(_leaf(rule, box, classes, where))
    _must(len(found) * (len(found) - 1) // 2 <= MOST_PAIRS, "it has too many rules to compare each with each")
    twice = next((pair for pair in combinations(range(len(found)), 2) if _meet(*(found[n].box for n in pair))), None)
    _must(twice is None, f"rules {twice} overlap")
    return tuple(found), max((len(one.box) for one in found), default=0)


def _meet(one: Box, other: Box) -> bool:
    return all(_in_common(one[name], other[name]) for name in one.keys() & other.keys())


def _in_common(one: Part, other: Part) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return any(max(a[0], b[0]) < min(a[1], b[1]) for a in one for b in other)
    return bool(frozenset(one) & frozenset(other))


def _leaf(node: Mapping[str, Any], box: Box, classes: tuple[str, ...], where: str) -> StatedLeaf:
    _must(node["class"] in classes, f"{where} names a class that there is not")
    says = classes.index(node["class"])
    counts = tuple(node["counts"]) if "counts" in node else None
    hit, miss = (node["hit"], node["miss"]) if counts is None else (counts[says], sum(counts) - counts[says])
    _must(all(type(n) is int and n >= 0 for n in (hit, miss, *(counts or ()))), f"{where} counts what cannot be")
    if counts is not None:
        _must(len(counts) == len(classes) and max(counts) == hit, f"{where} does not name its most frequent class")
    else:
        _must(hit * (len(classes) - 1) >= miss, f"{where} does not name its most frequent class")
    return StatedLeaf(box=box, says=node["class"], hit=hit, miss=miss, counts=counts)


def every_leaf(trees: Sequence[StatedTree]) -> Iterator[StatedLeaf]:
    """The leaves of all documents."""
    for tree in trees:
        yield from tree.leaves
