"""Published trees: time of every step, against loops over tuples; accuracy beside scikit-learn; document 004, quick."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from measure import table, timed
from sfumato.core.randomness import Chance
from sfumato.mining.document_json import read_tree, write_tree
from sfumato.mining.experiment import Experiment, experiment, uci_set
from sfumato.mining.federation import pseudo_data
from sfumato.mining.leaf_privacy import TreeRecursiveDiversity
from sfumato.mining.prediction import predicted, share_right
from sfumato.mining.records import Records, read_records
from sfumato.mining.rule_document import RuleDocument, rules_of
from sfumato.mining.tree_document import TreeDocument
from sfumato.mining.tree_learning import TreeLearner
from sfumato.mining.tree_pruning import anonymized
from sfumato.tables.datasets.uci_adult import adult

MANY, NAIVE, FOLDS = 1_000_000, 20_000, 5


def publishing() -> str:
    """Every step from a frame of 45,222 rows to the text of a tree that meets (5, 2)-diversity."""
    frame, rows = adult(), []
    requirement = TreeRecursiveDiversity(c=5, l=2, basis="counts")
    for target in ("occupation", "income"):
        records, reading = timed(lambda name=target: read_records(frame, target=name), repeat=3)
        tree, learning = timed(lambda some=records: TreeLearner()(some), repeat=3)
        pruned, pruning = timed(lambda one=tree: anonymized(one, requirement, keep_root=True), repeat=3)
        text, writing = timed(lambda one=pruned: write_tree(one.tree), repeat=3)
        _, checking = timed(lambda one=text: read_tree(one), repeat=3)
        steps = (reading, learning, pruning, writing, checking)
        rows.append(
            [target, f"{len(tree.leaves):,}", f"{len(pruned.tree.leaves):,}"]
            + [f"{one.cpu:.2f} s" for one in steps]
            + [f"{sum(one.cpu for one in steps):.2f} s"]
        )
    head = [
        "class",
        "leaves learnt",
        "leaves left",
        "read",
        "learn",
        "prune",
        "write",
        "read back and check",
        "CPU in all",
    ]
    return table("Publishing a tree of Adult, 45,222 rows", head, rows)


def thousand() -> tuple[TreeDocument, Records]:
    """A tree of about a thousand leaves."""
    records = read_records(adult(), target="occupation")
    return TreeLearner(min_leaf=14)(records), records


def naive_pgen(rules: RuleDocument, size: int, dice: np.random.Generator) -> list[list[Any]]:
    """Figure 9 tuple by tuple."""
    found = []
    paths = np.repeat(np.arange(rules.many), rules.hit + rules.miss)[
        :: max(int((rules.hit + rules.miss).sum() // size), 1)
    ]
    for path in paths[:size].tolist():
        row: list[Any] = []
        for place, one in enumerate(rules.attributes):
            label = rules.conditions[path].get(place, one.whole)
            part = label[dice.integers(len(label))]
            row.append(one.domain.values[part] if not one.numeric else dice.uniform(*part))
        hit, miss = int(rules.hit[path]), int(rules.miss[path])
        others = [c for c in range(len(rules.classes)) if c != rules.says[path]]
        row.append(rules.classes[rules.says[path] if dice.random() * (hit + miss) < hit else dice.choice(others)])
        found.append(row)
    return found


def naive_predicted(tree: TreeDocument, rows: Sequence[Sequence[Any]]) -> list[int]:
    """The leaf of one tuple after the other."""
    found = []
    for row in rows:
        node = 0
        while tree.split[node] >= 0:
            place = int(tree.split[node])
            one, value = tree.attributes[place], row[place]
            for child in tree.children[node]:
                label = tree.labels[child]
                if (
                    any(low <= value < high or value == high == one.domain.high for low, high in label)
                    if one.numeric
                    else value in label
                ):
                    node = child
                    break
        found.append(int(tree.says[node]))
    return found


def generating() -> str:
    """A million pseudo-tuples, and a million predictions, against loops."""
    tree, _ = thousand()
    rules, dice = rules_of(tree), np.random.default_rng(1)
    drawn, fast = timed(lambda: pseudo_data(tree, chance=Chance(seed=1), size=MANY), repeat=3)
    _, slow = timed(lambda: naive_pgen(rules, NAIVE, dice))
    said, quick = timed(lambda: predicted(tree, drawn), repeat=3)
    some = drawn.take(slice(0, MANY, MANY // NAIVE))
    tuples = [list(row) for row in zip(*(column.tolist() for column in some.columns), strict=True)]
    same, loop = timed(lambda: naive_predicted(tree, tuples))
    if not (np.array(same) == said[:: MANY // NAIVE]).all():
        raise SystemExit("the loop and the arrays disagree")
    rows = [
        [
            "pseudo-tuples",
            f"{fast.cpu:.2f} s",
            f"{slow.cpu * MANY / NAIVE:.0f} s",
            f"{slow.cpu * MANY / NAIVE / fast.cpu:.0f}",
        ],
        [
            "predictions",
            f"{quick.cpu:.2f} s",
            f"{loop.cpu * MANY / NAIVE:.0f} s",
            f"{loop.cpu * MANY / NAIVE / quick.cpu:.0f}",
        ],
    ]
    title = f"A million tuples, a tree of Adult with {len(tree.leaves):,} leaves, CPU"
    return table(title, ["what", "arrays", f"loop, from {NAIVE:,}", "ratio"], rows)


def accuracies() -> str:
    """Five folds of each data set."""
    sets: dict[str, Records] = {name: uci_set(name) for name in ("nursery", "car", "cmc")}
    sets["adult, income"] = read_records(adult(), target="income")
    learners: dict[str, Callable[[Records, Records], Any]] = {
        "ours, a part for each value": lambda a, b: predicted(TreeLearner()(a), b),
        "ours, one value": lambda a, b: predicted(TreeLearner(categories="one")(a), b),
        "scikit-learn": lambda a, b: _peer(a, 0.0).predict(b.matrix()),
        "scikit-learn, pruned": lambda a, b: _peer(a, 3e-4).predict(b.matrix()),
    }
    rows = []
    for name, records in sets.items():
        order = Chance(seed=0).generator().permutation(records.count)
        cells = []
        for learner in learners.values():
            right, seconds = [], 0.0
            for fold in range(FOLDS):
                held = np.isin(np.arange(records.count), order[fold::FOLDS])
                train, test = records.take(~held), records.take(held)
                said, cost = timed(lambda one=learner, a=train, b=test: one(a, b))
                right.append(share_right(said, test))
                seconds += cost.cpu
            cells.append(f"{100 * np.mean(right):.1f} ({seconds / FOLDS:.2f} s)")
        rows.append([name, *cells])
    return table("Accuracy of trees in per cent, five folds, with CPU of one", ["data", *learners], rows)


def _peer(records: Records, alpha: float) -> DecisionTreeClassifier:
    peer = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, ccp_alpha=alpha, random_state=0)
    return peer.fit(records.matrix(), records.codes)


def shared_trees(found: Experiment) -> str:
    """Figures 10, 12 and 13, quick."""
    methods = ("BASIS", "PGEN", "BASEGEN", "BAGGING")
    kept = {(p.data, p.sources, p.method): p for p in found.sharing if p.learner == "tree"}
    rows = []
    for data in dict.fromkeys(p.data for p in found.sharing):
        for sources in (3, 10):
            points = [kept[data, sources, method] for method in methods]
            match = [f"{100 * one.class_match:.0f}" for one in points[1:]]
            rows.append([data, sources, *(f"{100 * one.accuracy:.1f}" for one in points), " / ".join(match)])
    title = "Global trees from shared trees, accuracy in per cent, one fold"
    return table(title, ["data", "sources", *methods, "class match of the last three"], rows)


def diverse_models(found: Experiment) -> str:
    """Figures 14 to 16, quick."""
    methods = ("ATP", "LDM", "LDD", "OPTI")
    kept = {(p.data, p.requirement, p.sources, p.method): p for p in found.diversity}
    rows = []
    for data, asked, sources in dict.fromkeys((p.data, p.requirement, p.sources) for p in found.diversity):
        points = [kept[data, asked, sources, method] for method in methods]
        told = ["-" if one.accuracy is None else f"{100 * one.accuracy:.1f} ({one.metric:.2f})" for one in points]
        rows.append([data, f"({asked.c:g}, {asked.l})", sources, *told])
    title = "Trees under diversity, accuracy in per cent (classification metric), one fold"
    return table(title, ["data", "(c, l)", "sources", *methods], rows)


def main() -> str:
    """All tables."""
    found, cost = timed(experiment)
    told = f"The last two tables took {cost.cpu:.0f} s of CPU: `sfumato.mining.experiment.experiment()`.\n"
    parts = [publishing(), generating(), accuracies(), shared_trees(found), diverse_models(found), told]
    return "\n".join(parts)


if __name__ == "__main__":
    print(main())
