"""A draft plan as TOML, with a reason beside every choice."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from sfumato.pipeline.methods import kind_of
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.profile.profile import ColumnProfile, Profile
from sfumato.tables.schema import Role

PROFILED = (
    'domain_from = "profile"  # low and high were read off the rows. Before epsilon or questions, write limits '
    'that are public knowledge, and "public" here'
)
"""The line that tells where limits come from."""


def draft(
    found: Profile, *, path: str | None, missing: tuple[str, ...] = (), reading: Mapping[str, Any] | None = None
) -> str:
    """A plan that ``release`` accepts as it is; read it before you use it."""
    lines = ["# Drafted by `sfumato profile`. Check every role: only you know what others can know.", "", "[input]"]
    lines += [] if path is None else [f"path = {toml(path)}"]
    lines += [f"{key} = {toml(value)}" for key, value in (reading or {}).items() if value is not None]
    lines += [f"{key} = {toml(value)}{_FOUND_OUT.get(key, '')}" for key, value in found.reading.items()]
    lines += _missing(missing, found.missing)
    if found.unit is not None and not found.itemized:
        lines.append(_unit(found))
    for column in found.columns:
        lines += ["", *_column(column)]
    if not found.quasi and not found.itemized:
        lines += [
            "",
            "# No column has the role quasi: decide what others may know, and give it to those.",
        ]
    return "\n".join([*lines, "", *_requirement(found), ""])


_FOUND_OUT = {
    "header": "  # the first line looks like data; names = [...] names the columns",
    "trim": "  # blanks follow every delimiter",
}


def _missing(said: tuple[str, ...], found: tuple[str, ...]) -> list[str]:
    """What stands for a missing value: as it was said, or as it was found."""
    if said:
        return [f"missing = {toml(list(said))}"]
    return [f"missing = {toml(list(found))}  # found in cells; remove what is a value"] if found else []


def _column(column: ColumnProfile) -> list[str]:
    """What the draft says about one column."""
    one = column.suggestion
    lines = [f"[columns.{_key(column.name)}]", f'role = "{one.role}"  # {_one_line(one.why)}']
    if column.near_unique is not None:
        lines.append(f"# warning: {_one_line(column.near_unique.told)}")
    lines += [f"# check: {_one_line(note)}" for note in one.notes]
    if one.role in (Role.DROP, Role.IDENTIFIER):
        return lines
    if column.kind != "text" or one.read_as is not None:
        lines.append(f'type = "{column.kind}"')
    if one.form is not None:
        lines.append(f'format = "{one.form.order}"')
        lines += [f"pivot = {one.form.pivot}"] if one.short_years else []
    if one.hierarchy is not None:
        lines.append(f"hierarchy = {toml(one.hierarchy)}")
    return [*lines, PROFILED] if one.limits_seen else lines


def _unit(found: Profile) -> str:
    """The line about people with several rows; an engine counts rows."""
    if found.engine is not None:
        return f"# {_one_line(str(found.unit))} repeats, and {found.engine} counts rows, not people: see input.unit"
    return f"unit = {toml(found.unit)}  # it repeats: people are counted, not rows"


def _one_line(text: str) -> str:
    """A text as a comment: a name may hold line breaks."""
    return " ".join(text.split())


def _requirement(found: Profile) -> list[str]:
    """What the kind of release that fits the columns is usually asked for."""
    columns = {c.name: {"role": str(c.suggestion.role), **_typed(c)} for c in found.columns}
    plan = Plan(columns=columns, privacy={})  # type: ignore[arg-type]
    draft_of = kind_of(plan).draft
    return [] if draft_of is None else draft_of(found)


def _typed(column: ColumnProfile) -> dict[str, str]:
    return {} if column.suggestion.kind is None else {"type": column.suggestion.kind}


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
