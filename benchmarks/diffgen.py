"""DiffGen: seconds of CPU for growing tables, h = 15, epsilon = 1 (figure 6.6 of document 003)."""

from __future__ import annotations

from measure import table, timed
from papers.diffgen_adult import TREES, Domains, declared, domains, private
from sfumato.data.adult import adult_folder
from sfumato.data.census import census_hierarchies
from sfumato.describe.paths import read_hierarchy
from sfumato.ground.work import Work
from sfumato.publish.diffgen import DiffGen
from top_down import CLASS, people

SIZES = (200_000, 400_000, 600_000, 800_000, 1_000_000)
DROPPED = "native-country"
"""Thirteen attributes are left."""
RANGES = {
    "age": (15.0, 95.0, 1.0),
    "fnlwgt": (0.0, 1_500_000.0, 10_000.0),
    "education-num": (1.0, 20.0, 1.0),
    "capital-gain": (0.0, 100_000.0, 500.0),
    "capital-loss": (0.0, 5_000.0, 100.0),
    "hours-per-week": (1.0, 100.0, 1.0),
}
ASKED = {
    "max": DiffGen(epsilon=1, specializations=15, score="max"),
    "gini": DiffGen(epsilon=1, specializations=15, score="gini"),
    "gini, auto": DiffGen(epsilon=1),
}


def given(names: list[str]) -> Domains:
    """The trees and ranges of the thesis, or those of the bundled census."""
    folder = adult_folder()
    if folder is not None and (folder / TREES).exists():
        return domains(folder, names)
    files = census_hierarchies()
    return {name: RANGES.get(name) or declared(read_hierarchy(files[name]), name) for name in names}


def main() -> str:
    """One line per size: the search and the noise, not the reading."""
    base = people()
    names = [name for name in base.frame.columns if name not in (CLASS, DROPPED)]
    declared_ = given(names)
    rows = []
    for size in SIZES:
        one = private(base.times(size).frame, declared_)
        line = [f"{size:,}"]
        for asked in ASKED.values():
            made, cost = timed(lambda asked=asked, one=one: asked(one, Work()))  # type: ignore[misc]
            line += [f"{cost.cpu:.2f} s", f"{made.effort['groups']:,}"]
        rows.append(line)
    heads = ["records", *(head for name in ASKED for head in (name, "groups"))]
    return table(f"{base.name}, {len(names)} attributes, h = 15, epsilon = 1 (thesis: 33 s at a million)", heads, rows)


if __name__ == "__main__":
    print(main())
