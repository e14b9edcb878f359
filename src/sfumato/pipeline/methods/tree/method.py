"""Published trees as a method: manifest, reports and summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.attacks.finding import Finding
from sfumato.bundles.checks.trees import DOCUMENT, TOGETHER, tree_bundle_checks
from sfumato.bundles.manifest.document import plain
from sfumato.bundles.provenance import Check, same
from sfumato.bundles.verify import DATA
from sfumato.core.claims import titled
from sfumato.core.errors import listed
from sfumato.core.run_context import Work
from sfumato.dp.events import to_json
from sfumato.mining.federation import Model
from sfumato.mining.prediction import leaves_of
from sfumato.mining.records import Records
from sfumato.mining.rule_document import rule_of
from sfumato.mining.tree_document import TreeDocument
from sfumato.mining.tree_publishing import NoisyTree
from sfumato.pipeline.artifacts import MODEL_DOCUMENT
from sfumato.pipeline.methods.method import Method, Request, Summary, refused, refused_bundle, warned
from sfumato.pipeline.methods.supports import Supports
from sfumato.pipeline.methods.tree import attack, plan, stages
from sfumato.pipeline.methods.tree.plan import is_noisy
from sfumato.pipeline.methods.tree.stages import TreeRelease, prepare, read, structure_of
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import unwritten, versions
from sfumato.pipeline.shared_models import models_in, read_model
from sfumato.reports.language import figured, retold, translated
from sfumato.reports.trees import ClaimShown, MergeShown, TreeFacts, render
from sfumato.tables.schema import Categories
from sfumato.tables.table import Table

# From a release of trees to its manifest, reports and summary.


_RULES = {1: "together they pass", 2: "it failed too", 3: "it is the smallest sibling"}
_MEANS = {
    "tree-k-anonymity": "Every leaf holds at least {k} records.",
    "tree-simple-l-diversity": "In no leaf a class has a share above 1 in {l}.",
    "tree-recursive-l-diversity": (
        "In every leaf the most frequent class is rarer than {c} times the classes from the {l}-th on together."
    ),
    "differential-privacy": "The counts would be told nearly as likely if a record were added or removed.",
}


def manifest(release: TreeRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated: everything about leaves is computed from the documents."""
    shape = [_shape(read_model(text)) for text in release.rows[DOCUMENT].to_list()]
    noisy = release.found if isinstance(release.found, NoisyTree) else None
    left_out = release.prepared.left_out
    return {
        "claims": [claim.to_json() for claim in release.claims],
        "trees": shape,
        "recoding": {
            "algorithm": release.algorithm,
            "why": release.why,
            **({"left_out": left_out} if left_out else {}),
        },
        **release.audit.stated(),
        **(
            {} if noisy is None else {"ledger": to_json(noisy.event), "noise": {"law": noisy.law, "scale": noisy.scale}}
        ),
        **({} if noisy is None else {"paid": None if release.paid is None else release.paid.to_json()}),
        "versions": versions("numpy", "polars", *(() if noisy is None else ("opendp",))),
    }


def _shape(model: Model) -> dict[str, int]:
    """How many leaves, edges and records; of rules, conditions are edges."""
    records = int((model.hit + model.miss).sum())
    if isinstance(model, TreeDocument):
        return {"leaves": len(model.leaves), "depth": int(model.depth.max(initial=0)), "records": records}
    return {
        "leaves": model.many,
        "depth": max((len(condition) for condition in model.conditions), default=0),
        "records": records,
    }


def public_page(manifest: Mapping[str, Any], tables: Mapping[str, Table], work: Work) -> str:
    """The report as one HTML page, from the documents and the manifest."""
    return render(TreeFacts(**_facts(manifest, tables)), work)


def inside_page(release: TreeRelease, work: Work) -> str:
    """The steward's own report: what was pruned, and all that attacks found."""
    body, tables = unwritten(release)
    more: dict[str, Any] = {"inside": True, "findings": release.audit.findings, "skipped": dict(release.audit.skipped)}
    if not isinstance(release.found, NoisyTree):
        forest = release.found
        more["pruned"] = tuple(
            (pruned_tree.leaves_before, pruned_tree.failing_before, len(pruned_tree.tree.leaves))
            for pruned_tree in forest.found
        )
        more["merges"] = tuple(_merges(release))
        more["dropped"] = (release.prepared.left_out, forest.empty, forest.broken)
    return render(TreeFacts(**{**_facts(body, tables), **more}), work)


