"""Private learners of diffprivlib; run by its own Python: arrays in, accuracies out as JSON."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from diffprivlib import models

warnings.simplefilter("ignore")


def learners(bounds: tuple[Any, Any]) -> Mapping[str, Callable[[float], Any]]:
    """Learners by name: an epsilon in, a model out. Bounds and classes are declared."""
    given = {"bounds": bounds, "classes": [0, 1]}
    return {
        "decision tree, depth 8": lambda e: models.DecisionTreeClassifier(max_depth=8, epsilon=e, **given),
        "random forest, 10 trees": lambda e: models.RandomForestClassifier(n_estimators=10, epsilon=e, **given),
        "Gaussian naive Bayes": lambda e: models.GaussianNB(epsilon=e, bounds=bounds),
    }


def main(file: str, epsilons: list[float], runs: int) -> dict[str, list[list[float]]]:
    """Per cent of the test rows that each learner gets right, for each epsilon and run."""
    data = np.load(file)
    found: dict[str, list[list[float]]] = {}
    for name, make in learners((data["low"], data["high"])).items():
        found[name] = [
            [
                100 * float((make(e).fit(data["rows"], data["kinds"]).predict(data["new"]) == data["truth"]).mean())
                for _ in range(runs)
            ]
            for e in epsilons
        ]
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]))))
