"""The points of a frontier: every algorithm with every combination of the grid, and their files on disk."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from sfumato.bundles.files import MANIFEST, sha256
from sfumato.core.errors import BundleError, ParameterError, PlanError, SfumatoError, listed, nearest
from sfumato.core.input_files import read_text
from sfumato.core.scratch import clear, is_scratch
from sfumato.core.staging import write_whole
from sfumato.core.strict_parsing import read_json
from sfumato.metrics.classification import MOST_ROWS, STUDY
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.frontier.axes import ACCURACY
from sfumato.pipeline.methods import method_of
from sfumato.pipeline.plan.evaluation import Grid, Tree
from sfumato.pipeline.plan.plan import Plan, put
from sfumato.pipeline.profile.draft import toml
from sfumato.tables.schema import Role
from sfumato.version import __version__

# What a frontier cannot mean is refused by its path, before any work is done.


_FIXED = {
    "input": "all points are made from the same rows",
    "output": "a file's format changes nothing that is measured",
    "frontier": "the frontier is not a part of a point",
    "algorithm.name": "name algorithms in frontier.algorithms",
}


def check_metrics(plan: Plan) -> None:
    """Refuse metrics that nobody knows, and a classifier's accuracy without a target."""
    known = (*catalog().metrics, ACCURACY)
    for name in plan.frontier.metrics:
        if name not in known:
            raise PlanError(
                f"frontier.metrics: {name!r} is not known{nearest(name, known)} Known: {listed(known, most=30)}"
            )
        needs = ("target",) if name == ACCURACY else catalog().metrics[name].make.needs
        if "target" in needs and not any(column.role is Role.TARGET for column in plan.columns.values()):
            raise PlanError(f"frontier.metrics: {name} needs a column with role = 'target'")


def check_algorithms(bases: Sequence[Tree], folder: Path) -> None:
    """Refuse algorithms that nobody knows, and options that they do not have."""
    for place, base in enumerate(bases):
        try:
            Plan.parse(base, folder=folder)
        except SfumatoError as error:
            raise PlanError(f"frontier.algorithms[{place}]: {error}") from error


def check_grid(bases: Sequence[Tree], grid: Grid, folder: Path) -> None:
    """Refuse keys and values that no point can have; what only some algorithms refuse is left to their points."""
    for key, values in grid.items():
        for prefix, why in _FIXED.items():
            if key == prefix or key.startswith(f"{prefix}."):
                raise PlanError(f"frontier.grid: {key} cannot vary: {why}")
        for value in values:
            _check_value(bases, key, value, folder)


def _check_value(bases: Sequence[Tree], key: str, value: Any, folder: Path) -> None:
    """A plan checks itself when it is made."""
    refusals = []
    for base in bases:
        changed: dict[str, Any] = copy.deepcopy(dict(base))
        put(changed, key, value, where=f"frontier.grid: {key}")
        try:
            Plan.parse(changed, folder=folder)
        except SfumatoError as error:
            refusals.append(error)
    if len(refusals) == len(bases):
        raise PlanError(f"frontier.grid: {refusals[0]}") from refusals[0]


# The points of a frontier: every algorithm with every combination of the grid's values, each a plan of its own.


