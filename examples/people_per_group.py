"""Visits of patients: people are counted, not rows, and anybody can count them again from the written file.

    python examples/people_per_group.py [FOLDER]

The table has several visits per patient. Counted by rows, a group of nine visits may be those of two patients. With
``[input] unit`` every group of the release holds five different patients. The script reads the written file again and
counts people per group with nothing but the standard library.
"""

# ruff: noqa: T201  an example prints
from __future__ import annotations

import csv
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import polars as pl

import sfumato as sf


def visits(patients: int = 150, seed: int = 1) -> pl.DataFrame:
    """One to nine visits of each patient; the age and the ward can differ from visit to visit."""
    draw = random.Random(seed)
    rows = []
    for number in range(patients):
        age, sex = draw.randint(20, 89), draw.choice("fm")
        for _ in range(draw.choice((1, 1, 2, 3, 9))):
            ward = draw.choice(("surgery", "heart", "lungs"))
            rows.append(
                (f"P{number:04d}", age + draw.randint(0, 1), sex, ward, draw.choice(("flu", "angina", "asthma")))
            )
    return pl.DataFrame(rows, schema=("patient", "age", "sex", "ward", "diagnosis"), orient="row")


def people_per_group(file: Path, quasi: Sequence[str], unit: str) -> dict[tuple[str, ...], int]:
    """How many different people each group of a written file has."""
    found: dict[tuple[str, ...], set[str]] = {}
    with file.open(encoding="utf-8", newline="") as handle:
        for row in csv.DictReader(handle):
            found.setdefault(tuple(row[name] for name in quasi), set()).add(row[unit])
    return {group: len(people) for group, people in found.items()}


def main(folder: Path) -> None:
    """Release the visits by rows and by people, and compare."""
    columns = {
        "patient": {"role": "identifier"},
        "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [5, 10, 20], "low": 0, "high": 120}},
        "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
        "ward": {"role": "quasi", "hierarchy": {"kind": "flat"}},
        "diagnosis": {"role": "sensitive"},
    }
    tree = {"columns": columns, "privacy": {"k_anonymity": 5}, "algorithm": {"max_suppressed": 0.05}}
    table = visits()
    by_rows = sf.release(sf.Plan.parse(tree), table)
    by_people = sf.release(sf.Plan.parse(tree | {"input": {"unit": "patient"}}), table)
    by_people.write(folder / "visits", force=True)
    groups = people_per_group(folder / "visits" / "data.csv", ["age", "sex", "ward"], "patient")
    print(f"{table.height} visits of {table['patient'].n_unique()} patients")
    print(f"counted by rows:   smallest group {min(by_rows.smallest_class.values())} rows, levels {by_rows.levels}")
    print(f"counted by people: smallest group {min(groups.values())} people, levels {by_people.levels}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp()))
