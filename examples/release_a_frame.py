"""Release a frame: patients for research, as a bundle that anybody can check.

Secret from everybody outside the hospital: names, birth dates, postal codes, and which diagnosis belongs to whom.
Becomes public: decades of birth, sex, kinds of job, and one diagnosis per row, in groups of at least five.
The patients do not exist; they are drawn from a seed.
"""

# ruff: noqa: T201  an example prints
from __future__ import annotations

import tempfile
from pathlib import Path

import sfumato as sf

PLAN = {
    "columns": {
        "name": {"role": "identifier"},
        "birth_date": {"role": "quasi", "type": "date", "hierarchy": {"kind": "dates", "levels": ["year", "decade"]}},
        "postal_code": {"role": "drop"},
        "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
        "job": {"role": "quasi", "hierarchy": {"bundled": "patients/job"}},
        "diagnosis": {"role": "sensitive"},
    },
    "privacy": {"k_anonymity": 5, "l_diversity": {"kind": "distinct", "l": 3}},
    "algorithm": {"max_suppressed": 0.05},
}


def main() -> None:
    """Make the release, write it, and check it from its bytes."""
    patients = sf.datasets.patients(2000, seed=7)
    made = sf.release(sf.Plan.parse(PLAN), patients)
    print(f"{patients.height} rows in, {made.rows.height} out, {made.suppressed_rows} suppressed")
    for claim in made.claims:
        print(f"{claim.model}: {claim.sense} {claim.limit:g} required, {claim.reached:g} reached")
    for name, level in (made.levels or {}).items():
        print(f"{name}: level {level}")
    with tempfile.TemporaryDirectory() as place:
        bundle = Path(place) / "release"
        made.write(bundle)
        checked = sf.verify(bundle)
        print(f"{sorted(path.name for path in bundle.iterdir())}: {len(checked.checks)} checks, holds: {checked.holds}")


if __name__ == "__main__":
    main()
