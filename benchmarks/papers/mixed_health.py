"""Health records with sets of diagnoses, released under differential privacy: MIMIC-III demo and Vermont discharges."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import polars as pl

import sfumato as sf
from measure import table, timed

FOLDER = Path(os.environ.get("SFUMATO_DATA") or Path(__file__).parents[3] / "shared" / "data")
CODES = Path("icd9") / "icd9cm_hierarchy.csv"
KINDS = {
    "Heart, lungs, metabolism": (3, 4, 7, 8),
    "Other organs": (1, 2, 9, 10, 12, 13),
    "Mind, nerves, signs": (5, 6, 16, 18),
    "Birth, injury": (11, 14, 15, 17, 19),
}
"""The nineteen chapters by number, under four names: few nodes below a node leave few sets that nobody has."""
EPSILONS = (0.5, 1.0, 4.0)
RUNS = 5
MARITAL = ["MARRIED", "SINGLE", "WIDOWED", "DIVORCED", "SEPARATED", "LIFE PARTNER", "UNKNOWN"]
AGES = ["Under 1", "1-17", "18-24", "25-29", "30-34", "35-39", "40-44", "45-49", "50-54", "55-59", "60-64", "65-69"]
AGES += ["70-74", "75 and over"]


def codes(place: Path) -> Path:
    """The ICD-9 hierarchy from three digits upwards: sub-chapter, chapter, and four kinds of chapters."""
    found = pl.read_csv(FOLDER / CODES, infer_schema_length=0)
    chapters = found["chapter"].unique(maintain_order=True).to_list()
    kinds = {name: kind for kind, numbers in KINDS.items() for name in (chapters[n - 1] for n in numbers)}
    lines = found.select(
        "three_digit", "sub_chapter", "chapter", pl.col("chapter").replace_strict(kinds).alias("kind")
    ).unique("three_digit", maintain_order=True)
    file = place / "icd9.csv"
    lines.write_csv(file, include_header=False, separator=";")
    return file


def short(sets: pl.Expr) -> pl.Expr:
    """Sets of codes by their three digits (an E and three, where codes begin so)."""
    return sets.str.replace_all(r"\b(E\d{3}|[V\d]\d{2})\w*", "${1}")


def mimic() -> pl.DataFrame:
    """The first admission of every patient: the promise is about one record, so a person has one."""
    frame = pl.read_csv(FOLDER / "mimic3_demo" / "flat.csv", infer_schema_length=0)
    known = pl.col("marital_status")
    return frame.unique("subject_id", keep="first", maintain_order=True).with_columns(
        age=pl.col("age").cast(pl.Int64),
        icd9_all=short(pl.col("icd9_all")),
        marital_status=pl.when(known.is_in(MARITAL)).then(known).otherwise(pl.lit("UNKNOWN")),
    )


def vermont() -> pl.DataFrame:
    """Discharges with all their diagnoses in one cell."""
    frame = pl.read_csv(FOLDER / "icd9" / "vermont_dx.csv", infer_schema_length=0)
    sets = pl.concat_str([f"DX{n}" for n in range(1, 21)], separator=" ", ignore_nulls=True)
    return frame.with_columns(short(sets).alias("diagnoses"))


def mimic_columns(file: Path) -> dict[str, Any]:
    """What is declared about the MIMIC demo."""
    return {
        "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 90, "grid": 5}},
        "gender": {"role": "quasi", "values": ["F", "M"]},
        "admission_type": {"role": "quasi", "values": ["EMERGENCY", "ELECTIVE", "URGENT", "NEWBORN"]},
        "insurance": {"role": "quasi", "values": ["Medicare", "Private", "Medicaid", "Government", "Self Pay"]},
        "marital_status": {"role": "quasi", "values": MARITAL},
        "icd9_all": {"role": "quasi", "type": "set", "separator": " ", "hierarchy": {"file": str(file)}},
        "hospital_expire_flag": {"role": "target", "values": ["0", "1"]},
    }


def vermont_columns(file: Path) -> dict[str, Any]:
    """What is declared about the discharges."""
    return {
        "age_group": {"role": "quasi", "hierarchy": {"kind": "groups", "order": AGES, "sizes": [2, 4]}},
        "sex": {"role": "quasi", "values": ["female", "male"]},
        "diagnoses": {"role": "quasi", "type": "set", "separator": " ", "hierarchy": {"file": str(file)}},
        "death": {"role": "target", "values": ["False", "True"]},
    }


def released(frame: pl.DataFrame, columns: Mapping[str, Any], epsilon: float) -> Any:
    """One release of relational columns and sets together."""
    plan = {"columns": dict(columns), "privacy": {"epsilon": epsilon}, "algorithm": {"name": "diffgen"}}
    return sf.release(sf.Plan.parse(plan), frame)


def lines(title: str, frame: pl.DataFrame, columns: Mapping[str, Any], place: Path) -> list[list[str]]:
    """For each epsilon: rows, groups, labels of sets, and how far the class shares are off, over some runs."""
    target = next(name for name, column in columns.items() if column["role"] == "target")
    sets = next(name for name, column in columns.items() if column.get("type") == "set")
    truth = frame[target].value_counts(normalize=True)
    true = dict(truth.iter_rows())
    rows = []
    for epsilon in EPSILONS:
        made, cost = timed(lambda epsilon=epsilon: [released(frame, columns, epsilon) for _ in range(RUNS)])  # type: ignore[misc]
        holds = all(one.write(place / f"{title}-{epsilon}-{n}").holds for n, one in enumerate(made))
        off = [_off(one.rows[target], true) for one in made]
        labels = [one.rows[sets].n_unique() for one in made]
        counts = [one.rows.height for one in made]
        groups = [one.outcome.keys.shape[1] for one in made]
        rows.append(
            [
                f"{title}, {frame.height:,} records",
                f"{epsilon:g}",
                f"{np.mean(counts):,.0f}",
                f"{np.mean(groups):,.0f}",
                f"{np.mean(labels):,.1f}",
                f"{100 * np.mean(off):.1f} points",
                "yes" if holds else "NO",
                f"{cost.cpu / RUNS:.2f} s",
            ]
        )
    return rows


def _off(released_: pl.Series, true: Mapping[str, float]) -> float:
    found = dict(released_.value_counts(normalize=True).iter_rows())
    return float(max(abs(found.get(name, 0.0) - share) for name, share in true.items()))


def main() -> str:
    """The table, or nothing where the data are not there."""
    if not (FOLDER / CODES).exists():
        return ""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        file = codes(place)
        rows = lines("MIMIC-III demo", mimic(), mimic_columns(file), place)
        rows += lines("Vermont", vermont(), vermont_columns(file), place)
    heads = ["table", "epsilon", "noisy rows", "groups", "labels of sets", "class shares off by", "verified", "CPU"]
    return table(f"Relational columns and sets of ICD-9 codes together, DiffGen, mean of {RUNS} runs", heads, rows)


if __name__ == "__main__":
    print(main())
