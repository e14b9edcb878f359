"""Verifies published trees: an independent reader of documents, and every claim of the leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import inf, isclose, isfinite
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from sfumato.bundles.checks.consistency import algorithm_fits, attacks_fit, marks_fit
from sfumato.bundles.checks.private import DIFFERENTIAL, neighbours
from sfumato.bundles.provenance import Check, Remark, rounded, same
from sfumato.bundles.verify import DATA
from sfumato.core.errors import BundleError, listed
from sfumato.core.records import UNSET, Count, Listed, Mapped, Name, Number, Record, UnsetType, error_in
from sfumato.core.strict_parsing import read_json
from sfumato.dp.accounting import Promise
from sfumato.dp.events import from_json
from sfumato.tables.table import Table

# Documents of trees and rules, read by a reader of its own: the one that wrote them is not believed.
#
# Every node is told which part of every attribute its path leaves; the edges below it must share that out exactly.
# Nothing here is used to make, prune or draw a tree.


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
        return sum(leaf.size for leaf in self.leaves)


class AttributeRecord(Record, frozen=True, kw_only=True):
    """An attribute of a document, with its declared values or its range."""

    name: Name
    declared: bool | UnsetType = UNSET
    date: bool | UnsetType = UNSET
    values: Listed[Name] | UnsetType = UNSET
    low: Number | UnsetType = UNSET
    high: Number | UnsetType = UNSET
    grid: Number | UnsetType = UNSET


class TargetRecord(Record, frozen=True, kw_only=True):
    """The class column and its values."""

    name: Name
    values: Listed[Name]


class LeafRecord(Record, frozen=True, kw_only=True, rename={"label": "class"}):
    """A class with its counts."""

    label: Name | UnsetType = UNSET
    hit: Number | UnsetType = UNSET
    miss: Number | UnsetType = UNSET
    counts: Listed[Number] | UnsetType = UNSET


Values = Listed[Name | Annotated[list[Number], Meta(min_length=2, max_length=2)]]
"""Values of a category, or intervals (no tuple: msgspec 0.22 misreads its length beside a limited text)."""


class NodeRecord(LeafRecord, frozen=True, kw_only=True):
    """A node: the root has no parent and no edge."""

    parent: Count | UnsetType = UNSET
    edge: Values | UnsetType = UNSET
    split: Name | UnsetType = UNSET


class RuleRecord(LeafRecord, frozen=True, kw_only=True, rename={"label": "class", "conditions": "if"}):
    """A rule: conditions on attributes, and a leaf."""

    conditions: Mapped[Values]


class DocumentRecord(Record, frozen=True, kw_only=True):
    """What every document begins with."""

    document: Literal["sfumato-tree", "sfumato-rules"]
    schema: Count
    target: TargetRecord
    attributes: Listed[AttributeRecord]


class TreeRecord(DocumentRecord, frozen=True, kw_only=True):
    """The document of a tree."""

    nodes: Listed[NodeRecord]


class RulesRecord(DocumentRecord, frozen=True, kw_only=True):
    """The document of rules."""

    rules: Listed[RuleRecord]


_RECORDS = {"tree": TreeRecord, "rules": RulesRecord}
"""What a document may hold, and nothing else."""


def stated_tree(text: str) -> StatedTree:
    """The document in a text; whatever is no tree and no set of rules is refused."""
    try:
        document = read_json(text)
    except (ValueError, RecursionError) as fault:
        raise BundleError(f"it is not acceptable JSON: {fault}") from None
    if not isinstance(document, dict) or document.get("document") not in KINDS or document.get("schema") != 1:
        raise BundleError("it is no document of a tree or of rules, schema 1")
    form = KINDS[document["document"]]
    error = error_in(document, _RECORDS[form])
    _must(error is None, f"its form is another one: {error}")
    whole, declared = {}, {}
    for attribute in document["attributes"]:
        _must(attribute["name"] not in whole, f"attribute {attribute['name']!r} stands there twice")
        whole[attribute["name"]], declared[attribute["name"]] = (
            _domain(attribute),
            attribute.get("declared", False) is True,
        )
    classes = tuple(document["target"]["values"])
    _must(len(set(classes)) == len(classes) > 0, "classes must be different, at least one")
    _must(document["target"]["name"] not in whole, "the class column is an attribute too")
    leaves, depth = (
        _nodes(document["nodes"], whole, classes) if form == "tree" else _rules(document["rules"], whole, classes)
    )
    return StatedTree(
        form=form,
        target=document["target"]["name"],
        classes=classes,
        whole=whole,
        declared=declared,
        leaves=leaves,
        depth=depth,
    )


def _must(holds: bool, otherwise: str) -> None:
    if not holds:
        raise BundleError(otherwise)


def _domain(attribute: Mapping[str, Any]) -> Part:
    if "values" in attribute:
        values = frozenset(attribute["values"])
        _must(
            len(values) == len(attribute["values"]) > 0,
            f"the values of {attribute['name']!r} must be different, at least one",
        )
        return values
    low, high = float(attribute["low"]), float(attribute["high"])
    _must(attribute.get("grid", 1) > 0, f"the grid of {attribute['name']!r} must be above 0")
    _must(isfinite(low) and isfinite(high) and low < high, f"the range of {attribute['name']!r} is none")
    return ((low, high),)


def _part(given: Sequence[Any], domain: Part, where: str) -> Part:
    """An edge or condition, within the domain of its attribute."""
    if isinstance(domain, frozenset):
        values = frozenset(given)
        _must(0 < len(values) == len(given) and values <= domain, f"{where} names other values than the domain has")
        return values
    spans = tuple(sorted((float(low), float(high)) for low, high in given))
    _must(bool(spans) and all(low < high for low, high in spans), f"{where} has an interval that is none")
    _must(_tiled(spans) is not None and domain[0][0] <= spans[0][0] and spans[-1][1] <= domain[-1][1],
          f"{where} lies outside the domain, or overlaps itself")  # fmt: skip
    return spans


def _tiled(spans: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...] | None:
    """Intervals in order with those that touch put together; None where two overlap."""
    tiles: list[tuple[float, float]] = []
    for low, high in spans:
        if tiles and low < tiles[-1][1]:
            return None
        if tiles and low == tiles[-1][1]:
            tiles[-1] = (tiles[-1][0], high)
        else:
            tiles.append((low, high))
    return tuple(tiles)


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
            split: Any = nodes[above].get("split")
            _must(split in whole, f"node {number} lies below a leaf")
            part = _part(node["edge"], whole[split], f"the edge to node {number}")
            parts[above].append(part)
            boxes.append({**boxes[above], split: part})
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
    leaves = []
    for number, rule in enumerate(rules):
        where = f"rule {number}"
        _must(set(rule["if"]) <= set(whole), f"{where} asks for what is no attribute")
        box = {name: _part(given, whole[name], where) for name, given in rule["if"].items()}
        leaves.append(_leaf(rule, box, classes, where))
    _must(len(leaves) * (len(leaves) - 1) // 2 <= MOST_PAIRS, "it has too many rules to compare each with each")
    twice = next((pair for pair in combinations(range(len(leaves)), 2) if _meet(*(leaves[n].box for n in pair))), None)
    _must(twice is None, f"rules {twice} overlap")
    return tuple(leaves), max((len(leaf.box) for leaf in leaves), default=0)


def _meet(box: Box, other: Box) -> bool:
    return all(_in_common(box[name], other[name]) for name in box.keys() & other.keys())


def _in_common(part: Part, other: Part) -> bool:
    if isinstance(part, tuple) and isinstance(other, tuple):
        return any(max(a[0], b[0]) < min(a[1], b[1]) for a in part for b in other)
    return bool(frozenset(part) & frozenset(other))


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


# Verifying published trees: every claim is computed again from what the leaves of the written documents tell.


DOCUMENT = "document"
"""The one column of the data file: a document a line."""
TOGETHER = "together"
"""Among a claim's parameters: of how many trees all leaves are judged where they meet."""
SPREAD = (
    "misses are taken to lie in at least l - 1 classes (basis = hits, equation 1 of the paper); where they do not, a "
    "leaf tells more than is claimed"
)
"""The warning of a claim that rests on the paper's assumption."""
DECLARED = (
    "the splits were declared, and only the counts are noisy; no byte shows that they were made without these records"
)
"""The warning of noisy counts."""
NOT_COVERED = "what it finds would be read off the private records, which no epsilon covers"
"""Why the bundle of a tree with noisy counts shows no attack."""
INFERENCE, TOLD = "tree-inference", "share of records that leaves tell rightly"
_ATTRIBUTES, _CLASS = "quasi", "target"
_DIVERSITY = {"kind", "c", "l", "basis"}


