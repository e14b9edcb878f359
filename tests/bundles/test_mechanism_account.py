"""The account of a private mechanism: steps, figures, labels and ledger of one bundle fit each other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.bundles.manifest.document import dump, seal
from sfumato.pipeline.release import verify_written
from tests.bundles.every_bundle import copied

Change = Callable[[dict[str, Any]], Any]


def _finer(m: dict[str, Any]) -> None:
    """A label within a published one, as if a further split had been made."""
    stated = m["recoding"]["columns"]["age"]
    low = next(label for label in stated["labels"] if label.startswith("[0-"))
    stated["labels"]["[0-5)"] = stated["labels"][low]
    stated["deviations"]["[0-5)"] = stated["deviations"][low]


def _collapsed(m: dict[str, Any]) -> None:
    m["ledger"] = {"kind": "pure", "epsilon": str(m["plan"]["privacy"]["epsilon"]), "what": m["ledger"]["what"]}


FORGED: dict[str, tuple[str, Change]] = {
    "a finer label next to its ancestor": ("diffgen-gain-plain", _finer),
    "DiffGen's ledger of one entry": ("diffgen-gini-sets", _collapsed),
    "the ledger of marginals in one entry": ("marginals-counts", _collapsed),
    "a step that was not bought": ("marginals", lambda m: m["recoding"]["steps"].append("a and b, measured together")),
    "a step that is not stated": ("marginals", lambda m: m["recoding"]["steps"].pop()),
    "steps in another order": ("diffgen-gain-plain", lambda m: m["recoding"]["steps"].reverse()),
    "fewer groups than rows": ("marginals", lambda m: m["search"].update(groups=10)),
    "another price of a choice": ("diffgen-gain-plain", lambda m: m["search"].update({"epsilon of one choice": "1/7"})),
    "a smaller core": ("marginals", lambda m: m["search"].update({"in the core": 1})),
    "raw rows as a workload": ("marginals-workload", lambda m: m["plan"]["algorithm"].update(workload=[["Al", "flu"]])),
    "counts called records": ("marginals-counts", lambda m: m["plan"]["algorithm"].update(output="records")),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_account_is_caught(name: str, tmp_path: Path) -> None:
    bundle, change = FORGED[name]
    folder = copied(bundle, tmp_path)
    assert verify_written(folder, None).holds
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest)
    (folder / "manifest.json").write_text(dump(seal(manifest)))
    assert not verify_written(folder, None).holds
