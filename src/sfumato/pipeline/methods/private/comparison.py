"""Private releases compared by a frontier: epsilon against what a classifier learns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.cut import ColumnCut
from sfumato.algorithms.private_table import Attribute, NoisyTable, PrivateTable
from sfumato.core.errors import PlanError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.counts.local_cuts import CodedRows
from sfumato.counts.sources import refuse_lacking
from sfumato.metrics.classification import MOST_ROWS, STUDY
from sfumato.metrics.learners import Learner, ends_read, feature_rows, learnt
from sfumato.metrics.metric import Reals
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.frontier.axes import Axis, Record, accuracy_axis, groups_axis
from sfumato.pipeline.inputs import bounded
from sfumato.pipeline.methods.private.domains import declared_table
from sfumato.pipeline.methods.private.plan import private_algorithm, searches
from sfumato.pipeline.methods.private.stages import PrivateRelease
from sfumato.pipeline.plan.evaluation import Grid, Tree
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import Release
from sfumato.tables.table import Table

# What a classifier makes of a differentially private release: trained on it, tried on rows that it was not made from.
#
# The figures are the steward's: they are read off the private table, and no epsilon covers them.


Rows = NDArray[np.int64]
PrivateAlgorithm = Callable[[PrivateTable, Work], NoisyTable]


def rows_behind(table: PrivateTable) -> CodedRows:
    """The single rows of a table; a source that only counts is refused."""
    refuse_lacking(table.counts, ("rows",), "accuracy on rows that were kept back")
    return cast("CodedRows", table.counts)


def split(table: PrivateTable) -> tuple[Rows, Rows]:
    """Two thirds of the rows to release from, one third to try; the same rows for the same table."""
    order = Chance(seed=STUDY).generator().permutation(rows_behind(table).rows)[:MOST_ROWS]
    tested = -(-len(order) // 3) if len(order) > 1 else 0
    return np.sort(order[tested:]), np.sort(order[:tested])


def rows_of(table: PrivateTable, rows: Rows) -> PrivateTable:
    """Some rows of a table."""
    return replace(table, counts=rows_behind(table).take(rows))


def accuracies(table: PrivateTable, learner: Learner = "tree") -> dict[str, float]:
    """What the learner reaches after the original training rows, and what the most frequent class does."""
    train, test = split(table)
    if not len(train) or not len(test):
        return {"original": 0.0, "majority": 0.0}
    behind = rows_behind(table)
    plain = [
        (attribute, rows.codes)
        for attribute, rows in zip(table.attributes, behind.columns, strict=True)
        if attribute.kind != "set"
    ]
    parts = [
        _label_features(attribute, np.arange(len(attribute.values), dtype=np.int32), len(attribute.values))
        for attribute, _ in plain
    ]
    codes = behind.counted[table.target_name or ""].astype(np.int64)
    model = learnt(feature_rows(parts, [mine[train] for _, mine in plain], len(train)), codes[train], learner, STUDY)
    predictions = model.predict(feature_rows(parts, [mine[test] for _, mine in plain], len(test)))
    most = int(np.bincount(codes[train]).argmax())
    return {"original": float((predictions == codes[test]).mean()), "majority": float((codes[test] == most).mean())}


def released_accuracy(table: PrivateTable, run: PrivateAlgorithm, learner: Learner = "tree") -> float:
    """What the learner reaches after a release of the training rows, asked about the others in the release's labels."""
    train, test = split(table)
    noisy_table = run(rows_of(table, train), Work())
    if not noisy_table.counts.sum() or not len(test):
        return 0.0
    return _tried(noisy_table, table, test, learner)


def _tried(noisy_table: NoisyTable, table: PrivateTable, test: Rows, learner: Learner) -> float:
    behind = rows_behind(table)
    known = {
        attribute.name: (attribute, rows) for attribute, rows in zip(table.attributes, behind.columns, strict=True)
    }
    read: list[tuple[NDArray[np.int32], ColumnCut, Reals, NDArray[np.int32]]] = []
    for place, name in enumerate(noisy_table.columns):
        cut, (attribute, rows) = (noisy_table.cut[place] if noisy_table.cut else None), known[name]
        if cut is None or attribute.kind == "set":
            continue
        read.append(
            (
                rows.codes[test],
                cut,
                _label_features(attribute, cut.of_code, len(cut.labels)),
                _places(noisy_table, place, cut),
            )
        )
    groups, classes = np.nonzero(noisy_table.counts)
    many = noisy_table.counts[groups, classes]
    group, target_codes = np.repeat(groups, many), np.repeat(classes, many).astype(np.int64)
    features = feature_rows(
        [features for _, _, features, _ in read], [places[group] for *_, places in read], len(group)
    )
    model = learnt(features, target_codes, learner, STUDY)
    test_codes = [cut.of_code[codes] for codes, cut, _, _ in read]
    answers = model.predict(feature_rows([features for _, _, features, _ in read], test_codes, len(test)))
    return float((answers == behind.counted[table.target_name or ""][test]).mean())


