"""Every small change of a JSON document: each value replaced, each key and entry removed, repeated or added."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any

Path = tuple[str | int, ...]
RAW = [["Alice", "1970-01-01", "HIV"]]
"""Original rows, hidden under a key that no reader knows."""


def replaced(content: Any, path: Path, change: Any) -> Any:
    """A copy of a document in which ``change`` was applied to what contains the last part of a path."""
    result = copy.deepcopy(content)
    holder = result
    for part in path[:-1]:
        holder = holder[part]
    change(holder, path[-1])
    return result


def nodes(content: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every table, list and value of a document with its path, the document itself left aside."""
    items = content.items() if isinstance(content, Mapping) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        yield (*path, key), value
        yield from nodes(value, (*path, key))


def values_like(value: Any, others: list[Any]) -> Iterator[Any]:
    """Other values of the same type: that of a similar place, and near ones."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from (value + 1, value / 2 if isinstance(value, float) else value // 2, -5)
    elif isinstance(value, str):
        yield from [other for other in others if isinstance(other, str) and other != value][:1]
        yield f"{value}x"
    elif value is None:
        yield 0.5


def pattern(path: Path) -> str:
    """The pattern of a path: all columns, numbers and labels are alike."""
    text = "/".join("*" if isinstance(part, int) else str(part) for part in path)
    text = re.sub(r"^((?:recoding|plan|domains)/columns/)[^/]+", r"\1*", text)
    return re.sub(r"/(labels|sizes|values|paths|deviations|classes)/.+$", r"/\1/*", text)


def mutations(content: Any, *, every: bool) -> Iterator[tuple[str, str, Any]]:
    """Changed copies: the path, what was done, and the document; of places that are alike the middle one, or all."""
    alike: dict[str, list[tuple[Path, Any]]] = {}
    for path, value in nodes(content):
        alike.setdefault(pattern(path), []).append((path, value))
    for group in alike.values():
        others = [value for _, value in group]
        for path, value in group if every else group[len(group) // 2 :][:1]:
            yield from _at(content, path, value, others)
    yield "", "raw rows added", {**content, "raw": RAW}


def _at(content: Any, path: Path, value: Any, others: list[Any]) -> Iterator[tuple[str, str, Any]]:
    name = "/".join(map(str, path))

    def put(new: Any) -> Any:
        return replaced(content, path, lambda holder, key: holder.__setitem__(key, new))

    yield name, "removed", replaced(content, path, lambda holder, key: holder.pop(key))
    if isinstance(value, Mapping):
        yield name, "raw rows added", put({**value, "raw": RAW})
    elif isinstance(value, list):
        yield name, "raw rows added", put([*value, RAW])
        if value:
            yield name, "last entry repeated", put([*value, value[-1]])
            yield name, "reversed", put(value[::-1])
    for new in values_like(value, others):
        yield name, f"now {new!r}", put(new)
