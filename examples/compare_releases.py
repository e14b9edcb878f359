"""Compare releases: which algorithm and which k give most for the purpose, before anything is published.

Secret from everybody outside: who earns what, and the table of points, because it was computed from unreleased rows.
Becomes public: one release at most, that of the point which is picked; here it is only made and checked.
The people do not exist; they are drawn from a seed.
"""

# ruff: noqa: T201  an example prints
from __future__ import annotations

import tempfile
from pathlib import Path

import sfumato as sf

PLAN = {
    "columns": {
        "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [5, 10, 20], "low": 0, "high": 100}},
        "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
        "race": {"role": "quasi", "hierarchy": {"bundled": "census/race"}},
        "education": {"role": "quasi", "hierarchy": {"bundled": "census/education"}},
        "income": {"role": "target"},
    },
    "privacy": {"k_anonymity": 5},
    "algorithm": {"max_suppressed": 0.02},
    "frontier": {
        "algorithms": ["optimal", "mondrian", "datafly"],
        "metrics": ["loss"],
        "jobs": 1,
        "grid": {"privacy.k_anonymity": [2, 5, 25]},
    },
}


def main() -> None:
    """Make nine releases, compare them, and make one of them again."""
    people = sf.datasets.census(2000, seed=7)
    with tempfile.TemporaryDirectory() as place:
        found = sf.frontier(sf.Plan.parse(PLAN), people, folder=Path(place) / "frontier")
        for point in found.points:
            record = found.records[point.number]
            k, loss = point.parameters["privacy.k_anonymity"], record["utility"]["loss"]
            mark = "*" if point.number in found.pareto else " "
            told = f"{record['status']}, loss {loss:.3f}, accuracy {record['accuracy']:.3f}"
            print(f"{mark}{point.number} {point.series}, k = {k}: {told}")
        known = found.original["accuracy"]
        print(f"trained on the original: {known['original']:.3f}; always the majority: {known['majority']:.3f}")
        print(f"files: {sorted(path.name for path in found.folder.iterdir())}")
        best = found.pareto[0]
        made = sf.release(found.plan(best), people)
        print(f"point {best} again: the same loss: {made.utility['loss'] == found.records[best]['utility']['loss']}")


if __name__ == "__main__":
    main()
