"""Sizes of labels are what the labels say: halving them all, with every metric mended, makes no release look better."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sfumato.bundles.checks.evidence import evidence
from sfumato.bundles.checks.labels import words_without_values
from sfumato.bundles.checks.losses import losses
from sfumato.bundles.columns import Published
from sfumato.bundles.manifest.document import dump, seal
from sfumato.bundles.verify import tables_of
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.release import verify_written
from tests.bundles.every_bundle import GOLDEN, copied

_SHARES = ("boxes", "intervals", "distributions")


def halved(stated: dict[str, Any]) -> bool:
    """Halve the sizes of a column, and the heights that follow from them; whether anything changed."""
    leaf = 0.0 if stated["continuous"] else 1.0
    changed = False
    for label, size in stated["sizes"].items():
        if label != "*" and size > leaf:
            stated["sizes"][label], changed = max(size // 2 if leaf else size / 2, leaf), True
        if stated.get("form") in _SHARES:
            share = (stated["sizes"][label] - leaf) / max(stated["total"] - leaf, 1e-300)
            stated["labels"][label] = stated["of"] * min(max(share, 0.0), 1.0)
    return changed


def with_metrics(manifest: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The manifest with every metric that follows from its sizes."""
    table, published = tables_of(folder, manifest)["data"], Published.from_json(manifest["data"])
    classes = evidence(table, published, counted=[])
    return {**manifest, "utility": losses(manifest, classes, catalog(), list(manifest["utility"]))}


@pytest.mark.parametrize("name", GOLDEN)
def test_halved_sizes_are_caught_or_called_stated(name: str, tmp_path: Path) -> None:
    folder = copied(name, tmp_path)
    text = (folder / "manifest.json").read_text()
    columns = json.loads(text)["recoding"].get("columns", {})
    for column in [c for c in columns if isinstance(columns, dict) and "sizes" in columns[c]]:
        manifest = json.loads(text)
        stated = manifest["recoding"]["columns"][column]
        by_word = words_without_values(stated, manifest["data"]["missing"] or ("",))
        if not halved(stated):
            continue
        (folder / "manifest.json").write_text(dump(seal(with_metrics(manifest, folder))))
        verified = verify_written(folder, None)
        caught = not verified.holds
        told = any(origin.path == f"recoding/columns/{column}/sizes" for origin in verified.stated)
        assert caught or (by_word and told), column
