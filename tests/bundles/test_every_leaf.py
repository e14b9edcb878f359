"""Every field of every manifest, changed by itself with the seal mended: noticed, or known not to be checkable.

Each value is replaced, each key and entry removed, repeated or given raw rows; bundles of every type and shape are
tried (``every_bundle``). What ``bundles.provenance`` calls stated may change: `verify` names it to every reader.
Whatever else passes is listed here, with the reason why the bytes cannot show it. Raw rows never pass.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import settings

import sfumato as sf
from sfumato.bundles.checks.joint import written
from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import dump, seal
from sfumato.bundles.provenance import LINKED_STATED, origin_of
from sfumato.pipeline.release import verify_written
from tests.bundles.every_bundle import NAMES, copied
from tests.bundles.mutations import mutations
from tests.weights import ORDINARY

SHARE = 4
"""In the profile ``quick`` one mutation of so many is tried: about 5,000; in ``full`` all of them."""
SLOW = {"collected": 40, "parts": 20}
"""Bundles whose verification makes all estimates again, or starts an engine."""
UNSEEN: dict[str, str] = {
    "sha256": "the test mends it",
    "report|report/file": "the test does not make the report again; `verify` does",
    "sfumato|made|versions/*": "when and by which versions it was made; nothing follows from it",
    "recoding/why|recoding/algorithm": "which algorithm auto chose, and its reason in words",
    "marks/*": "that a seed was fixed, or time was short; no other mark can be removed",
    "search/*|recoding/steps*": "whether the search proved its result; noisy choices, which epsilon covers",
    "plan/utility/metric": "what the search was to lose least; the figures of all metrics are recomputed",
    "plan/attack/*": "how many trials were asked for, and how long: the attacks state what they made of it",
    "plan/algorithm/*": "how it was searched; which rows an option gives nobody can tell from the rows",
    "plan/input/on_missing": "keep and drop are the same where no value is missing",
    "plan/input/missing/*|data/missing": "a marker that no cell shows, stated where the plan declares none",
    "plan/columns/*hierarchy": "of which kind a tree is that the bundle does not hold",
    "plan/columns/*/type|plan/columns/*/separator|plan/columns/*/mark": "how the original's values were read",
    "plan/columns/*/values": "how many values were declared, where a document declares them",
    "plan/tree/structure": "whether the splits were declared",
    "plan/privacy/delta_presence/low|plan/privacy/*/kind|plan/privacy/*/distance": "a default of the model",
    "claims/*/parameters/paths/*": "the tree that personalized privacy was declared with; it is nowhere else",
    "claims/*/parameters/costs/*": "what one value costs to take for another: declared",
    "data/columns/*/type": "as what numbers are read that no claim takes for numbers",
    "data/columns/*/role": "keep and quasi are the same for synthetic rows; keep and target for collected answers",
    "recoding/columns/*/of|recoding/columns/*/total": "the height and width of a hierarchy above all released labels",
    "recoding/columns/*/form": "whether labels that could be both came from a tree or were made for a group",
    "recoding/columns/*/level": "that all labels lie on one level, where they do",
    "recoding/columns/*/labels/*": "how high a word lies in a tree that the bundle does not hold",
    "recoding/columns/*/continuous": "whether a column of one number has a width",
    "recoding/columns/*/rule|recoding/columns/*/rule/type": "how new records are recoded, and read for it",
    "recoding/columns/*/rule/values/*": "what a value is recoded to, where the label is a word and not an interval",
    "recoding/columns/*/rule/above/*": "how labels are made that no new record has shown yet",
    "recoding/columns/*/coarser*": "which of several words is a node of a tree that the bundle does not hold",
    "recoding/columns/*/sizes*": "what a word covers; `verify` says that it was not recomputed",
    "recoding/columns/*/aliases": "that there are more aliases than the rows show",
    "reconstruction/questions/*/rounds": "within a twentieth: rounding may end an iteration sooner",
    "ledger*what": "what an inner part of the ledger is called",
    "ledger/parts/*": "how a parallel part is divided, which costs nothing",
    "domains/*": "what the publisher declared: values and limits that no row comes near",
}
"""What may be changed and is not noticed: paths (several by ``|``), and why."""
UNORDERED = (
    "attacks", "marks", "tables", "links", "files", "ledger*parts", "data/population", "recoding/sizes",
    "recoding/steps", "trail/steps/*/fine", "domains/*",
)  # fmt: skip
"""Lists whose order says nothing."""


def passes(check: Callable[[], sf.Verification]) -> bool:
    """Whether a bundle verifies; one that is refused does not."""
    try:
        return check().holds
    except sf.SfumatoError:
        return False


def fits(path: str, patterns: str) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns.split("|"))


def allowed(path: str, what: str, kind: str) -> bool:
    """Whether a change need not be noticed."""
    if what == "raw rows added":
        return False
    if what == "reversed" and any(fits(path, pattern) for pattern in UNORDERED):
        return True
    if any(fits(path, patterns) for patterns in UNSEEN):
        return True
    if kind == "linked":
        return any(fits(path, origin.path) for origin in LINKED_STATED)
    return origin_of(path, kind).how == "stated" and not path.startswith("utility/")


def chosen(name: str, content: Any) -> list[tuple[str, str, Any]]:
    """The mutations that are tried: all of them in ``full``."""
    full = settings.default.max_examples >= ORDINARY
    share = 1 if full else SLOW.get(name, SHARE)
    start = crc32(name.encode()) % share
    return [entry for entry in mutations(content, every=False) if entry[2] != content][start::share]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_field_that_can_be_checked_is(name: str, tmp_path: Path) -> None:
    folder = copied(name, tmp_path)
    bundle = sorted(folder.iterdir())[1] if name == "stream" else folder
    many = name in ("stream", "linked")
    content = json.loads((bundle / "manifest.json").read_text())
    unnoticed = []
    for path, what, changed in chosen(name, content):
        (bundle / "manifest.json").write_text(dump(seal(changed)))
        if not allowed(path, what, content["kind"]) and passes(
            (lambda: sf.verify(folder)) if many else (lambda: verify_written(folder, None))
        ):
            unnoticed.append(f"{path}: {what}")
    assert unnoticed == []


FREE = (
    "clusters/*", "squared distances", "attributes/*/grid", "attributes/*/declared", "nodes/*/counts/*",
    "rules/*/rows", "sets/*/rows",
)  # fmt: skip
"""Figures that only the parties know, and what they declared."""
DOCUMENTS = ("joint-counts", "joint-rules", "joint-naive-bayes", "joint-tree", "joint-k-means", "tree")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_field_of_a_document_that_can_be_checked_is(name: str, tmp_path: Path) -> None:
    """Documents of trees and of joint results have nothing in them that their readers do not know."""
    folder = copied(name, tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    path = folder / manifest["data"]["file"]
    content = json.loads(path.read_text().splitlines()[0])
    unnoticed = []
    for place, what, changed in chosen(name, content):
        path.write_text(written(changed))
        manifest["data"]["sha256"] = sha256(path)
        (folder / "manifest.json").write_text(dump(seal(manifest)))
        if what != "reversed" and passes(lambda: verify_written(folder, None)):
            unnoticed += [f"{place}: {what}"] * (what == "raw rows added" or not any(fits(place, x) for x in FREE))
    assert unnoticed == []


def test_a_list_of_everything_would_be_noticed() -> None:
    """What models and figures state is on no list."""
    for path in ("claims/0/reached", "claims/0/parameters/k", "data/rows", "risk/prosecutor", "suppression/rows"):
        assert not allowed(path, "removed", "table")
