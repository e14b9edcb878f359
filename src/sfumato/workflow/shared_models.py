"""Trees and rules in bundles: read from their bytes, for attackers and for whoever learns from several sources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.ground.errors import BundleError
from sfumato.mine.federation import Model
from sfumato.mine.rule_document import KIND as RULES
from sfumato.mine.rule_document import read_rules
from sfumato.mine.tree_json import read_tree
from sfumato.verification.tree_bundle_checks import DOCUMENT
from sfumato.verification.verifying import DATA, tables_of


def read_model(text: str) -> Model:
    """The tree or the rules in a text from anybody."""
    try:
        rules = json.loads(text).get("document") == RULES
    except (ValueError, AttributeError, RecursionError):
        rules = False
    return read_rules(text) if rules else read_tree(text)


def models_in(folder: Path, manifest: Mapping[str, Any]) -> tuple[Model, ...]:
    """The trees or rules of a bundle; a bundle of another kind is refused."""
    columns = [str(one["name"]) for one in manifest["data"]["columns"]]
    if columns != [DOCUMENT] or not str(manifest["data"]["file"]).endswith(".json"):
        raise BundleError(f"{folder} holds no tree; `sfumato tree publish` makes such bundles")
    return tuple(read_model(str(one)) for one in tables_of(folder, manifest)[DATA].frame[DOCUMENT].to_list())