def observed_mark(names: Sequence[str]) -> str:
    """The warning about domains that were read off the records."""
    return (
        f"the domains of {listed(sorted(names), most=20)} were read off the records: they show extreme and rare values"
    )


def tree_bundle_checks(
    folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Table]
) -> Iterable[Check | Remark]:
    """The checks of a bundle of trees."""
    table, plan = tables[DATA], manifest["plan"]
    if not table.rows:
        yield Check(what="documents", holds=False, detail=f"{table.rows} documents")
        return
    trees = list[StatedTree]()
    for number, text in enumerate(table.frame[DOCUMENT].to_list(), start=1):
        try:
            trees.append(stated_tree(text))
        except BundleError as fault:
            yield Check(what=f"document {number}", holds=False, detail=str(fault))
            return
    yield Check(what="documents", holds=True, detail=f"{len(trees)}, each with leaves that share out their domains")
    yield from _as_planned(manifest, trees)
    stated = [{"leaves": len(tree.leaves), "depth": tree.depth, "records": tree.records} for tree in trees]
    yield same("leaves, depths and records", stated, manifest["trees"])
    yield algorithm_fits(manifest, Check)
    private = "ledger" in manifest
    yield same("noise is stated where it was paid for", "noise" in manifest, private)
    if private:
        yield from _noisy(manifest, trees)
    else:
        yield same("records of every tree", len({tree.records for tree in trees}), 1)
        yield from _claims(manifest, trees)
        yield from attacks_fit(manifest)
        yield from _told(manifest, trees)
    hits = plan["privacy"].get("l_diversity", {}).get("basis") == "hits" and not private
    observed = [name for name, is_declared in trees[0].declared.items() if not is_declared]
    due = [
        *([SPREAD] if hits else []),
        *([observed_mark(observed)] if observed else []),
        *([DECLARED] if private else []),
    ]
    yield marks_fit(manifest, due, Check)