def _places(noisy_table: NoisyTable, place: int, cut: ColumnCut) -> NDArray[np.int32]:
    """For each group, the place of its label in the cut."""
    names = {label: n for n, label in enumerate(cut.labels)}
    codes: NDArray[np.int32] = np.array([names[label] for label in noisy_table.labels[place]], np.int32)[
        noisy_table.keys[place]
    ]
    return codes


def _label_features(attribute: Attribute, of_code: NDArray[np.int32], labels: int) -> Reals:
    """Labels x features: the ends of their numbers, or the share of their leaves under each node."""
    cover = np.equal.outer(np.arange(labels), of_code).astype(np.float64)
    cover /= np.maximum(cover.sum(axis=1, keepdims=True), 1.0)
    if attribute.tree is None:
        return ends_read(cover, np.array([attribute.edge(cell) for cell in range(len(attribute.values))]))
    nodes = np.stack([attribute.tree.covers(node) for node in range(1, len(attribute.tree.labels))], axis=1).astype(
        np.float64
    )
    averages: Reals = cover @ nodes
    return averages


# How private releases are compared by a frontier: epsilon against what a classifier learns.


DEFAULT_EPSILON = (0.1, 0.5, 1.0)
"""The values of epsilon, beside the plan's own, where there is no grid."""


class PrivateComparison:
    """Private releases are compared by epsilon, and by a classifier or the number of groups."""

    def algorithms(self, plan: Plan) -> tuple[Tree, ...]:
        """All private algorithms, the plan's own first."""
        if searches(plan):
            raise PlanError("columns: a frontier compares releases over the same domains; declare them all, for each "
                            'release would find others with domain_from = "discover"')  # fmt: skip
        own, every = plan.algorithm.name, catalog().solving("private")
        return tuple({"name": name} for name in (every if own == "auto" else dict.fromkeys([own, *every])))

    def grid(self, plan: Plan) -> Grid:
        """Some values of epsilon."""
        return {"privacy.epsilon": tuple(sorted({*DEFAULT_EPSILON, plan.privacy["epsilon"]}, key=float))}

    def attack(self, plan: Plan) -> Tree:
        """Nothing: noise is audited, not attacked row by row."""
        if plan.frontier.attacks:
            raise PlanError("frontier.attacks: only releases by privacy models of tables are attacked here")
        return {"run": False}

    def measured(self, release: Release, table: Table) -> dict[str, Any]:
        """What is measured; a second release, of two thirds of the rows, is tried on the others."""
        private_release = cast("PrivateRelease", release)
        private = declared_table(private_release.plan, bounded(table, private_release.plan))
        learnt = (
            None
            if private.target_name is None
            else released_accuracy(private, private_algorithm(private_release.plan)[1])
        )
        return {
            "algorithm_used": private_release.algorithm,
            "proven_optimal": False,
            "claims": [],
            "epsilon": float(private_release.promise.epsilon or 0),
            "rows": private_release.rows.height,
            "suppressed_rows": 0,
            "classes": private_release.outcome.keys.shape[1],
            "utility": {},
            "accuracy": learnt,
        }

    def original(self, plan: Plan, table: Table, population: Table | None) -> dict[str, Any]:
        """What the classifier reaches on it; no risk is told."""
        private = declared_table(plan, bounded(table, plan))
        known = None if private.target_name is None else accuracies(private)
        return {"rows": private.rows, "classes": 0, "risk": None, "target": private.target_name, "accuracy": known}

    def privacy(self, records: Sequence[Record]) -> tuple[Axis, ...]:
        """Epsilon."""
        meaning = "how much likelier any output can be with a record than without, as a power of e"
        return (
            Axis(name="epsilon", meaning=meaning, better="lower", how="number", read=lambda record: record["epsilon"]),
        )

    def utility(self, metrics: Sequence[str], *, target: bool) -> tuple[Axis, ...]:
        """Accuracy where there is a class, else the number of groups."""
        return (accuracy_axis(),) if target else (groups_axis(),)

    def refuse_pick(self) -> None:
        """Choosing by private figures is a release that nobody paid for."""
        raise PlanError(
            "--pick: choosing a private release by figures of the private table is a release of its own that no "
            "epsilon covers; choose on public data of the same kind, and make the one release with `sfumato release`"
        )
