"""Verifying a joint result: whatever follows from the written document and the session's terms is computed again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import chain, combinations, product
from math import ceil, isclose
from pathlib import Path
from typing import Any

from sfumato.bundles.checks.consistency import marks_fit
from sfumato.bundles.checks.trees import stated_tree
from sfumato.bundles.provenance import Check, Remark, same
from sfumato.bundles.verify import DATA
from sfumato.core.errors import BundleError, listed
from sfumato.core.records import Count, Digest, Listed, Mapped, Name, Number, Record, Value, error_in
from sfumato.core.strict_parsing import read_json
from sfumato.tables.graded_grouping import read_terms, terms_json
from sfumato.tables.table import Table

JOINT_ONLY = (
    "several parties computed this together and none showed its data; no privacy model was verified: small counts may "
    "point to somebody"
)
"""The warning of every joint result."""
Document = Mapping[str, Any]
Looked = Iterable[Check]
_SIDES = ("antecedent", "consequent")
MOST_RULE_SETS = 20_000
"""Rules of more sets than this are not recomputed."""


def joint_checks(folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Table]) -> Iterable[Check | Remark]:
    """The checks of a joint result that need nothing but its bytes."""
    table, session = tables[DATA], manifest["session"]
    if table.rows != 1:
        yield Check(what="document", holds=False, detail=f"{table.rows} documents, where there must be one")
        return
    yield marks_fit(manifest, [JOINT_ONLY], Check)
    text = table.frame["document"][0]
    try:
        document = read_json(text)
    except (ValueError, RecursionError) as fault:
        yield Check(what="document", holds=False, detail=f"it is not acceptable JSON: {fault}")
        return
    result = RESULTS.get(session["protocol"])
    if result is None:
        yield Check(what="result", holds=False, detail=f"{session['protocol']!r} has no document that is known here")
        return
    form, check = result
    error = error_in(document, form) or (None if written(document) == text.rstrip("\n") + "\n" else "not as written")
    yield Check(what="form of the document", holds=error is None, detail=error or "as the protocol gives it")
    if error is None:
        yield from check(document, session["parameters"], text)


def written(document: Document) -> str:
    """The document as every party writes it: equal results are equal bytes."""
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n"


def _counts(document: Document, request: Mapping[str, Any], text: str) -> Looked:
    """Every combination of declared values once, in order, with a count."""
    due = [list(combination) for combination in product(*request["columns"].values())]
    yield same("columns of the result", document["columns"], [*request["columns"], "count"])
    fits = [row[:-1] for row in document["rows"]] == due
    yield Check(what="combinations", holds=fits, detail=f"{len(due):,} of declared values, each once")
    yield _whole("counts", [row[-1] for row in document["rows"]])


def _bayes(document: Document, request: Mapping[str, Any], text: str) -> Looked:
    """Counts by value and class add up to those by class."""
    classes = request["columns"][request["target"]]
    yield same("classes", document["classes"], classes)
    yield same("class column", document["target"], request["target"])
    yield same(
        "columns", sorted(document["columns"]), sorted(name for name in request["columns"] if name != request["target"])
    )
    yield _whole("records by class", document["records"])
    for name, table in document["columns"].items():
        domain = request["columns"][name]
        if isinstance(domain, list):
            yield same(f"values of {name}", sorted(table), sorted(domain))
        yield _whole(f"counts of {name}", [count for row in table.values() for count in row])
        sums = [sum(column) for column in zip(*table.values(), strict=True)]
        yield same(f"counts of {name} add up", sums, document["records"])


def _tree(document: Document, request: Mapping[str, Any], text: str) -> Looked:
    """The document is a tree over the declared columns whose leaves share out their domains."""
    try:
        tree = stated_tree(text)
    except BundleError as fault:
        yield Check(what="tree", holds=False, detail=str(fault))
        return
    yield Check(
        what="tree", holds=tree.form == "tree", detail=f"{len(tree.leaves):,} leaves that share out the domains"
    )
    yield same("class column", tree.target, request["target"])
    yield same("classes", list(tree.classes), request["columns"][request["target"]])
    yield same(
        "columns of the tree", sorted(tree.whole), sorted(n for n in request["columns"] if n != request["target"])
    )
    leaf_counts = [leaf.counts for leaf in tree.leaves]
    yield Check(what="leaves show class counts", holds=None not in leaf_counts, detail=f"{tree.records:,} records")


def _means(document: Document, request: Mapping[str, Any], text: str) -> Looked:
    """As many centres as were asked for, within the declared ranges."""
    rows, ranges = document["clusters"], list(request["columns"].values())
    yield same("columns of the result", document["columns"], [*request["columns"], "records"])
    yield same("clusters", len(rows), request["clusters"])
    inside = all(
        side["low"] - 1e-9 <= x <= side["high"] + 1e-9 for row in rows for x, side in zip(row[:-1], ranges, strict=True)
    )
    yield Check(what="centres", holds=inside, detail="within the declared ranges" if inside else "outside the ranges")
    yield _whole("records of clusters", [row[-1] for row in rows])
    yield same("squared distances are not negative", document["squared distances"] >= 0, True)


def _rules(document: Document, request: Mapping[str, Any], text: str) -> Looked:
    """Sets reach the least support, their parts are there with at least theirs, and the rules are those of the sets."""
    supports = {frozenset(itemset["items"]): itemset["rows"] for itemset in document["sets"]}
    whole, least = document["rows"], _least(request.get("min_support", 0.01), document["rows"])
    yield same("each set once", len(supports), len(document["sets"]))
    lists = [s["items"] for s in document["sets"]] + [r[end] for r in document["rules"] for end in _SIDES]
    yield same("items that are listed twice", sorted({*chain(*(x for x in lists if len({*x}) < len(x)))}), [])
    yield same("least rows of a frequent set", document["least rows"], least)
    yield _whole("rows of sets", list(supports.values()))
    few = [sorted(itemset) for itemset, rows in supports.items() if not least <= rows <= whole]
    yield Check(what="supports", holds=not few, detail=f"out of reach: {listed(few)}" if few else f"{len(supports):,}")
    torn = [
        sorted(itemset)
        for itemset, rows in supports.items()
        if any(supports.get(part, -1) < rows for part in _parts(itemset))
    ]
    yield Check(
        what="parts of frequent sets", holds=not torn, detail=f"not there: {listed(torn)}" if torn else "frequent"
    )
    if len(supports) > MOST_RULE_SETS or torn:
        return
    confidence = request.get("min_confidence", 0.5)
    yield same("least confidence", document["min_confidence"], confidence)
    yield from _rule_figures(document, supports, whole, Fraction(str(confidence)))


def _graded(document: Document, request: Mapping[str, Any], text: str) -> Looked:
    """The terms are those of the session, and the commitment is a digest; only who holds the secret can open it."""
    yield same("columns of the result", document["columns"], terms_json(read_terms(request["columns"])))
    fits = re.fullmatch("[0-9a-f]{64}", str(document["agreement"])) is not None
    yield Check(what="commitment", holds=fits, detail="a digest" if fits else "no digest")


def _rule_figures(document: Document, supports: Mapping[frozenset[str], int], whole: int, least: Fraction) -> Looked:
    due = {
        (left, itemset - left): rows
        for itemset, rows in supports.items()
        for size in range(1, len(itemset))
        for left in map(frozenset, combinations(sorted(itemset), size))
        if Fraction(rows, supports[left]) >= least
    }
    stated_rules = {(frozenset(rule["antecedent"]), frozenset(rule["consequent"])): rule for rule in document["rules"]}
    complete = stated_rules.keys() == due.keys() and len(stated_rules) == len(document["rules"])
    yield Check(
        what="rules", holds=complete, detail=f"{len(due):,} follow from the sets, {len(stated_rules):,} are listed"
    )
    wrong = 0
    for (left, right), rows in due.items():
        rule = stated_rules.get((left, right))
        figures = (rows, rows / whole, rows / supports[left], rows * whole / supports[left] / supports[right])
        names = ("rows", "support", "confidence", "lift")
        wrong += rule is None or not all(isclose(rule[n], x, rel_tol=1e-9) for n, x in zip(names, figures, strict=True))
    yield same("rules with other figures", wrong, 0)


def _parts(itemset: frozenset[str]) -> Iterable[frozenset[str]]:
    return (itemset - {item} for item in itemset) if len(itemset) > 1 else ()


def _least(share: float, rows: int) -> int:
    return max(ceil(Fraction(str(share)) * rows), 1)


def _whole(what: str, numbers: Iterable[Any]) -> Check:
    wrong = [number for number in numbers if not isinstance(number, int) or isinstance(number, bool) or number < 0]
    return Check(what=what, holds=not wrong, detail=f"no counts: {listed(wrong)}" if wrong else "whole numbers")


class BayesDocument(Record, frozen=True, kw_only=True):
    """Counts of every class, and of every value by class."""

    classes: Listed[Name]
    records: Listed[Count]
    columns: Mapped[Mapped[Listed[Count]]]
    target: Name


class ItemsetRecord(Record, frozen=True, kw_only=True):
    """A frequent set of items."""

    items: Listed[Name]
    rows: Count


class RuleRecord(Record, frozen=True, kw_only=True):
    """An association rule."""

    antecedent: Listed[Name]
    consequent: Listed[Name]
    rows: Count
    support: Number
    confidence: Number
    lift: Number


class RulesDocument(Record, frozen=True, kw_only=True, rename={"least_rows": "least rows"}):
    """Frequent sets and the rules that follow from them."""

    rows: Count
    least_rows: Count
    min_confidence: Number
    sets: Listed[ItemsetRecord]
    rules: Listed[RuleRecord]


class TableDocument(Record, frozen=True, kw_only=True):
    """Counts of combinations."""

    columns: Listed[Name]
    rows: Listed[Listed[Name | Number]]


class ClustersDocument(Record, frozen=True, kw_only=True, rename={"squared_distances": "squared distances"}):
    """The centres of clusters."""

    columns: Listed[Name]
    clusters: Listed[Listed[Number]]
    squared_distances: Number


class GradedDocument(Record, frozen=True, kw_only=True):
    """The terms of graded grouping, and the commitment to the secret."""

    columns: Mapped[Value]
    agreement: Digest


RESULTS: Mapping[str, tuple[type[Any], Callable[[Document, Mapping[str, Any], str], Looked]]] = {
    "counts": (TableDocument, _counts),
    "naive-bayes": (BayesDocument, _bayes),
    "tree": (dict[str, Any], _tree),  # `stated_tree` reads it strictly
    "k-means": (ClustersDocument, _means),
    "rules": (RulesDocument, _rules),
    "vertical-naive-bayes": (BayesDocument, _bayes),
    "vertical-rules": (RulesDocument, _rules),
    "graded": (GradedDocument, _graded),
}
"""The form of the result of each protocol, and how it is checked."""
