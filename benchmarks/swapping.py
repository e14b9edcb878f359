"""Value swapping: how often the nearest row is a person's own, and how many values really changed, by rate."""

from __future__ import annotations

from typing import Any

import sfumato as sf
from measure import table

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex")
RATES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.0)
SIMILAR: dict[str, int] = {"sex": 0, "age": 1}


def release(rate: float, **options: Any) -> sf.Release:
    """A seeded release of the bundled census."""
    columns: dict[str, Any] = {name: {"role": "quasi"} for name in QUASI}
    columns["age"]["hierarchy"] = {"kind": "intervals", "widths": [10, 40], "low": 0, "high": 120}
    columns["occupation"] = {"role": "sensitive"}
    asked = {"name": "swapping", "rate": rate, "seed": 1, **options}
    plan = sf.Plan.parse({"columns": columns, "algorithm": asked, "attack": {"trials": 2000}})
    return sf.release(plan, sf.datasets.census(30162, seed=1))


def row(what: str, rate: float, **options: Any) -> list[str]:
    """One release: cells that changed, people who are found, and what is learnt of their occupation."""
    made = release(rate, **options)
    (found,) = made.audit.findings
    changed = sum(made.utility.values()) / len(made.utility)
    told = found.figures["told_right"]
    between = f"{found.rate.value:.1%} ({found.rate.low:.1%} to {found.rate.high:.1%})"
    return [what, f"{rate:.0%}", f"{changed:.1%}", between, f"{told:.1%}"]


def main() -> str:
    """Quasi-identifiers among all rows and among similar ones; the occupation among similar ones."""
    rows = [row("quasi-identifiers, any partner", rate) for rate in RATES]
    rows += [row("quasi-identifiers, same sex and decade", rate, within=SIMILAR) for rate in RATES]
    rows += [row("occupation, same sex and decade", rate, within=SIMILAR, columns=["occupation"]) for rate in RATES]
    headers = ["what is exchanged", "rate", "values that changed", "people found", "occupation read right"]
    return table("Value swapping, census, 30,162 rows, six quasi-identifiers, 2,000 people looked for", headers, rows)


if __name__ == "__main__":
    print(main())