def _merges(release: TreeRelease) -> Iterator[MergeShown]:
    if isinstance(release.found, NoisyTree):
        return
    classes = release.prepared.records.classes

    def figure_text(figures: tuple[int, int, int]) -> str:
        return f"{classes[figures[0]]} {figures[1]} / {figures[2]}"

    for number, pruned_tree in enumerate(release.found.found, start=1):
        for step in pruned_tree.merges:
            yield MergeShown(
                tree=number,
                parts=step.parts,
                before=(figure_text(step.before[0]), figure_text(step.before[1])),
                after=figure_text(step.after) + ("" if step.passes else translated(", which fails still")),
                why=translated(_RULES[step.rule]),
                pruned=step.pruned,
            )


def _facts(manifest: Mapping[str, Any], tables: Mapping[str, Table]) -> dict[str, Any]:
    models = [read_model(text) for text in tables[DATA].frame[DOCUMENT].to_list()]
    rules = tuple(model.texts() for model in models if not isinstance(model, TreeDocument))
    noise = manifest.get("noise")
    return {
        "made": str(manifest["made"]),
        "version": str(manifest["sfumato"]),
        "marks": tuple(manifest["marks"]),
        "target": models[0].target,
        "trees": tuple(model for model in models if isinstance(model, TreeDocument)),
        "rules": rules,
        "records": int(manifest["trees"][0]["records"]),
        "leaves": sum(int(tree["leaves"]) for tree in manifest["trees"]),
        "claims": tuple(map(_claim_shown, manifest["claims"])),
        "attributes": tuple(
            (attribute.name, _domain(attribute.domain), attribute.declared) for attribute in models[0].attributes
        ),
        "told": str(manifest["plan"]["tree"]["told"]),
        "algorithm": str(manifest["recoding"]["algorithm"]),
        "why": str(manifest["recoding"]["why"]),
        "noise": None if noise is None else (str(noise["law"]), float(noise["scale"])),
        "paid": manifest.get("paid") is not None,
        "findings": tuple(map(Finding.from_json, manifest["attacks"])),
        "skipped": dict(manifest["attacks_not_made"]),
    }