def _as_planned(manifest: Mapping[str, Any], trees: Sequence[StatedTree]) -> Iterable[Check]:
    """The documents are about the plan's columns and tell what it says; all have the same attributes and classes."""
    plan = manifest["plan"]
    tree_plan, roles = plan["tree"], {name: column["role"] for name, column in plan["columns"].items()}
    yield same("forms of the documents", sorted({tree.form for tree in trees}), [tree_plan["form"]])
    counted = {leaf.counts is not None for leaf in every_leaf(trees)}
    yield same("what leaves show", sorted(counted), [tree_plan["told"] == "counts"])
    heads = {(tree.target, tree.classes, tuple(sorted(tree.whole))) for tree in trees}
    yield same("attributes and classes of all documents", len(heads), 1)
    strange = [name for name in trees[0].whole if roles.get(name) != _ATTRIBUTES]
    yield same("attributes that the plan does not name", strange, [])
    yield same("class column", roles.get(trees[0].target), _CLASS)


def _claims(manifest: Mapping[str, Any], trees: Sequence[StatedTree]) -> Iterable[Check]:
    """What the plan asks for is claimed of every leaf, and is so; claims about all trees together are stated."""
    privacy = manifest["plan"]["privacy"]
    strange = (privacy.keys() - {"k_anonymity", "l_diversity"}) | (privacy.get("l_diversity", {}).keys() - _DIVERSITY)
    yield same("unknown keys of [privacy]", sorted(strange), [])
    due = [*due_claims(privacy, list(every_leaf(trees)))]
    mine = [claim for claim in manifest["claims"] if TOGETHER not in claim["parameters"]]
    yield same("claims", [_name(claim) for claim in mine], [_name(claim) for claim in due])
    for stated, claim in zip(mine, due, strict=False):
        wrong = [key for key, value in claim.items() if rounded(stated[key]) != rounded(value)]
        wrong += ["readings"] * (
            rounded(stated["readings"]) != rounded(dict.fromkeys(("value", "wildcard"), claim["reached"]))
        )
        detail = (
            f"another {listed(wrong)}: the leaves reach {claim['reached']:.6g}" if wrong else f"{claim['reached']:.6g}"
        )
        yield Check(what=str(claim["model"]), holds=not wrong and bool(claim["holds"]), detail=detail)
    together = [claim for claim in manifest["claims"] if TOGETHER in claim["parameters"]]
    every = len(trees) + manifest["plan"]["attack"]["earlier"]
    expected = [_name(claim) for claim in due] if every > 1 else []
    fits = [_name(claim) for claim in together] == expected and all(
        claim["holds"] and claim["parameters"][TOGETHER] == every for claim in together
    )
    yield Check(what="claims about all trees together", holds=fits, detail=f"{len(together)} for {every} trees, stated")


def _name(claim: Mapping[str, Any]) -> str:
    parameters = {key: value for key, value in claim["parameters"].items() if key != TOGETHER}
    return f"{claim['model']} {sorted(parameters.items())}"


