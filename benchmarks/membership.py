"""Who was in a condensed table: the AUC of the nearest released row, for several k and real tables."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import sfumato as sf
from measure import table
from sfumato.tables.datasets.uci_adult import adult_folder

SIZES = (3, 5, 10, 20)
ADULT = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
ROWS = 10_000


def tables() -> dict[str, pl.DataFrame]:
    """The columns of numbers of two real tables of business and tax data, and of a part of Adult."""
    folder = adult_folder()
    assert folder is not None
    found = {}
    for name in ("CASCrefmicrodata", "Tarragona"):
        frame = pl.read_csv(Path(folder).parent / "sdcmicro" / f"{name}.csv")
        found[name] = frame.select(one for one in frame.columns if frame[one].dtype.is_numeric())
    return {**found, "Adult": sf.datasets.adult().select(ADULT)[:ROWS]}


def aucs(frame: pl.DataFrame, k: int) -> dict[str, float]:
    """The AUC of both tests of membership."""
    plan = {
        "columns": {name: {"role": "quasi"} for name in frame.columns},
        "privacy": {"indistinguishable_groups": k},
        "algorithm": {"name": "condense", "seed": 1},
        "attack": {"attacks": ["membership", "nearest-neighbour"], "trials": 2000},
    }
    made = sf.release(sf.Plan.parse(plan), frame)
    return {one.attack: one.figures["auc"] for one in made.audit.findings}


def main() -> str:
    """One line for each table and k."""
    rows = []
    for name, frame in tables().items():
        for k in SIZES:
            found = aucs(frame, k)
            rows.append([name, f"{frame.height:,}", frame.width, k, *(f"{found[one]:.2f}" for one in HEADS)])
    return table(
        "Membership in condensed tables", ["table", "rows", "columns", "k", *(f"AUC, {one}" for one in HEADS)], rows
    )


HEADS = ("nearest-neighbour", "membership")

if __name__ == "__main__":
    print(main())
