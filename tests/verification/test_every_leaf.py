"""Every single value of a manifest, changed by itself with the seal mended: noticed, or known not to be checked.

What ``verification.provenance`` calls stated need not be noticed: it says so to every reader. Whatever else passes is
listed here by name, each with the reason why nobody can see it from the bytes.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import sfumato as sf
from sfumato.bundle.manifest import dump, seal
from sfumato.verification.provenance import leaves, origin_of
from sfumato.workflow.checking import verify_written
from tests.golden.releases.comparing import BUNDLES
from tests.weights import ORDINARY

NAMES = (
    "anatomy", "auto-confidence-personalized", "datafly", "mondrian-relaxed-boxes", "optimal-exempt-missing",
    "top-down-valid", "sets-km-tree", "trajectory-mixed", "diffgen-gain-plain", "marginals-counts",
)  # fmt: skip
"""One release of every kind, and of every form of labels, rules and ledgers."""
UNSEEN: dict[str, str] = {
    "sha256": "the test mends it",
    "report/file": "no file is found by it: the report has one name",
    "sfumato|made|versions/*": "when and by which versions it was made; nothing follows from it",
    "recoding/why|recoding/algorithm": "which algorithm auto chose, and its reason in words",
    "search/*|recoding/steps/*": "whether the search proved its result; noisy choices, which epsilon covers",
    "plan/utility/metric": "what the search was to lose least; the figures of all metrics are recomputed",
    "plan/attack/*": "how many trials were asked for, and how long: the attacks state what they made of it",
    "plan/algorithm/*": "how it was searched; which rows an option gives nobody can tell from the rows",
    "plan/input/on_missing": "keep and drop are one thing where no value is missing",
    "plan/input/missing|data/missing": "a marker that no cell shows, stated where the plan declares none",
    "plan/columns/*/hierarchy|plan/columns/*/time_hierarchy": "of which kind a tree is that the bundle does not hold",
    "plan/columns/*/type": "how the original's values were read",
    "claims/*/parameters/paths/*": "the tree that personalized privacy was declared with; it stands nowhere else",
    "data/columns/*/type": "as what numbers are read that no claim takes for numbers",
    "recoding/columns/*/of|recoding/columns/*/total": "the height and width of a hierarchy above all released labels",
    "recoding/columns/*/form": "whether labels that could be both came from a tree or were made for a group",
    "recoding/columns/*/labels/*": "how high a word lies in a tree that the bundle does not hold",
    "recoding/columns/*/rule/type": "whether a table of values is read as texts or as words of a category",
    "recoding/columns/*/rule/values/*": "what a value reads as, where the label is a word and not an interval",
    "recoding/columns/*/rule/above/*": "how labels are made that no new record has shown yet",
    "recoding/columns/*/coarser*": "which of several words is a node of a tree that the bundle does not hold",
    "ledger*what": "what a part of the ledger is called",
    "domains/*": "what the publisher declared: values and limits that no row comes near",
}
"""What may be changed and is not noticed: paths (several by ``|``), and why."""


def others(value: Any, among: Iterable[Any]) -> Iterator[Any]:
    """Other values of the same type: one that stands in a like place, and a neighbour."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from (value + 1, -5)
    elif isinstance(value, str):
        yield from list(dict.fromkeys(one for one in among if isinstance(one, str) and one != value))[:1]
        yield f"{value}x"
    elif isinstance(value, list | dict):
        yield ["x"] if isinstance(value, list) else {"x": 0.0}
    else:
        yield 0.5


def put(content: Any, path: str, value: Any) -> Any:
    """A copy of a manifest with one value replaced; names may contain a slash."""
    if not path:
        return value
    if isinstance(content, list):
        first, _, rest = path.partition("/")
        return [put(one, rest, value) if str(n) == first else one for n, one in enumerate(content)]
    name = next(n for n in sorted(content, key=len, reverse=True) if path == n or path.startswith(f"{n}/"))
    return {**content, name: put(content[name], path[len(name) + 1 :], value)}


def like(path: str) -> str:
    """The pattern of a path: numbers, columns and labels are all alike."""
    for start, stop in ((r"(?:recoding|plan|domains)/columns/", "/|$"), (r".*/(?:labels|sizes|values|paths)/", "$")):
        path = re.sub(rf"^({start}).*?(?={stop})", r"\1*", path)
    return re.sub(r"(?<=/)\d+(?=/|$)", "*", path)


@cache
def manifest(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((BUNDLES / name / "manifest.json").read_text())
    return found


def chosen(name: str, *, every: bool) -> dict[str, list[Any]]:
    """The paths of a manifest that are changed, each with its other values: of like paths and values one, or all."""
    alike: dict[str, list[tuple[str, Any]]] = {}
    for path, value in leaves(manifest(name)):
        alike.setdefault(like(path), []).append((path, value))
    found = {}
    for group in alike.values():
        values = [value for _, value in group]
        for path, value in group if every else group[len(group) // 2 :][:1]:
            found[path] = list(others(value, values))[: None if every else 1]
    return found


def missed(name: str, folder: Path, *, every: bool = False) -> list[str]:
    """The changed paths that pass, though they are neither called stated nor listed here."""
    copy = folder / name
    shutil.copytree(BUNDLES / name, copy)
    found = verify_written(copy, None)
    metrics = {c.what.removeprefix("utility: ") for c in found.checks if c.what.startswith("utility: ")}
    kind = manifest(name)["kind"]
    wrong = []
    for path, values in chosen(name, every=every).items():
        if origin_of(path, kind, metrics).how == "stated" or listed(path):
            continue
        for value in values:
            (copy / "manifest.json").write_text(dump(seal(put(manifest(name), path, value))))
            if passes(copy):
                wrong.append(f"{path} = {value!r}")
    return wrong


def passes(folder: Path) -> bool:
    """Whether a bundle verifies; one that is refused does not."""
    try:
        return verify_written(folder, None).holds
    except sf.SfumatoError:
        return False


def listed(path: str) -> bool:
    """Whether a path is among those that nobody can check."""
    return any(fnmatchcase(path, part) for one in UNSEEN for part in one.split("|"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_value_that_can_be_checked_is(name: str, tmp_path: Path) -> None:
    """One of all like values; under the profile ``full`` every single one, and several other values each."""
    assert missed(name, tmp_path, every=settings.default.max_examples >= ORDINARY) == []


def test_a_list_of_everything_would_be_noticed() -> None:
    """What models and figures state is on no list."""
    for path in ("claims/0/reached", "claims/0/parameters/k", "data/rows", "risk/prosecutor", "suppression/rows"):
        assert not listed(path)
