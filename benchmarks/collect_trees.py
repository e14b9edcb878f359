"""Five functions of Agrawal and Srikant: trees and naive Bayes from original and from randomized people."""

from __future__ import annotations

import numpy as np
import polars as pl

from measure import table
from pictures import Panel, save
from sfumato.collection.channels import shown_numbers
from sfumato.collection.decision_tree import ReconstructedTree
from sfumato.collection.naive_bayes import ReconstructedNaiveBayes
from sfumato.collection.specification import number_question
from sfumato.core.randomness import Chance
from sfumato.reports.plots import Line
from sfumato.tables.datasets.stand_ins import QUEST_RANGES, quest

TRAINING, TESTED = 100_000, 5_000
STEPS = {"age": "0.1", "elevel": 1, "car": 1, "zipcode": 1, "hyears": 1}
"""The others are in steps of 100."""
LEVELS = (0.25, 1.0, 2.0)
MODES = ("randomized", "global", "by-class", "local", "joint", "naive Bayes", "true counts")


def accuracies(function: int, law: str, privacy: float) -> dict[str, float]:
    """Per cent of tested people in the right group, by how the tree was grown."""
    questions = [
        number_question(name, law, low=low, high=high, step=STEPS.get(name, 100), privacy=privacy)
        for name, (low, high) in QUEST_RANGES.items()
    ]
    train, test = quest(TRAINING, function=function, seed=1), quest(TESTED, function=function, seed=2)
    columns = [shown_numbers(q, train[q.name].to_numpy(), Chance(seed=10 + n)) for n, q in enumerate(questions)]
    shown = pl.DataFrame({q.name: column for q, column in zip(questions, columns, strict=True)})
    y, told = train["group"].to_numpy(), test["group"].to_numpy()

    def right(model: object, frame: pl.DataFrame) -> float:
        return 100 * float((model.fit(frame, y).predict(test) == told).mean())

    found = {"original": right(ReconstructedTree(questions, reconstruction="none"), train)}
    found["randomized"] = right(ReconstructedTree(questions, reconstruction="none"), shown)
    for mode in ("global", "by-class", "local", "joint"):
        found[mode] = right(ReconstructedTree(questions, reconstruction=mode), shown)
    found["naive Bayes"] = right(ReconstructedNaiveBayes(questions), shown)
    found["true counts"] = right(ReconstructedTree(questions, reconstruction="none"), handed_out(train, shown, y))
    return found


def handed_out(true: pl.DataFrame, shown: pl.DataFrame, y: np.ndarray) -> pl.DataFrame:
    """The true values of every class, the lowest to who shows the lowest: association without any reconstruction."""
    found = {}
    for name in shown.columns:
        values = np.empty(len(y))
        for one in np.unique(y):
            held = np.flatnonzero(y == one)
            order = np.argsort(shown[name].to_numpy()[held], kind="stable")
            values[held[order]] = np.sort(true[name].to_numpy()[held])
        found[name] = values
    return pl.DataFrame(found)


def main() -> str:
    """Tabulate all functions, laws and levels; draw those of uniform noise."""
    rows, drawn = [], {}
    for law in ("uniform", "gaussian"):
        for function in range(1, 6):
            for privacy in LEVELS:
                found = accuracies(function, law, privacy)
                drawn[law, function, privacy] = found
                cells = [f"{found[mode]:.1f}" for mode in ("original", *MODES)]
                rows.append([function, law, f"{100 * privacy:g} %", *cells])
    panels = []
    for function in range(1, 6):
        lines = [
            Line(name=mode, points=[(100 * p, drawn["uniform", function, p][mode]) for p in LEVELS], tone=n)
            for n, mode in enumerate(MODES[:5])
        ]
        best = drawn["uniform", function, LEVELS[0]]["original"]
        lines.append(Line(name="original", points=[(100 * p, best) for p in LEVELS], tone=-1, dashed=True))
        axes = {"x": "privacy in %", "ticks": [100 * p for p in LEVELS], "y": (50, 60, 70, 80, 90, 100), "unit": " %"}
        panels.append(
            Panel(title=f"accuracy, function {function}, uniform noise", lines=lines, log_x=False, log_y=False, **axes)
        )
    save([panels[:3], panels[3:]], "collect-trees.svg")
    title = f"Accuracy in per cent, {TRAINING:,} people learnt from and {TESTED:,} tested"
    return table(title, ["function", "noise", "privacy", "original", *MODES], rows)


if __name__ == "__main__":
    print(main())
