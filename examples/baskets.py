"""Release baskets: the same twelve receipts, shown coarser along a tree, or with rare goods left out.

Secret from whoever saw two goods of somebody in the queue: the rest of her basket.
Becomes public: baskets in which any two goods, or kinds of goods, stand at least twice.
Who knows three goods, or that somebody did not buy milk, is not stopped.
"""

# ruff: noqa: T201  an example prints
from __future__ import annotations

import polars as pl

import sfumato as sf

BASKETS = [
    *("beer|bread|cola", "bread|milk", "beer|cola", "bread|milk|tea", "wine|bread", "tea|milk"),
    *("wine|cheese", "cheese|bread|milk", "beer|bread", "cola|milk", "bread|tea", "juice|bread|milk"),
]
GOODS = {
    "drinks": {"alcohol": ["beer", "wine"], "soft drinks": ["cola", "juice", "tea"]},
    "food": {"dairy": ["milk", "cheese"], "bakery": ["bread"]},
}
WAYS = {
    "coarser": {"name": "sets", "by": "generalization"},
    "left out": {"name": "sets", "by": "suppression"},
    "either": {"name": "trajectory"},
}


def main() -> None:
    """Make three releases of one table and compare them."""
    table = pl.DataFrame({"basket": BASKETS})
    for way, algorithm in WAYS.items():
        plan = {
            "columns": {"basket": {"role": "quasi", "type": "set", "hierarchy": {"tree": GOODS}}},
            "privacy": {"km": {"k": 2, "m": 2}},
            "algorithm": {**algorithm, "support": 2},
        }
        made = sf.release(sf.Plan.parse(plan), table)
        shown = sorted({item for basket in made.rows["basket"] for item in basket.split("|")} - {""})
        lost, ncp = made.utility["lost_frequent_sets"], made.utility["ncp"]
        print(f"{way}: {', '.join(shown)}")
        print(f"   {lost:.0%} of the frequent sets lost, {ncp:.3f} of the detail; holds: {made.claims[0].holds}")
        for step in made.outcome.steps:
            print(f"   {step.label} -> {step.to or 'left out'}")


if __name__ == "__main__":
    main()
