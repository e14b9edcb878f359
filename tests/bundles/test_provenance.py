"""Where every figure of a manifest comes from: those that are called recomputed cannot be forged."""

from __future__ import annotations

import json
import shutil
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.bundles.manifest.document import dump, seal
from sfumato.bundles.provenance import leaves, not_recomputed, origin_of

SPAN = {"kind": "intervals", "widths": [10, 20, 40], "low": 0, "high": 100}
COLUMNS = {
    "age": {"role": "quasi", "hierarchy": SPAN},
    "race": {"role": "quasi", "hierarchy": {"bundled": "census/race"}},
    "education": {"role": "quasi", "hierarchy": {"bundled": "census/education"}},
    "occupation": {"role": "sensitive"},
    "income": {"role": "target"},
}
UNDECLARED = {**COLUMNS, "age": {"role": "quasi", "hierarchy": {"kind": "quantiles"}}}
PLANS: dict[str, dict[str, Any]] = {
    "optimal": {"columns": COLUMNS, "privacy": {"k_anonymity": 4}, "algorithm": {"max_suppressed": 0.1}},
    "star": {
        "columns": UNDECLARED,
        "privacy": {"k_anonymity": 4},
        "algorithm": {"max_suppressed": 0.1, "suppressed": "star"},
    },
    "boxes": {
        "columns": UNDECLARED,
        "privacy": {"k_anonymity": 4},
        "algorithm": {"name": "mondrian", "output": "boxes"},
    },
    "top-down": {"columns": COLUMNS, "privacy": {"k_anonymity": 10}, "algorithm": {"name": "top-down"}},
    "anatomy": {
        "columns": {name: spec for name, spec in COLUMNS.items() if name != "income"},
        "privacy": {"l_diversity": {"kind": "simple", "l": 2}},
        "algorithm": {"name": "anatomy"},
        "attack": {"run": False},
    },
}
PEOPLE = {
    "input": {"unit": "person"},
    "columns": {**COLUMNS, "person": {"role": "identifier"}},
    "privacy": {"k_anonymity": 3},
    "algorithm": {"max_suppressed": 0.1},
}
SETS = {
    "columns": {"basket": {"role": "quasi", "type": "set", "separator": " "}, "ill": {"role": "sensitive"}},
    "privacy": {"km": {"k": 2, "m": 2}},
}
PRIVATE = {
    "columns": {
        "race": {"role": "quasi", "hierarchy": {"bundled": "census/race"}},
        "income": {"role": "target", "values": ["<=50K", ">50K"]},
    },
    "privacy": {"epsilon": 1},
    "algorithm": {"name": "diffgen"},
}
PLANS |= {"people": PEOPLE, "sets": SETS, "private": PRIVATE}
WORDS = "recoding/columns/*/sizes"
"""What a word covers: in the publisher's hierarchy, not in the bundle."""
STATED = {
    "suppression/of", "suppression/people*", "search/proven_optimal", "attacks/*", "attacks_not_made/*", "trail/loss",
    "trail/steps/*/loss",
}  # fmt: skip
"""The exceptions, by name: what a bundle says beyond its rows and what was declared."""
NOISY = {"recoding/*", "search/*"}
"""What the mechanism of a private release chose; epsilon covers it."""


def frame(name: str) -> pl.DataFrame:
    if name == "sets":
        return pl.DataFrame({"basket": [*["a b", "a b c", "b c"] * 4, "a z"], "ill": ["flu"] * 13})
    table = sf.datasets.census(300, seed=3)
    return table.with_columns(person=(pl.int_range(pl.len()) // 2).cast(pl.String))


@pytest.fixture(scope="module", params=PLANS)
def bundle(request, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("made") / request.param
    assert sf.release(sf.Plan.parse(PLANS[request.param]), frame(request.param)).write(folder).holds
    return folder


def other(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value}x" if isinstance(value, str) else "x"


def changed(content: Any, path: str) -> Any:
    """A manifest with one value changed."""
    first, _, rest = path.partition("/")
    if isinstance(content, list):
        return [changed(one, rest) if str(n) == first else one for n, one in enumerate(content)]
    if isinstance(content, dict) and content and path:
        name = next(n for n in sorted(content, key=len, reverse=True) if path == n or path.startswith(f"{n}/"))
        return {**content, name: changed(content[name], path[len(name) + 1 :])}
    return other(content)


def passes(folder: Path) -> bool:
    """Whether a bundle verifies; one that is refused does not."""
    try:
        return sf.verify(folder).holds
    except sf.SfumatoError:
        return False


def test_what_is_called_recomputed_cannot_be_forged(bundle: Path, tmp_path: Path):
    """Every single figure of a manifest, changed by itself with the seal mended, is noticed or named as not checked."""
    manifest = json.loads((bundle / "manifest.json").read_text())
    found = sf.verify(bundle)
    metrics = {c.what.removeprefix("utility: ") for c in found.checks if c.what.startswith("utility: ")}
    copy = tmp_path / "copy"
    shutil.copytree(bundle, copy)
    missed = []
    for path, _ in leaves(manifest):
        if origin_of(path, manifest.get("kind", "table"), metrics).how != "recomputed" or path in (
            "sha256",
            "data/file",
            "report/file",
        ):
            continue
        (copy / "manifest.json").write_text(dump(seal(changed(manifest, path))))
        if passes(copy):
            missed.append(path)
    assert missed == []


def test_exceptions_are_listed_by_name(bundle: Path):
    """Nothing else in a bundle is known from the original alone."""
    manifest = json.loads((bundle / "manifest.json").read_text())
    paths = {origin.path for origin in sf.verify(bundle).stated if not fnmatchcase(origin.path, WORDS)}
    assert paths <= STATED | (NOISY if bundle.name == "private" else set())
    assert all(
        name in {c.what.removeprefix("utility: ") for c in sf.verify(bundle).checks}
        for name in manifest.get("utility", {})
    )


def test_a_metric_that_is_measured_against_the_original_is_reported(bundle: Path, tmp_path: Path):
    """A figure that a forger adds is not passed over in silence."""
    manifest = json.loads((bundle / "manifest.json").read_text())
    manifest.setdefault("utility", {})["entropy"] = 0.01
    manifest["secret"] = 12
    told = {one.path: one.why for one in not_recomputed(manifest, sf.verify(bundle).checks)}
    assert told["utility/entropy"] == "it is measured against the original"
    assert told["secret"] == "this version does not know it"
