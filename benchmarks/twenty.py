"""Twenty quasi-identifiers, more than 10^9 nodes: a release that is made, written and verified within a minute."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from census_income import FILE, census_income
from measure import table
from stages import staged

ALGORITHMS = ("auto", "greedy", "mondrian", "local")
SHARES = (0.0, 0.04)
"""What may be suppressed."""
SECONDS = 40.0
"""How long a search may take that can be stopped; writing and verifying take the rest of the minute."""
LIMIT = 150.0
"""When a release is given up, in seconds."""


def plan(hierarchies: dict[str, dict[str, Any]], name: str, share: float) -> dict[str, Any]:
    """The same plan for every algorithm: k = 5 and the least loss."""
    quasi = {column: {"role": "quasi", "hierarchy": how} for column, how in hierarchies.items()}
    return {
        "columns": {**quasi, "income": {"role": "keep"}},
        "privacy": {"k_anonymity": 5},
        "algorithm": {"name": name, "max_suppressed": share, "seconds": SECONDS},
    }


def row(name: str, share: float, found: dict[str, Any]) -> list[str]:
    """One line of the table."""
    told = "-" if found["ended"] or not found["holds"] else "yes"
    used = found.get("algorithm", name)
    return [
        name if used == name else f"{name}: {used}",
        f"{share:.0%}",
        _written(found, "loss", ".4f"),
        _written(found, "suppressed", ",.0f"),
        _written(found, "classes", ",.0f"),
        _written(found, "smallest", ",.0f"),
        told,
        _written(found, "search", ".1f", " s"),
        _written(found, "recode and judge", ".1f", " s"),
        _written(found, "verified", ".1f", " s") if not found["ended"] else f"more than {LIMIT:.0f} s",
        _written(found, "peak_mb", ",.0f", " MB"),
    ]


def _written(found: dict[str, Any], key: str, how: str, unit: str = "") -> str:
    return f"{format(found[key], how)}{unit}" if key in found else "-"


def main() -> str:
    """A line for each algorithm and limit, or nothing where the table is not there."""
    if not FILE.exists():
        return ""
    frame, hierarchies = census_income()
    rows, sizes = [], ""
    with tempfile.TemporaryDirectory() as place:
        data = Path(place) / "data.parquet"
        frame.write_parquet(data)
        for share in SHARES:
            for name in ALGORITHMS:
                found = staged(plan(hierarchies, name, share), data, limit=LIMIT)
                rows.append(row(name, share, found))
                sizes = f"{found['cells']:,} cells, {found['nodes']:,} nodes" if "cells" in found else sizes
    headers = ["algorithm", "may be suppressed", "loss", "suppressed", "classes", "smallest class", "verified"]
    headers += ["counted and searched", "recoded and judged", "written and verified", "peak memory"]
    title = f"Census income, {frame.height:,} rows, {len(hierarchies)} quasi-identifiers, {sizes}, k = 5"
    return table(title, headers, rows)


if __name__ == "__main__":
    print(main())
