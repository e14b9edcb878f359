"""A small release whose plan says something about the data set."""

from __future__ import annotations

import polars as pl

import sfumato as sf


def plan_about(**about: object) -> sf.Plan:
    """A plan with this [about]."""
    columns = {
        "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [5, 10, 20], "low": 0, "high": 100}},
        "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
        "occupation": {"role": "sensitive"},
    }
    return sf.Plan.parse({"columns": columns, "privacy": {"k_anonymity": 5}, "about": about})


def census() -> pl.DataFrame:
    """The people that it is about."""
    return sf.datasets.census(300, seed=4)
