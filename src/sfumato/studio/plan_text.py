"""The plan as text and as a tree, confined to files of the served folder."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.core.errors import PlanError
from sfumato.core.extras import extra
from sfumato.pipeline.plan.plan import Plan

# The plan as text and as a tree: an edit in the form changes one key, and leaves comments and order alone.


NEEDS = ("tomlkit", "the studio")


def revision(text: str) -> str:
    """What tells one state of a plan from another."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def tree_of(text: str) -> dict[str, Any]:
    """The tables of a plan; what is no TOML is refused with its line."""
    from sfumato.core.strict_parsing import read_toml

    try:
        tree: dict[str, Any] = read_toml(text)
    except ValueError as error:
        raise PlanError(f"the plan is not valid TOML: {error}") from error
    return tree


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
    table = kit.table()
    for key, item in value.items():
        table[key] = _inline(kit, item)
    return table


def _inline(kit: Any, value: Any) -> Any:
    """Tables inside a section are written in one line, as plans are."""
    if isinstance(value, Mapping):
        inline_table = kit.inline_table()
        for key, item in value.items():
            inline_table[key] = _inline(kit, item)
        return inline_table
    return [_inline(kit, item) for item in value] if isinstance(value, list) else value


# A plan of a project may read what lies in the served folder, and nothing else, wherever links lead.


MAX_NAME = 200
"""How many bytes the name of a file may have: file systems allow 255, and releases add an ending."""
PATHS = ("path", "file", "ledger", "population", "secret", "spec", "key", "log")
"""Keys of a plan whose values are always paths; under other keys a value is one where a file lies there."""


def root_of(folder: Path) -> Path:
    """The served folder of a project's folder."""
    return folder.parents[1].resolve()


def confined_plan(folder: Path, text: str) -> Plan:
    """The plan of a project; refused where it leads out of the served folder."""
    tree = tree_of(text)
    refuse_outside(tree, folder, root_of(folder))
    return Plan.parse(tree, folder=folder)


def described_plan(folder: Path, text: str) -> Plan:
    """The plan; one that is refused for its promise or its algorithm still says what its table and columns are."""
    try:
        return confined_plan(folder, text)
    except PlanError as error:
        tree = {key: value for key, value in tree_of(text).items() if key in ("input", "columns")}
        try:
            refuse_outside(tree, folder, root_of(folder))
            return Plan.parse(tree, folder=folder)
        except PlanError:
            raise error from None


def refuse_outside(tree: Mapping[str, Any], folder: Path, root: Path) -> None:
    """Refuse paths that lead out of the served folder, by dots, by links or from the root of the disk."""
    for where, text in _texts(tree, ()):
        if where[-1] in PATHS and len(os.fsencode(Path(text).name)) > MAX_NAME:
            raise PlanError(f"{'.'.join(where)}: {text[:40]!r}... is too long for the name of a file")
        path = Path(folder, text.replace("\0", ""))
        for place in (path.resolve(), *_files_of(path, where)):
            if not place.is_relative_to(root) and (where[-1] in PATHS or _is_there(place)):
                raise PlanError(
                    f"{'.'.join(where)}: {text[:200]!r} is outside of the folder that the studio serves; move the file "
                    "into it"
                )


def _files_of(path: Path, where: tuple[str, ...]) -> Iterator[Path]:
    """The files that a folder or a pattern stands for, wherever links lead: each is expanded first, then resolved."""
    if where[-1] not in PATHS:
        return
    try:
        if path.is_dir():
            names = glob.iglob(str(Path(glob.escape(str(path)), "**", "*")), recursive=True, include_hidden=True)
        elif glob.has_magic(str(path)):
            names = glob.iglob(str(path), recursive=True, include_hidden=True)
        else:
            return
        for name in names:
            yield Path(name).resolve()
    except OSError:  # a link that leads round in a circle, or a name that is too long: nothing can be read there
        return


def _is_there(place: Path) -> bool:
    try:
        return place.is_file() or (place.is_dir() and len(place.parts) > 2)
    except OSError:
        return False


def _texts(value: Any, where: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text of a tree with the keys that lead to it."""
    if isinstance(value, str) and where:
        yield where, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, (*where, str(key)))
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, where)
