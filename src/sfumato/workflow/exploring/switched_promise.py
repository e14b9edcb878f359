"""From groups to noise: what of a plan must change so that the same table can be released with epsilon."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sfumato.describe.domains import Categories, Numbers
from sfumato.ground.errors import SfumatoError
from sfumato.workflow.kinds.private.private_plan import KEYS
from sfumato.workflow.plan.builders import builder

Tree = Mapping[str, Any]
Change = tuple[list[str], Any]
EPSILON, DELTA = 1.0, 1e-6
"""What the first draft promises: a usual budget, and a delta far below one over the people of most tables."""
_KEPT = {"role", "type", "separator", "values", "outside", "other"}
"""What a column keeps beside its domain."""
NUMBERS = ("integer", "real")
_PUBLISHED = ("quasi", "sensitive", "keep", "target")


def with_noise(tree: Tree, types: Mapping[str, str], folder: Path) -> tuple[list[Change], list[str]]:
    """The keys to set, None for those to take out; and the columns that noise has no domain for.

    A column whose domain the plan declares keeps it. For the others a release looks for the domain and pays for it with
    a part of epsilon: ranges of numbers, and with delta the values of texts. Dates and paths are left out; beside sets,
    which only pure epsilon takes, texts without a domain are too.
    """
    columns: Tree = {name: one for name, one in tree.get("columns", {}).items() if str(_role(one)) in _PUBLISHED}
    kinds = {name: str(one.get("type") or types.get(name, "text")) for name, one in columns.items()}
    known = {name: _declared(one, folder) for name, one in columns.items()}
    sets = any(kinds[name] == "set" and known[name] for name in columns)
    texts = [
        name for name in columns if not known[name] and (kinds[name] not in NUMBERS or _role(columns[name]) == "target")
    ]
    left_out = [name for name in texts if sets or kinds[name] in ("date", "trajectory", "set")]
    promise = {"epsilon": EPSILON, "delta": DELTA if {*texts} - {*left_out} else None}
    changes: list[Change] = [(["privacy", key], None) for key in tree.get("privacy", {}) if key not in KEYS]
    changes += [(["privacy", key], value) for key, value in promise.items()]
    changes += [([part], None) for part in ("algorithm", "utility") if part in tree]
    for name, column in columns.items():
        if name in left_out:
            changes += [*_cleared(name, column, {"role"}), (["columns", name, "role"], "drop")]
        else:
            changes += _column(name, column, known=known[name], number=name not in texts)
    return changes, left_out


def _role(column: Tree) -> Any:
    """The role, or the first of two."""
    said = column.get("role")
    return said[0] if isinstance(said, list) and said else said


def _cleared(name: str, column: Tree, kept: set[str]) -> Iterator[Change]:
    yield from ((["columns", name, key], None) for key in column if key not in kept)


def _column(name: str, column: Tree, *, known: bool, number: bool) -> Iterator[Change]:
    """A published column: a quasi-identifier or the class, with its domain or a search for it."""
    yield from _cleared(name, column, {*_KEPT, *({"hierarchy", "domain_from"} if known else ())})
    if _role(column) != "target":
        yield ["columns", name, "role"], "quasi"
    if not known:
        yield ["columns", name, "hierarchy"], {"kind": "grown"} if number else None
        yield ["columns", name, "domain_from"], "discover"


def _declared(column: Tree, folder: Path) -> bool:
    """Whether the plan itself says what the column can hold, and did not read it off the rows."""
    if column.get("domain_from") == "profile":
        return False
    if column.get("values") or _role(column) == "target":
        return bool(column.get("values"))
    try:
        made = builder(column.get("hierarchy", {"kind": "flat"}), "hierarchy", folder).declared()
    except (SfumatoError, OSError):
        return False
    return isinstance(made, Categories | Numbers)
