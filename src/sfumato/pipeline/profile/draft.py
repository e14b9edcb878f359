"""A draft plan as TOML, with a reason beside every choice."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from sfumato.pipeline.methods import method_of
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.profile.profile import ColumnProfile, Profile
from sfumato.tables.schema import Role

PROFILED = (
    'domain_from = "profile"  # low and high were read off the rows. Before epsilon or questions, write limits '
    'that are public knowledge, and "public" here'
)
"""The line that tells where limits come from."""


def draft(
    profile: Profile,
    *,
    path: str | None,
    missing: tuple[str, ...] = (),
    reading: Mapping[str, Any] | None = None,
    schema: str | None = None,
) -> str:
    """A plan that ``release`` accepts as it is; read it before you use it. Editors check it by the file ``schema``."""
    lines = [] if schema is None else [f"#:schema ./{quote(schema)}"]
    lines += ["# Drafted by `sfumato profile`. Check every role: only you know what others can know.", "", "[input]"]
    lines += [] if path is None else [f"path = {toml(path)}"]
    lines += [f"{key} = {toml(value)}" for key, value in (reading or {}).items() if value is not None]
    lines += [f"{key} = {toml(value)}{_FOUND_OUT.get(key, '')}" for key, value in profile.reading.items()]
    lines += _missing(missing, profile.missing)
    if profile.unit is not None and not profile.itemized:
        lines.append(_unit(profile))
    for column in profile.columns:
        lines += ["", *_column(column)]
    if not profile.quasi and not profile.itemized:
        lines += [
            "",
            "# No column has the role quasi: decide what others may know, and give it to those.",
        ]
    return "\n".join([*lines, "", *_requirement(profile), ""])


_FOUND_OUT = {
    "header": "  # the first line looks like data; names = [...] names the columns",
    "trim": "  # blanks follow every delimiter",
}


def _missing(requested_markers: tuple[str, ...], detected_markers: tuple[str, ...]) -> list[str]:
    """What stands for a missing value: as it was said, or as it was found."""
    if requested_markers:
        return [f"missing = {toml(list(requested_markers))}"]
    return (
        [f"missing = {toml(list(detected_markers))}  # found in cells; remove what is a value"]
        if detected_markers
        else []
    )


def _column(column: ColumnProfile) -> list[str]:
    """What the draft says about one column."""
    suggestion = column.suggestion
    lines = [f"[columns.{_key(column.name)}]", f'role = "{suggestion.role}"  # {_one_line(suggestion.why)}']
    if column.near_unique is not None:
        lines.append(f"# warning: {_one_line(column.near_unique.told)}")
    lines += [f"# check: {_one_line(note)}" for note in suggestion.notes]
    if suggestion.role in (Role.DROP, Role.IDENTIFIER):
        return lines
    if column.kind != "text" or suggestion.read_as is not None:
        lines.append(f'type = "{column.kind}"')
    if suggestion.form is not None:
        lines.append(f'format = "{suggestion.form.order}"')
        lines += [f"pivot = {suggestion.form.pivot}"] if suggestion.short_years else []
    if suggestion.hierarchy is not None:
        lines.append(f"hierarchy = {toml(suggestion.hierarchy)}")
    return [*lines, PROFILED] if suggestion.limits_seen else lines


def _unit(profile: Profile) -> str:
    """The line about people with several rows; an engine counts rows."""
    if profile.engine is not None:
        return f"# {_one_line(str(profile.unit))} repeats, and {profile.engine} counts rows, not people: see input.unit"
    return f"unit = {toml(profile.unit)}  # it repeats: people are counted, not rows"


def _one_line(text: str) -> str:
    """A text as a comment: a name may hold line breaks."""
    return " ".join(text.split())


def _requirement(profile: Profile) -> list[str]:
    """What the kind of release that fits the columns is usually asked for."""
    columns = {c.name: {"role": str(c.suggestion.role), **_typed(c)} for c in profile.columns}
    plan = Plan(columns=columns, privacy={})  # type: ignore[arg-type]
    draft_of = method_of(plan).draft
    return [] if draft_of is None else draft_of(profile)


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
