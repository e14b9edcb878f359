"""Which kind of release a plan asks for, also while the plan is not whole yet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.ground.errors import SfumatoError
from sfumato.workflow.kinds import kind_of
from sfumato.workflow.plan.column_plan import ITEMIZED
from sfumato.workflow.plan.plan import Plan


def kind_asked(tree: Mapping[str, Any], folder: Path) -> str:
    """The kind by its name; of a plan that is refused, what its promise and the types of its columns point to.

    >>> kind_asked({"columns": {"basket": {"role": "quasi", "type": "set"}}, "privacy": {"km": "no"}}, Path())
    'items'
    """
    try:
        return kind_of(Plan.parse(tree, folder=folder)).name
    except SfumatoError:
        privacy, columns = _table(tree.get("privacy")), _table(tree.get("columns"))
    if {"epsilon", "rho"} & {*privacy}:
        return "private"
    return "items" if any(_table(one).get("type") in ITEMIZED for one in columns.values()) else "table"


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
