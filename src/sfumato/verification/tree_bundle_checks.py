"""Verifying published trees: every claim is computed again from what the leaves of the written documents tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import inf, isclose
from pathlib import Path
from typing import Any

from sfumato.budget.events import from_json
from sfumato.budget.promise import Promise
from sfumato.data.table import Table
from sfumato.ground.errors import BundleError, listed
from sfumato.verification.attack_figures import attacks_fit
from sfumato.verification.checks import Check, Remark, rounded, same
from sfumato.verification.consistency import algorithm_fits, marks_fit
from sfumato.verification.private_checks import DIFFERENTIAL, neighbours
from sfumato.verification.stated_trees import StatedLeaf, StatedTree, every_leaf, stated_tree
from sfumato.verification.verifying import DATA, same_columns, shape

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
    yield from shape(folder, manifest, table)
    if not same_columns(manifest, table) or not table.rows:
        yield Check(what="documents", holds=table.rows > 0, detail=f"{table.rows} documents")
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
    stated = [{"leaves": len(one.leaves), "depth": one.depth, "records": one.records} for one in trees]
    yield same("leaves, depths and records", stated, manifest["trees"])
    yield algorithm_fits(manifest, Check)
    private = "ledger" in manifest
    yield same("noise is stated where it was paid for", "noise" in manifest, private)
    if private:
        yield from _noisy(manifest, trees)
    else:
        yield same("records of every tree", len({one.records for one in trees}), 1)
        yield from _claims(manifest, trees)
        yield from attacks_fit(manifest)
        yield from _told(manifest, trees)
    hits = plan["privacy"].get("l_diversity", {}).get("basis") == "hits" and not private
    observed = [name for name, said in trees[0].declared.items() if not said]
    due = [
        *([SPREAD] if hits else []),
        *([observed_mark(observed)] if observed else []),
        *([DECLARED] if private else []),
    ]
    yield marks_fit(manifest, due, Check)


def _as_planned(manifest: Mapping[str, Any], trees: Sequence[StatedTree]) -> Iterable[Check]:
    """The documents are about the plan's columns and tell what it says; all have the same attributes and classes."""
    plan = manifest["plan"]
    asked, roles = plan["tree"], {name: column["role"] for name, column in plan["columns"].items()}
    yield same("forms of the documents", sorted({one.form for one in trees}), [asked["form"]])
    counted = {leaf.counts is not None for leaf in every_leaf(trees)}
    yield same("what leaves show", sorted(counted), [asked["told"] == "counts"])
    heads = {(one.target, one.classes, tuple(sorted(one.whole))) for one in trees}
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
    mine = [one for one in manifest["claims"] if TOGETHER not in one["parameters"]]
    yield same("claims", [_name(one) for one in mine], [_name(one) for one in due])
    for said, one in zip(mine, due, strict=False):
        wrong = [key for key, value in one.items() if rounded(said[key]) != rounded(value)]
        wrong += ["readings"] * (
            rounded(said["readings"]) != rounded(dict.fromkeys(("value", "wildcard"), one["reached"]))
        )
        told = f"another {listed(wrong)}: the leaves reach {one['reached']:.6g}" if wrong else f"{one['reached']:.6g}"
        yield Check(what=str(one["model"]), holds=not wrong and bool(one["holds"]), detail=told)
    together = [one for one in manifest["claims"] if TOGETHER in one["parameters"]]
    every = len(trees) + manifest["plan"]["attack"]["earlier"]
    asked = [_name(one) for one in due] if every > 1 else []
    fits = [_name(one) for one in together] == asked and all(
        one["holds"] and one["parameters"][TOGETHER] == every for one in together
    )
    yield Check(what="claims about all trees together", holds=fits, detail=f"{len(together)} for {every} trees, stated")


def _name(claim: Mapping[str, Any]) -> str:
    told = {key: value for key, value in claim["parameters"].items() if key != TOGETHER}
    return f"{claim['model']} {sorted(told.items())}"


def due_claims(privacy: Mapping[str, Any], leaves: Sequence[StatedLeaf]) -> Iterable[dict[str, Any]]:
    """What a plan's requirements come to on some leaves, from the definitions."""
    if "k_anonymity" in privacy:
        k = privacy["k_anonymity"]
        yield _claim("tree-k-anonymity", {"k": k}, [one.size for one in leaves], k, "at least")
    asked = privacy.get("l_diversity")
    if asked is not None and asked["kind"] not in ("recursive", "simple"):
        raise BundleError(f"privacy.l_diversity.kind is {asked['kind']!r}; trees have recursive and simple")
    if asked is not None and asked["kind"] == "simple":
        l = asked["l"]
        shares = [one.hit / one.size if one.size else inf for one in leaves]
        yield _claim("tree-simple-l-diversity", {"l": l}, shares, 1 / l, "at most")
    elif asked is not None:
        c, l, basis = asked["c"], asked["l"], asked.get("basis") or ("any" if leaves[0].counts is None else "counts")
        ratios = [_ratio(one, l, basis) for one in leaves]
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
    records = sum(one.records for one in trees)
    share = sum(leaf.hit for leaf in every_leaf(trees)) / max(records, 1)
    for one in manifest["attacks"]:
        if one["attack"] == INFERENCE:
            said = one["figures"].get(TOLD, -1.0)
            detail = f"{said:.4g}, where the leaves give {share:.4g}"
            yield Check(what=f"{INFERENCE}: {TOLD}", holds=abs(said - share) <= 1e-3 * max(share, 1e-9), detail=detail)


def _noisy(manifest: Mapping[str, Any], trees: Sequence[StatedTree]) -> Iterable[Check]:
    """The budget adds up to the promise, which is all that is claimed; nothing else was read off the records."""
    asked, event = Promise.of(manifest["plan"]["privacy"]), from_json(manifest["ledger"])
    spent = f"{asked.spent_by(event)} for {asked}"
    yield Check(what="the ledger adds up to what is promised", holds=asked.kept_by(event), detail=spent)
    promised = {**asked.to_json(), "neighbours": neighbours(manifest["plan"]["input"])}
    said = [(one["model"], one["parameters"], one["holds"]) for one in manifest["claims"]]
    yield same("claims are what the plan asks for", said, [(DIFFERENTIAL, promised, True)])
    yield _scale(manifest)
    yield same("documents with noisy counts", len(trees), 1)
    yield same("domains that were read off the records", [n for n, known in trees[0].declared.items() if not known], [])
    yield same("no seed is published", "seed" in manifest["plan"]["algorithm"], False)
    reasons = sorted(set(manifest["attacks_not_made"].values()) - {NOT_COVERED})
    yield same("attacks that would show private records", [*manifest["attacks"], *reasons], [])
    yield same("rows left out", manifest["recoding"].get("left_out", 0), 0)


def _scale(manifest: Mapping[str, Any]) -> Check:
    """The noise has the scale that the cost of the counts asks for: 1 / epsilon, or 1 / sqrt(2 rho)."""
    spent, told = manifest["ledger"].get("part", manifest["ledger"]), manifest["noise"]
    pure = spent["kind"] == "pure"
    wide = float(1 / Fraction(spent["epsilon"])) if pure else float(1 / (2 * Fraction(spent["rho"]))) ** 0.5
    fits = told["law"] == ("laplace" if pure else "gaussian") and isclose(float(told["scale"]), wide, rel_tol=1e-9)
    return Check(what="scale of the noise", holds=fits, detail=f"{told['law']}, {told['scale']:.6g}; due {wide:.6g}")