MOST_POINTS = 10_000
"""More would hardly be looked at."""
_SHARED = ("max_suppressed", "suppressed", "exempt_suppressed", "seconds", "seed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One release that could be made."""

    number: int
    """Its place in the product, from 1; the same for the same algorithms and grid."""
    algorithm: Tree
    """The algorithm's name and options."""
    parameters: Tree
    """The grid's keys with the values that they have here."""
    tree: Tree
    """The whole plan."""

    @property
    def series(self) -> str:
        """The algorithm in words.

        >>> Point(number=1, algorithm={"name": "mondrian", "output": "boxes"}, parameters={}, tree={}).series
        'mondrian (output = boxes)'
        """
        options = [f"{key} = {format_value(value)}" for key, value in self.algorithm.items() if key != "name"]
        return f"{self.algorithm['name']} ({', '.join(options)})" if options else str(self.algorithm["name"])


def points(plan: Plan) -> tuple[Point, ...]:
    """All points of the plan's frontier, in the order of the product; whatever cannot be meant is refused here."""
    comparison = method_of(plan).comparison(plan)
    tree, grid = tree_of(plan), plan.frontier.grid or comparison.grid(plan)
    algorithms = plan.frontier.algorithms or comparison.algorithms(plan)
    many = len(algorithms) * prod(len(values) for values in grid.values())
    if many > MOST_POINTS:
        raise PlanError(f"frontier.grid: {many:,} points are more than {MOST_POINTS:,}; name fewer values")
    attack = comparison.attack(plan)
    bases = [{**tree, "algorithm": _algorithm(plan, algorithm), "attack": attack} for algorithm in algorithms]
    check_metrics(plan)
    check_algorithms(bases, plan.folder)
    check_grid(bases, grid, plan.folder)
    all_points: list[Point] = []
    for algorithm, base in zip(algorithms, bases, strict=True):
        for values in product(*grid.values()):
            chosen = dict(zip(grid, values, strict=True))
            changed = with_values(base, chosen)
            all_points.append(Point(number=len(all_points) + 1, algorithm=algorithm, parameters=chosen, tree=changed))
    return tuple(all_points)


def numbered(every: Sequence[Point], number: int) -> Point:
    """The point of a number, or a refusal."""
    if not 1 <= number <= len(every):
        raise ParameterError(f"point {number}: the points are numbered from 1 to {len(every)}")
    return every[number - 1]


def default_algorithms(plan: Plan) -> tuple[Tree, ...]:
    """The plan's own algorithm, and some that work differently."""
    return method_of(plan).comparison(plan).algorithms(plan)


def with_values(tree: Tree, values: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a plan's tree with some keys set."""
    changed: dict[str, Any] = copy.deepcopy(dict(tree))
    for key, value in values.items():
        put(changed, key, value, where=f'frontier.grid."{key}"')
    return changed


def format_value(value: Any) -> str:
    """A value as a person reads it: texts without quotes."""
    return value if isinstance(value, str) else toml(value)


def tree_of(plan: Plan) -> dict[str, Any]:
    """The sections of the plan that a point has, as nested tables."""
    tree = plan.tables()
    return {
        **{section: tree.get(section, {}) for section in ("input", "columns", "utility", "output")},
        "privacy": {key: value for key, value in plan.privacy.items() if key not in ("ledger", "analyst")},
        "algorithm": {key: value for key, value in tree.get("algorithm", {}).items() if key != "alternatives"},
    }


def _algorithm(plan: Plan, named: Tree) -> dict[str, Any]:
    """The [algorithm] table of a point: what holds for all, the plan's options for its own algorithm, and its own."""
    own = tree_of(plan)["algorithm"]
    options = plan.algorithm.options if set(named) == {"name"} and named["name"] == plan.algorithm.name else {}
    return {**{key: own[key] for key in _SHARED if key in own}, **options, **named}


# Finished points on disk: one file each, found again by what they were made of.


RECORD = 1
"""The form of a point's file."""
POINTS = "points"
PAGE, TABLE, FIGURES = "frontier.html", "points.csv", "points.json"
_FILES = ("file", "population")
_NAMED = re.compile(r"(point|original)-[0-9a-f]{24}\.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """The finished points under a folder."""

    folder: Path
    """The frontier's folder."""
    data: str
    """The digest of the data file."""
    sources: Path
    """Where relative file names of the plan start."""

    def key(self, tree: Tree) -> str:
        """The name of a point's file: a digest of its plan, of all files that it reads, and of the program."""
        identity = {
            "plan": {**tree, "input": {k: v for k, v in tree["input"].items() if k != "path"}},
            "data": self.data,
            "files": {name: digest(self.sources / name) for name in sorted(set(_files(tree)))},
            "program": [__version__, RECORD, STUDY, MOST_ROWS],
        }
        text = json.dumps(identity, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def load(self, name: str) -> dict[str, Any] | None:
        """A finished record; None where there is none, or none that can be read."""
        try:
            record = read_json(read_text(self.folder / POINTS / f"{name}.json"))
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) and record.get("name") == name else None

    def save(self, name: str, record: Mapping[str, Any]) -> None:
        """Write a record: all of it or nothing."""
        text = json.dumps({"name": name, **record}, indent=1, ensure_ascii=False, allow_nan=False)
        write_whole(self.folder / POINTS / f"{name}.json", text + "\n", private=True)


def check_folder(folder: Path) -> None:
    """Refuse a folder that is neither new, nor empty, nor a frontier already."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise BundleError(f"{folder} is no folder; name another one with -o")
    if (folder / MANIFEST).exists():
        raise BundleError(f"{folder} is a release bundle; figures of the original must not lie in it")
    for place in (folder.parent, folder, folder / POINTS):
        clear(place)
    if folder.exists() and any(folder.iterdir()) and not (folder / POINTS).is_dir():
        raise BundleError(f"{folder} exists and is no frontier (it has no {POINTS}); name another folder with -o")
    _refuse_others(folder)
    parent = next(place for place in (folder.resolve(), *folder.resolve().parents) if place.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise BundleError(f"{folder} cannot be written: {parent} is not a writable folder")


def _refuse_others(folder: Path) -> None:
    """Refuse a folder whose points, or whose files with the names of ours, a frontier did not make."""
    inside = sorted((folder / POINTS).iterdir()) if (folder / POINTS).is_dir() else []
    records = [path for path in inside if _NAMED.fullmatch(path.name)]
    strange = [path for path in inside if path not in records and not is_scratch(path)]
    if not records:
        strange += [folder / name for name in (PAGE, TABLE, FIGURES) if (folder / name).exists()]
    if strange:
        relative_path = strange[0].relative_to(folder)
        raise BundleError(
            f"{folder} exists and is no frontier: '{relative_path}' is no file of one; name another folder with -o"
        )


def digest(path: Path) -> str:
    """The digest of a file's bytes; what is wrong with a file is said by whoever reads it."""
    try:
        return sha256(path)
    except OSError:
        return "unreadable"


def _files(tree: Any) -> Iterator[str]:
    """The files that a plan names beside its data file."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            if key in _FILES and isinstance(value, str):
                yield value
            else:
                yield from _files(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _files(value)
