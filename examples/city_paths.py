"""Release paths through a city: whoever saw somebody twice finds at least five rows that may be hers.

Secret from everybody who met a citizen once or twice: the rest of her path, and whether she has HIV.
Becomes public: one path per row without what is rare, and one diagnosis, so that any two readings fit five rows.
Three readings may still fit one row only; who knows that much is not stopped. The citizens are drawn from a seed.
"""

# ruff: noqa: T201  an example prints
from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import sfumato as sf

PLAN = {
    "columns": {
        "id": {"role": "identifier"},
        "path": {"role": "quasi", "type": "trajectory"},
        "diagnosis": {"role": "sensitive"},
    },
    "privacy": {"lkc": {"l": 2, "k": 5, "c": 0.6, "values": ["HIV"]}},
    "algorithm": {"support": 0.01},
}


def fewest(paths: Iterable[str], known: int) -> int:
    """How many rows have the same readings as some path, at the worst; counted without the library."""
    seen = Counter(some for path in paths for some in combinations(path.split("|"), known))
    return min(seen.values())


def main() -> None:
    """Look for lonely readings before and after, and write what can be published."""
    citizens = sf.datasets.city(2000, seed=7)
    for known in (1, 2):
        print(f"before: {known} known readings fit {fewest(citizens['path'], known)} rows at the worst")
    made = sf.release(sf.Plan.parse(PLAN), citizens)
    for known in (1, 2, 3):
        found = fewest((path for path in made.rows["path"] if path), known)
        print(f"after: {known} known readings fit {'at least 5' if found >= 5 else found} rows at the worst")
    column = made.recoded[0]
    print(f"{column.items} different readings before, {column.shown} after; rows: {made.rows.height}")
    lost = made.utility["lost_frequent_sets"]
    print(f"of {made.utility['maximal_frequent_sets']:.0f} frequent sequences {lost:.0%} are lost")
    print(f"supports that changed: {made.utility['changed_supports']:.0f}")
    with tempfile.TemporaryDirectory() as place:
        made.write(Path(place) / "release")
        print(f"verified from its bytes: {sf.verify(Path(place) / 'release').holds}")


if __name__ == "__main__":
    main()
