"""The linkage attack of worked example G1: it works on the raw table and fails on the release.

Secret from the holder of the voter roll: which voter has which disease.
Becomes public: ages by decade, regions instead of postal codes, and one disease per row, in groups of three.
3-anonymity stops the linkage. It does not hide that everybody in the first group has HIV; l-diversity would.
"""

# ruff: noqa: T201  an example prints
from __future__ import annotations

import polars as pl

import sfumato as sf
from sfumato.attacks.linkage import link

MEDICAL = pl.DataFrame(
    {
        "age": [24, 37, 26, 38, 36, 25],
        "zip": ["10598", "90210", "10547", "90345", "89119", "02139"],
        "disease": ["HIV", "Hepatitis C", "HIV", "Hepatitis C", "Diabetes", "HIV"],
    }
)
ROLL = pl.DataFrame(
    {
        "name": ["Mary", "John", "Ann", "Jack", "Joy", "Victor", "Peter", "Diana", "William", "Sue"],
        "age": [38, 36, 31, 57, 26, 46, 25, 24, 37, 26],
        "zip": ["90345", "89119", "02139", "10562", "10547", "90345", "02139", "10598", "90210", "10547"],
    }
)
REGIONS = {"Northeastern US": ["10598", "10547", "10562", "02139"], "Western US": ["90210", "90345", "89119"]}
AGES = {"kind": "intervals", "widths": [10, 20], "low": 0, "high": 100}
PLAN = {
    "columns": {
        "age": {"role": "quasi", "type": "integer", "hierarchy": AGES},
        "zip": {"role": "quasi", "type": "text", "hierarchy": {"tree": REGIONS}},
        "disease": {"role": "sensitive"},
    },
    "privacy": {"k_anonymity": 3},
}


def main() -> None:
    """Attack the raw table, make a release, attack the release by what its labels say."""
    raw = link(MEDICAL, ROLL, ["age", "zip"])
    print("raw:", ", ".join(ROLL["name"].filter(pl.Series(raw.certain))), "found with certainty")
    made = sf.release(sf.Plan.parse(PLAN), MEDICAL)
    print("released groups:", sorted(map(list, made.rows.select("age", "zip").unique().iter_rows())))
    region = {code: name for name, codes in REGIONS.items() for code in codes}
    decade = {str(age): f"[{age // 10 * 10}-{age // 10 * 10 + 10})" for age in ROLL["age"]}
    after = link(made.rows, ROLL, ["age", "zip"], reading={"age": decade, "zip": region})
    print(f"release: {int(after.certain.sum())} found with certainty, best chance {after.confidence.max():.3f}")


if __name__ == "__main__":
    main()
