"""The plan as text and as a tree: an edit in the form changes one key, and leaves comments and order alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.ground.errors import PlanError
from sfumato.ground.extras import extra

NEEDS = ("tomlkit", "the studio")


def revision(text: str) -> str:
    """What tells one state of a plan from another."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def tree_of(text: str) -> dict[str, Any]:
    """The tables of a plan; what is no TOML is refused with its line."""
    from sfumato.ground.strict_toml import read_toml

    try:
        found: dict[str, Any] = read_toml(text)
    except ValueError as error:
        raise PlanError(f"the plan is not valid TOML: {error}") from error
    return found


def edited(text: str, path: Sequence[str], value: Any) -> str:
    r"""The text with one key set, or taken out where the value is None.

    >>> print(edited("# mine\n[privacy]\nk_anonymity = 5 # five\n", ["privacy", "k_anonymity"], 10), end="")
    # mine
    [privacy]
    k_anonymity = 10 # five
    """
    kit = extra(*NEEDS)
    document = kit.parse(text)
    table = document
    for part in path[:-1]:
        if part not in table:
            if value is None:
                return text
            table[part] = kit.table() if table is document or part in _WIDE else kit.inline_table()
        table = table[part]
        if not isinstance(table, Mapping):
            raise PlanError(f"{'.'.join(path)}: {part} is not a table of the plan")
    if value is None:
        table.pop(path[-1], None)
    elif len(path) == 2 and path[0] == "columns" and path[-1] not in table:
        table[path[-1]] = _wide(kit, value)
    else:
        table[path[-1]] = _inline(kit, value)
    return str(kit.dumps(document))


_WIDE = ("columns",)


def _wide(kit: Any, value: Any) -> Any:
    made = kit.table()
    for key, one in value.items():
        made[key] = _inline(kit, one)
    return made


def _inline(kit: Any, value: Any) -> Any:
    """Tables inside a section are written in one line, as plans are."""
    if isinstance(value, Mapping):
        made = kit.inline_table()
        for key, one in value.items():
            made[key] = _inline(kit, one)
        return made
    return [_inline(kit, one) for one in value] if isinstance(value, list) else value