def promises(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What each promise means, and what a published model leaves open."""
    leaves = translated("Whoever knows a person's attributes finds their leaf, and learns what is common there.")
    return [(_claim_shown(claim).means, leaves) for claim in manifest["claims"]]


def _claim_shown(claim: Mapping[str, Any]) -> ClaimShown:
    parameters = {key: value for key, value in claim["parameters"].items() if key != TOGETHER}
    means = translated(_MEANS[claim["model"]]).format_map(claim["parameters"])
    if TOGETHER in claim["parameters"]:
        more = "This is about the people who reach the same leaves in all trees; the publisher counted them."
        means += f" {translated(more)}"
    sense = {"at least": "≥", "at most": "≤", "below": "<", "above": ">"}[claim["sense"]]
    reached = figured(f"{float(claim['reached']):.4g} {sense} {float(claim['limit']):.4g}")
    title = retold(titled(claim["model"], parameters)) + (
        translated(", together") if TOGETHER in claim["parameters"] else ""
    )
    return ClaimShown(title=title, means=means, reached=reached)


def _domain(domain: Any) -> str:
    if isinstance(domain, Categories):
        return retold(listed(domain.values, most=12))
    low, high = (figured(f"{end:g}") for end in (domain.low, domain.high))
    if domain.grid is None:
        return translated("{low} to {high}", low=low, high=high)
    return translated("{low} to {high}, in steps of {grid}", low=low, high=high, grid=figured(f"{domain.grid:g}"))


def summary(release: TreeRelease) -> Summary:
    """Claims, and how much leaves tell."""
    trees = release.shown
    leaves = sum(len(tree.leaves) for tree in trees)
    many = "A tree" if len(trees) == 1 else f"{len(trees)} trees"
    findings = [finding for finding in release.audit.findings if finding.rate.carried_out]
    risks = tuple(
        f"{finding.attack}: {finding.rate.value:.1%} right, {finding.baseline.value:.1%} without the tree."
        for finding in findings
    )
    changes: tuple[tuple[str, object, object], ...] = ()
    if not isinstance(release.found, NoisyTree):
        changes = (("leaves", sum(pruned_tree.leaves_before for pruned_tree in release.found.found), leaves),)
    return Summary(
        lines=(
            f"{many} of {trees[0].records:,} records with {leaves:,} leaves, by {release.algorithm}.",
            *_one_of_each(release),
            *release.advice,
        ),
        heads=("claim", "reached", "limit"),
        cells=tuple(
            (titled(claim.model, claim.parameters), f"{claim.reached:.4g}", f"{claim.sense} {claim.limit:.4g}")
            for claim in release.claims
        ),
        after=(*risks, *warned(release.marks), *_unpaid(release)),
        changes=changes,
    )


def _one_of_each(release: TreeRelease) -> list[str]:
    """That leaves count people, where the plan tells them apart."""
    unit, further = release.plan.input.unit, release.prepared.further
    if unit is None or isinstance(release.found, NoisyTree):
        return []
    return [
        f"Leaves count people, told apart by {unit}: the first record of each; {further:,} further rows are unused."
    ]


def _unpaid(release: TreeRelease) -> list[str]:
    """Noisy counts without a ledger say so."""
    if not isinstance(release.found, NoisyTree) or release.paid is not None:
        return []
    from sfumato.reports.private import UNPAID

    return [UNPAID]


def figures(release: TreeRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "trees": [_shape(tree) for tree in release.shown],
        "left_out": release.prepared.left_out,
        "advice": list(release.advice),
        "algorithm": release.algorithm,
        "claims": plain([claim.to_json() for claim in release.claims]),
        "attacks": release.audit.to_json(),
        "paid": None if release.paid is None else release.paid.to_json(),
    }


def made_again(folder: Path, manifest: Mapping[str, Any], plan: Plan, original: object, work: Work) -> Iterable[Check]:
    """The steward counts every leaf again with the original; noise cannot be drawn again, and nothing is spent."""
    models = models_in(folder, manifest)
    if is_noisy(plan):
        structure, here = structure_of(plan), models[0]
        yield same(
            "attributes and classes of the plan",
            (structure.attributes, structure.classes),
            (here.attributes, here.classes),
        )
        return
    request = Request(plan=plan, keys={}, like=original)
    records = prepare(request, read(request)).records
    for number, model in enumerate(models, start=1):
        wrong = _miscounted(model, records)
        detail = f"{wrong} leaves have other counts" if wrong else "every leaf as the original gives it"
        yield Check(what=f"counts of tree {number}", holds=not wrong, detail=detail)


def _miscounted(model: Model, records: Records) -> int:
    """How many leaves do not say what the records give."""
    tree = isinstance(model, TreeDocument)
    where = leaves_of(model, records) if isinstance(model, TreeDocument) else rule_of(model, records)
    counts = np.zeros((len(model.hit) + 1, len(records.classes)), np.int64)
    np.add.at(counts, (where, records.codes), 1)
    some = model.leaves if tree else np.arange(len(model.hit))  # type: ignore[union-attr]
    mine, sizes = counts[some], counts[some].sum(axis=1)
    wrong = (mine[np.arange(len(some)), model.says[some]] != model.hit[some]) | (
        sizes != (model.hit + model.miss)[some]
    )
    if model.counts is not None:
        wrong |= (mine != model.counts[some]).any(axis=1)
    return int(wrong.sum())


# Trees instead of rows as a kind of release.


METHOD = Method(
    name="tree",
    attacks="tree",
    supports=Supports(title="a published tree", unit=True, control=True, earlier=True, group=False),
    check=plan.check,
    begin=stages.begin,
    read=stages.read,
    prepare=stages.prepare,
    search=stages.search,
    recode=stages.recode,
    judge=stages.judge,
    attack=attack.attack,
    artifact=MODEL_DOCUMENT,
    manifest=manifest,
    checks=tree_bundle_checks,
    again=made_again,
    subject=refused_bundle("it holds trees, which are compared with other trees only; name bundles of trees"),
    beside=attack.attack_beside,
    public_page=public_page,
    done=lambda manifest: translated("A model that was learnt from the records is published instead of the records."),
    promises=promises,
    inside_page=inside_page,
    summary=summary,
    figures=figures,
    comparison=refused("tree: a frontier compares tables; `sfumato tree experiment` compares ways to share trees"),
)
