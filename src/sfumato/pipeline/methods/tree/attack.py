"""Published trees as an attacker finds them, and the attacks that every bundle of them is put through."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.attacks.finding import Finding, Limit
from sfumato.attacks.trees import ToldTree, TreeMembership, TreeSubject
from sfumato.bundles.checks.trees import NOT_COVERED, TOGETHER
from sfumato.bundles.verify import untouched
from sfumato.core.claims import titled
from sfumato.core.errors import DataError, Infeasible, unknown_column
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.mining.federation import Model
from sfumato.mining.prediction import leaves_of
from sfumato.mining.records import read_like
from sfumato.mining.rule_document import rule_of
from sfumato.mining.tree_document import TreeDocument
from sfumato.mining.tree_publishing import NoisyTree
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.inputs import load_table
from sfumato.pipeline.methods.method import Audit, over
from sfumato.pipeline.methods.tree.plan import algorithm_of, requirement, tree_of
from sfumato.pipeline.methods.tree.stages import TreeRelease, first_rows, shown_trees
from sfumato.pipeline.plan.evaluation import AttackPlan
from sfumato.pipeline.shared_models import models_in
from sfumato.tables.table import Table

_HALF = "made on trees learnt from a random half of the records; the other half are the people who are not in it"


def attack(release: TreeRelease, work: Work) -> Audit:
    """Follow people to leaves; more than the plan allows is refused.

    Where no control file is given, membership is attacked on trees of one half of the records, learnt in the same way.
    What attackers find about noisy counts is not told: it would be read off the private records.
    """
    attack_plan, chance = release.plan.attack, Chance(seed=release.plan.algorithm.seed)
    if not attack_plan.run:
        return Audit()
    if isinstance(release.found, NoisyTree):
        return Audit(skipped=dict.fromkeys(catalog().chosen_attacks(attack_plan.attacks, "tree"), NOT_COVERED))
    people, control = release.prepared.records, None
    if attack_plan.control is not None:
        control = _known(load_table(release.plan, None, attack_plan.control), release.shown[0], "attack.control")
    stated = [{"model": claim.model, "parameters": claim.parameters} for claim in release.claims]
    sides = (release.prepared.frame, control)
    subject = subject_of(release.shown, release.earlier, people.codes, sides, stated, release.algorithm)
    audit = audited(subject, attack_plan, work, chance)
    name = TreeMembership.name
    if control is None and name in audit.skipped and not audit.skipped[name].startswith("the time"):
        audit = _halved(release, audit, chance)
    audit.refuse(attack_plan.max_risk, attack_plan.accept)
    return audit


def _halved(release: TreeRelease, audit: Audit, chance: Chance) -> Audit:
    """Membership, measured on trees of one half of the records."""
    name, records = TreeMembership.name, release.prepared.records
    order = chance.generator().permutation(records.count)
    inside, outside = (records.take(np.sort(part)) for part in (order[: len(order) // 2], order[len(order) // 2 :]))
    try:
        forest = algorithm_of(release.plan)[1](inside, requirement(release.plan), chance)
    except (Infeasible, DataError) as error:
        return replace(audit, skipped={**audit.skipped, name: f"no control file, and of half the records: {error}"})
    sides = (inside.frame(), outside.frame())
    subject = subject_of(shown_trees(forest, tree_of(release.plan).told), (), inside.codes, sides, ())
    attack = catalog().attacks[name].make(release.plan.attack.trials)
    finding = attack.run(subject, chance, None)
    skipped = {title: why for title, why in audit.skipped.items() if title != name}
    return replace(audit, findings=(*audit.findings, replace(finding, note=_HALF)), skipped=skipped)


def attack_beside(
    folder: Path,
    manifest: Mapping[str, Any],
    original: Table,
    *,
    control: Table | None,
    earlier: Iterable[Path],
    attack_plan: AttackPlan,
    work: Work,
    chance: Chance,
) -> Audit:
    """The same for a bundle, beside the table that it was made from and other bundles about the same people."""
    models = models_in(folder, manifest)
    original = first_rows(original, manifest["plan"]["input"].get("unit"))
    sides = (
        _known(original, models[0], "--original"),
        None if control is None else _known(control, models[0], "--control"),
    )
    truth = codes_of(sides[0], models[0])
    before = [model for place in earlier for model in models_in(place, untouched(place))]
    algorithm = str(manifest["recoding"]["algorithm"])
    return audited(subject_of(models, before, truth, sides, manifest["claims"], algorithm), attack_plan, work, chance)


def audited(subject: TreeSubject, attack_plan: AttackPlan, work: Work, chance: Chance) -> Audit:
    """Make the attacks that are asked for; those without time are told as not made."""
    inner, findings, skipped = work.within(attack_plan.seconds), list[Finding](), dict[str, str]()
    chosen = catalog().chosen_attacks(attack_plan.attacks, "tree")
    for place, (name, part) in enumerate(chosen.items()):
        work.advance("attack", place, len(chosen))
        attack = part.make(attack_plan.trials)
        why = over(inner, attack_plan.seconds) or attack.fits(subject)
        if why:
            skipped[name] = why
        else:
            findings.append(attack.run(subject, chance, None))
    work.advance("attack", 1, 1)
    return Audit(findings=tuple(findings), skipped=skipped)


def subject_of(
    models: Sequence[Model],
    earlier: Sequence[Model],
    truth: Any,
    sides: tuple[Any, Any],
    claims: Iterable[Mapping[str, Any]],
    algorithm: str = "",
) -> TreeSubject:
    """Trees with the people who are in the data, and those who are not; a tree reads the columns that it asks for."""
    stated, (inside, outside) = list(claims), sides
    known = [model for model in earlier if model.classes == models[0].classes and model.target == models[0].target]
    return TreeSubject(
        trees=tuple(_told(model, inside, outside) for model in models),
        earlier=tuple(_told(model, inside, outside) for model in known),
        truth=np.asarray(truth, np.int64),
        outside_truth=None if outside is None else codes_of(outside, models[0]),
        promised=_promised([claim for claim in stated if TOGETHER not in claim["parameters"]]),
        together=_promised([claim for claim in stated if TOGETHER in claim["parameters"]]),
        algorithm=algorithm,
        claims=tuple(claim for claim in stated if TOGETHER not in claim["parameters"]),
    )


def codes_of(frame: Any, model: Model) -> Any:
    """The class of every row."""
    return read_like(frame, attributes=(), target=model.target, classes=model.classes).codes.astype(np.int64)


def _promised(claims: Iterable[Mapping[str, Any]]) -> Limit | None:
    """How surely a leaf may tell a class at most; k-anonymity says nothing about that."""
    limits = []
    for claim in claims:
        parameters, why = claim["parameters"], titled(claim["model"], claim["parameters"])
        if claim["model"] == "tree-simple-l-diversity":
            limits.append(Limit(value=1 / parameters["l"], why=why))
        elif claim["model"] == "tree-recursive-l-diversity" and parameters["l"] > 1:
            limits.append(Limit(value=parameters["c"] / (parameters["c"] + 1), why=why))
    return min(limits, key=lambda limit: limit.value, default=None)


def _told(model: Model, inside: Any, outside: Any) -> ToldTree:
    """What the leaves of a model tell, and where people reach them; who follows no rule is told nothing."""
    figures = _figures(model)
    sizes, shares = figures
    overall = (shares * sizes[:, None]).sum(axis=0) / max(int(sizes.sum()), 1)
    return ToldTree(
        shares=np.vstack([shares, overall[None, :]]),
        sizes=np.append(sizes, 0),
        inside=_reached(model, inside),
        outside=None if outside is None else _reached(model, outside),
        counts=_counts(model),
        parts=_parts(model, inside),
    )


def _counts(model: Model) -> Any:
    """Leaves x classes, and none for who reaches no leaf; of two classes hit and miss tell both."""
    some = model.leaves if isinstance(model, TreeDocument) else np.arange(model.many)
    counts = None if model.counts is None else model.counts[some]
    if counts is None and len(model.classes) == 2:
        counts = np.zeros((len(some), 2), np.int64)
        counts[np.arange(len(some)), model.says[some]] = model.hit[some]
        counts[np.arange(len(some)), 1 - model.says[some]] = model.miss[some]
    return None if counts is None else np.vstack([counts, np.zeros((1, counts.shape[1]), np.int64)])


def _parts(model: Model, frame: Any) -> Any:
    """Which of several values on the edge to their leaf people have; -1 where the edge has one value, or intervals."""
    if not isinstance(model, TreeDocument):
        return None
    people = read_like(frame, attributes=model.attributes, target=model.target, classes=model.classes)
    leaf = leaves_of(model, people)
    values = np.full(people.count, -1, np.int64)
    for node in model.leaves.tolist():
        above = int(model.parent[node])
        if above < 0 or model.attributes[int(model.split[above])].numeric or len(model.labels[node]) < 2:
            continue
        here = leaf == node
        values[here] = people.columns[int(model.split[above])][here]
    return values


def _figures(model: Model) -> tuple[Any, Any]:
    """The size of every leaf, and the share of every class in it."""
    tree = isinstance(model, TreeDocument)
    some = model.leaves if isinstance(model, TreeDocument) else np.arange(model.many)
    hit, miss, says = model.hit[some], model.miss[some], model.says[some]
    sizes, many = hit + miss, len(model.classes)
    if model.counts is not None:
        counts = model.counts[some].astype(np.float64)
    else:
        counts = np.repeat((miss / max(many - 1, 1))[:, None], many, axis=1)
        counts[np.arange(len(some)), says] = hit
    shares = counts / np.maximum(sizes, 1)[:, None]
    if tree:
        shares[sizes == 0] = 1 / many
    return sizes, shares


def _reached(model: Model, frame: Any) -> Any:
    """The place of everybody's leaf among the leaves; after the last where there is none."""
    people = read_like(frame, attributes=model.attributes, target=model.target, classes=model.classes)
    if isinstance(model, TreeDocument):
        return np.searchsorted(model.leaves, leaves_of(model, people))
    rule_index = rule_of(model, people)
    return np.where(rule_index < 0, model.many, rule_index)


def _known(table: Table, model: Model, where: str) -> Any:
    """The people of a table with a known class."""
    for name in (*(attribute.name for attribute in model.attributes), model.target):
        if name not in table.names:
            raise unknown_column(name, table.names, where=where)
    return table.frame[np.flatnonzero(codes_of(table.frame, model) >= 0)]
