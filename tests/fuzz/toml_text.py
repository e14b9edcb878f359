"""A tree as TOML, however strange it is."""

from __future__ import annotations

import json
from typing import Any


def toml_text(tree: Any) -> str:
    """The text of a plan: a table for each key, everything below it in line."""
    if not isinstance(tree, dict):
        return f"value = {_value(tree)}\n"
    plain = [f"{_key(key)} = {_value(value)}" for key, value in tree.items() if not isinstance(value, dict)]
    tables = [
        f"[{_key(key)}]\n" + "\n".join(f"{_key(inner)} = {_value(item)}" for inner, item in value.items())
        for key, value in tree.items()
        if isinstance(value, dict)
    ]
    return "\n".join([*plain, *tables]) + "\n"


def _key(key: Any) -> str:
    return json.dumps(str(key))


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    return '""' if value is None else json.dumps(value)