def due_claims(privacy: Mapping[str, Any], leaves: Sequence[StatedLeaf]) -> Iterable[dict[str, Any]]:
    """What a plan's requirements come to on some leaves, from the definitions."""
    if "k_anonymity" in privacy:
        k = privacy["k_anonymity"]
        yield _claim("tree-k-anonymity", {"k": k}, [leaf.size for leaf in leaves], k, "at least")
    diversity = privacy.get("l_diversity")
    if diversity is not None and diversity["kind"] not in ("recursive", "simple"):
        raise BundleError(f"privacy.l_diversity.kind is {diversity['kind']!r}; trees have recursive and simple")
    if diversity is not None and diversity["kind"] == "simple":
        l = diversity["l"]
        shares = [leaf.hit / leaf.size if leaf.size else inf for leaf in leaves]
        yield _claim("tree-simple-l-diversity", {"l": l}, shares, 1 / l, "at most")
    elif diversity is not None:
        c, l, basis = (
            diversity["c"],
            diversity["l"],
            diversity.get("basis") or ("any" if leaves[0].counts is None else "counts"),
        )
        ratios = [_ratio(leaf, l, basis) for leaf in leaves]
        yield _claim("tree-recursive-l-diversity", {"c": c, "l": l, "basis": basis}, ratios, c, "below")


def _ratio(leaf: StatedLeaf, l: int, basis: str) -> float:
    """Hits over the records of the l-th most frequent class and of all rarer ones."""
    if basis == "counts":
        if leaf.counts is None:
            raise BundleError("a claim about counts needs leaves that tell them")
        tail = sum(sorted(leaf.counts, reverse=True)[l - 1 :])
    elif l == 1:
        tail = leaf.size
    else:
        tail = max(leaf.miss - (l - 2) * leaf.hit, 0)
        if basis == "hits" and leaf.miss >= l - 1:
            tail = max(tail, 1)
    return float(Fraction(leaf.hit, tail)) if tail and leaf.hit else inf


def _claim(model: str, parameters: dict[str, Any], values: Sequence[float], limit: float, sense: str) -> dict[str, Any]:
    room = 1e-12 * max(1.0, abs(limit))
    least, most = (limit - room if sense == "at least" else -inf), (limit + room if sense == "at most" else inf)
    failing = sum(not least <= value <= most or (sense == "below" and value >= limit) for value in values)
    worst = min(values) if sense == "at least" else max(values)
    return {
        "model": model,
        "parameters": parameters,
        "holds": not failing,
        "reached": float(worst),
        "sense": sense,
        "limit": float(limit),
        "reading": "value",
        "classes_failing": failing,
        "note": "of every leaf",
    }


def _told(manifest: Mapping[str, Any], trees: Sequence[StatedTree]) -> Iterable[Check]:
    """How much leaves tell rightly follows from their hits."""
    records = sum(tree.records for tree in trees)
    share = sum(leaf.hit for leaf in every_leaf(trees)) / max(records, 1)
    for attack in manifest["attacks"]:
        if attack["attack"] == INFERENCE:
            stated = attack["figures"].get(TOLD, -1.0)
            detail = f"{stated:.4g}, where the leaves give {share:.4g}"
            yield Check(
                what=f"{INFERENCE}: {TOLD}", holds=abs(stated - share) <= 1e-3 * max(share, 1e-9), detail=detail
            )


def _noisy(manifest: Mapping[str, Any], trees: Sequence[StatedTree]) -> Iterable[Check]:
    """The budget adds up to the promise, which is all that is claimed; nothing else was read off the records."""
    promise, event = Promise.of(manifest["plan"]["privacy"]), from_json(manifest["ledger"])
    spent = f"{promise.spent_by(event)} for {promise}"
    yield Check(what="the ledger adds up to what is promised", holds=promise.kept_by(event), detail=spent)
    promised = {**promise.to_json(), "neighbours": neighbours(manifest["plan"]["input"])}
    stated = [(claim["model"], claim["parameters"], claim["holds"]) for claim in manifest["claims"]]
    yield same("claims are what the plan asks for", stated, [(DIFFERENTIAL, promised, True)])
    yield _scale(manifest)
    yield same("documents with noisy counts", len(trees), 1)
    yield same("domains that were read off the records", [n for n, known in trees[0].declared.items() if not known], [])
    yield same("no seed is published", "seed" in manifest["plan"]["algorithm"], False)
    reasons = sorted(set(manifest["attacks_not_made"].values()) - {NOT_COVERED})
    yield same("attacks that would show private records", [*manifest["attacks"], *reasons], [])
    yield same("rows left out", manifest["recoding"].get("left_out", 0), 0)


def _scale(manifest: Mapping[str, Any]) -> Check:
    """The noise has the scale that the cost of the counts asks for: 1 / epsilon, or 1 / sqrt(2 rho)."""
    spent, noise = manifest["ledger"].get("part", manifest["ledger"]), manifest["noise"]
    pure = spent["kind"] == "pure"
    wide = float(1 / Fraction(spent["epsilon"])) if pure else float(1 / (2 * Fraction(spent["rho"]))) ** 0.5
    fits = noise["law"] == ("laplace" if pure else "gaussian") and isclose(float(noise["scale"]), wide, rel_tol=1e-9)
    return Check(what="scale of the noise", holds=fits, detail=f"{noise['law']}, {noise['scale']:.6g}; due {wide:.6g}")
