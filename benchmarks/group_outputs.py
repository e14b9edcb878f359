"""What groups show: the same Mondrian with labels of the hierarchy, boxes and distributions."""

from __future__ import annotations

from typing import Any

import polars as pl

import sfumato as sf
from measure import table

QUASI = ("workclass", "education", "marital-status", "race", "sex")


def release(output: str, k: int) -> sf.Release:
    """A seeded release of the bundled census."""
    columns: dict[str, Any] = {n: {"role": "quasi", "hierarchy": {"bundled": f"census/{n}"}} for n in QUASI}
    widths = {"kind": "intervals", "widths": [5, 10, 20, 40], "low": 0, "high": 120}
    columns |= {"age": {"role": "quasi", "hierarchy": widths}, "occupation": {"role": "sensitive"}}
    algorithm = {"name": "mondrian", "order": "ordered", "output": output, "seed": 1}
    attack = {"attacks": ["linkage", "homogeneity"], "trials": 2000}
    plan = {"columns": columns, "privacy": {"k_anonymity": k}, "algorithm": algorithm, "attack": attack}
    return sf.release(sf.Plan.parse(plan), sf.datasets.census(30162, seed=1))


def row(output: str, k: int) -> list[str]:
    """One release."""
    made = release(output, k)
    found = {one.attack: one for one in made.audit.findings}
    cells = made.rows.select("age", *QUASI).select(pl.all().cast(pl.String).str.len_chars().mean())
    wide = sum(cells.row(0)) / cells.width
    return [
        output,
        str(k),
        f"{made.utility['loss']:.4f}",
        f"{made.utility['ncp']:.4f}",
        f"{wide:.0f}",
        f"{found['linkage'].rate.value:.1%} of {1 / k:.0%}",
        f"{found['homogeneity'].rate.value:.1%}",
    ]


def main() -> str:
    """Three outputs, three sizes of groups."""
    rows = [row(output, k) for k in (5, 10, 25) for output in ("hierarchy", "boxes", "distributions")]
    headers = ["output", "k", "loss", "NCP", "characters a cell", "linkage, and what k allows", "homogeneity"]
    title = "What groups show, Mondrian (order = ordered), census, 30,162 rows, six quasi-identifiers"
    return table(title, headers, rows)


if __name__ == "__main__":
    print(main())
