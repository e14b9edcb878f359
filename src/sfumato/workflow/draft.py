"""A draft plan as TOML, with a reason beside every choice."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from sfumato.describe.roles import Role
from sfumato.workflow.profile import Profile


def draft(found: Profile, *, path: str, missing: tuple[str, ...] = (), reading: Mapping[str, Any] | None = None) -> str:
    """A plan that ``release`` accepts as it is; read it before you use it."""
    lines = ["# Drafted by `sfumato profile`. Check every role: only you know what others can know.", "", "[input]"]
    lines.append(f"path = {toml(path)}")
    lines += [f"{key} = {toml(value)}" for key, value in (reading or {}).items() if value is not None]
    lines += [f"missing = {toml(list(missing))}"] if missing else []
    for column in found.columns:
        lines += ["", f"[columns.{_key(column.name)}]", f'role = "{column.suggestion.role}"  # {column.suggestion.why}']
        if column.kind not in ("text", "category"):
            lines.append(f'type = "{column.kind}"')
        if column.suggestion.hierarchy is not None:
            lines.append(f"hierarchy = {toml(column.suggestion.hierarchy)}")
    return "\n".join([*lines, "", *_requirement(found), ""])


def _requirement(found: Profile) -> list[str]:
    """K = 5, and two different sensitive values where there are some; up to 5 % of the rows may go.

    For paths and sets: whoever knows two items finds five records.
    """
    k = max(min(5, found.rows), 1)
    if found.itemized:
        return [
            "[privacy]",
            f"km = {{ k = {k}, m = 2 }}  # or lkc, with a sensitive column",
            "",
            "[algorithm]",
            'name = "auto"',
        ]
    lines = ["[privacy]", f"k_anonymity = {k}"]
    sensitive = [c for c in found.columns if c.suggestion.role is Role.SENSITIVE]
    if sensitive and all(c.distinct + (c.missing > 0) >= 3 for c in sensitive):
        lines.append('l_diversity = { kind = "distinct", l = 2 }')
    return [*lines, "", "[utility]", 'metric = "loss"', "", "[algorithm]", 'name = "auto"', "max_suppressed = 0.05"]


def toml(value: Any) -> str:
    """A value as TOML writes it.

    >>> toml({"kind": "mask", "levels": [1, 2], "trim": True})
    '{ kind = "mask", levels = [1, 2], trim = true }'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(str(key))} = {toml(item)}" for key, item in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
