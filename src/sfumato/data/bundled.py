"""The hierarchy files that come with the package."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib.resources import files
from pathlib import Path

from sfumato.ground.errors import PlanError, listed, nearest

DATA_SETS = ("census", "patients", "world")


def hierarchy_files(data_set: str) -> dict[str, Path]:
    """The hierarchy files of a bundled data set, in the order of their names, under the column's name.

    >>> sorted(hierarchy_files("patients"))
    ['diagnosis', 'job']
    """
    folder = Path(str(files("sfumato.data").joinpath("hierarchies", data_set)))
    return {file.stem: file for file in sorted(folder.glob("*.csv"))}


def bundled_hierarchy(name: str) -> Path:
    """The file of a bundled hierarchy such as ``census/education``, or a refusal that names those there are."""
    known = {f"{place}/{stem}": path for place in DATA_SETS for stem, path in hierarchy_files(place).items()}
    if name not in known:
        raise PlanError(f"no hierarchy {name!r} is bundled{nearest(name, known)} There are {listed(known, most=20)}")
    return known[name]


@cache
def hierarchy_leaves(name: str) -> frozenset[str]:
    """The values that a bundled hierarchy knows."""
    return frozenset(line.split(";")[0] for line in bundled_hierarchy(name).read_text("utf-8").splitlines())


def fitting_hierarchy(column: str, values: Collection[str]) -> str | None:
    """The bundled hierarchy of a column of this name whose leaves cover all these values, if there is one."""
    for place in DATA_SETS:
        path = hierarchy_files(place).get(column.lower().replace("_", "-"))
        if path is not None and set(values) <= hierarchy_leaves(f"{place}/{path.stem}"):
            return f"{place}/{path.stem}"
    return None
