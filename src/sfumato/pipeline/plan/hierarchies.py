"""From a plan's hierarchy table to a builder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Protocol

from msgspec import Meta
from msgspec.structs import asdict

from sfumato.core.errors import ParameterError, PlanError, listed, nearest
from sfumato.core.records import Record, decoded, record_of
from sfumato.pipeline.plan.sections import Text, Texts
from sfumato.tables.code_hierarchies import Codes, Common
from sfumato.tables.hchy_files import read_hchy
from sfumato.tables.hierarchy import Hierarchy
from sfumato.tables.hierarchy_builders import (
    Dates,
    Flat,
    Grown,
    Intervals,
    Mask,
    OrderedGroups,
    Quantiles,
    named_groups,
)
from sfumato.tables.hierarchy_files import Paths, bundled_hierarchy, read_hierarchy, tree_paths
from sfumato.tables.map_squares import Squares
from sfumato.tables.schema import Domain, ObservedDomain


class Builder(Protocol):
    """Whatever can bind a hierarchy to a column."""

    def build(self, domain: ObservedDomain) -> Hierarchy:
        """Bind to the values of a column."""

    def declared(self) -> Domain | None:
        """What it says about the values that the column can have, if anything."""


_KINDS: Mapping[str, Any] = {
    "intervals": Intervals,
    "grown": Grown,
    "quantiles": Quantiles,
    "mask": Mask,
    "dates": Dates,
    "groups": OrderedGroups,
    "squares": Squares,
    "codes": Codes,
    "common": Common,
    "flat": Flat,
}
"""The builders by kind: their fields are the keys of the hierarchy table."""
SOURCES = ("file", "tree", "bundled")
"""Hierarchies that are written out: in a file, in the plan, or in this package."""
HIERARCHIES = (*_KINDS, *SOURCES)
"""What the public form of a plan calls the hierarchy of a column."""


HIERARCHY = Annotated[Mapping[str, Any], Meta(extra_json_schema={"$ref": "#/$defs/Hierarchy"})]
"""A hierarchy table in a record: read when the hierarchy is built."""


class FileHierarchy(Record, frozen=True, kw_only=True):
    """A hierarchy in a file."""

    file: Text
    """The file: one line per leaf, a nested tree, or a .hchy file."""
    attribute: Text | None = None
    """Of a .hchy file, the attribute whose hierarchy is read."""


class BundledHierarchy(Record, frozen=True, kw_only=True):
    """A hierarchy that comes with sfumato."""

    bundled: Text
    """Its name, such as census/sex."""


class TreeHierarchy(Record, frozen=True, kw_only=True):
    """A hierarchy in the plan itself: labels with lists of values or tables below them."""

    tree: dict[str, Any]
    """The labels from the top."""


class NamedGroups(Record, frozen=True, kw_only=True):
    """Groups of values by name."""

    groups: dict[str, Texts]
    """The values of every group."""


def hierarchy_record(kind: str) -> type[Record]:
    """The record of the keys that a kind of hierarchy has."""
    return record_of(_KINDS[kind], rename=(("side", "from"),) if kind == "mask" else ())


def builder(tree: Mapping[str, Any], path: str, folder: Path) -> Builder:
    """The builder that a hierarchy table describes.

    >>> builder({"kind": "mask", "from": "right"}, "columns.zip.hierarchy", Path())
    Mask(side='right', mark='*', levels=(), length=None)
    """
    if not isinstance(tree, Mapping):
        raise PlanError(f"{path} must be a table, not {tree!r}")
    if "kind" not in tree:
        return _written_out(tree, path, folder)
    kind, keys = tree["kind"], {key: value for key, value in tree.items() if key != "kind"}
    if not isinstance(kind, str) or kind not in _KINDS:
        hint = nearest(kind, _KINDS) if isinstance(kind, str) else ""
        raise PlanError(f"{path}.kind must be one of {listed(_KINDS)}, not {kind!r}{hint}")
    try:
        if kind == "groups" and "groups" in keys:
            return named_groups(decoded(keys, NamedGroups, path).groups)
        if kind == "intervals":
            keys = _levels_of_cuts(keys)
        built: Builder = _KINDS[kind](**asdict(decoded(keys, hierarchy_record(kind), path)))
    except ParameterError as error:
        raise PlanError(f"{path}: {error}") from error
    return built


def _levels_of_cuts(keys: dict[str, Any]) -> dict[str, Any]:
    """The cuts of one level are those of a list with one level."""
    cuts = keys.get("cuts")
    flat = isinstance(cuts, list | tuple) and cuts and not all(isinstance(level, list | tuple) for level in cuts)
    return {**keys, "cuts": [cuts]} if flat else keys


def _written_out(tree: Mapping[str, Any], path: str, folder: Path) -> Builder:
    """A hierarchy of a file, of the plan itself, or of this package."""
    if len(tree.keys() - {"attribute"}) != 1 or not tree.keys() & set(SOURCES):
        unknown = next((key for key in tree if key not in (*SOURCES, "attribute", "kind")), "")
        hint = f"; {unknown!r} is unknown{nearest(unknown, ('kind', *SOURCES)).rstrip('.')}" if unknown else ""
        raise PlanError(f"{path} needs one of kind ({', '.join(_KINDS)}), file, tree or bundled{hint}")
    if "attribute" in tree and "file" not in tree:
        raise PlanError(f"{path}.attribute goes with file, where the file is a .hchy file")
    if "bundled" in tree:
        return read_hierarchy(bundled_hierarchy(decoded(tree, BundledHierarchy, path).bundled))
    if "tree" in tree:
        return tree_paths(decoded(tree, TreeHierarchy, path).tree, source=f"{path}.tree")
    named = decoded(tree, FileHierarchy, path)
    file = folder / named.file
    if file.suffix.lower() != ".hchy":
        if named.attribute is not None:
            raise PlanError(f"{path}.attribute goes with a .hchy file, not with {file.name!r}")
        return read_hierarchy(file)
    hierarchy_file = read_hchy(file)
    if named.attribute is None:
        known = listed([attribute.name for attribute in hierarchy_file.attributes], most=40)
        raise PlanError(f"{path}.attribute is missing; {file.name} has {known}")
    return hierarchy_file.attribute(named.attribute).hierarchy


def builder_tree(hierarchy_builder: Any) -> dict[str, Any]:
    """The hierarchy table that describes a builder.

    >>> builder_tree(Mask(side="left"))
    {'kind': 'mask', 'from': 'left', 'mark': '*'}
    """
    if isinstance(hierarchy_builder, Paths):
        return {"tree": {"*": _nested(hierarchy_builder.paths)}}
    kind = next((name for name, make in _KINDS.items() if isinstance(hierarchy_builder, make)), None)
    if kind is None:
        raise PlanError(
            f"a hierarchy must be a table or one of {listed(_KINDS)}, not a {type(hierarchy_builder).__name__}"
        )
    options = {field.name: getattr(hierarchy_builder, field.name) for field in fields(hierarchy_builder)}
    named = {"from" if name == "side" else name: _listed(value) for name, value in options.items()}
    return {"kind": kind, **{name: value for name, value in named.items() if value is not None and value != []}}


def _listed(value: Any) -> Any:
    return [_listed(item) for item in value] if isinstance(value, tuple) else value


def _nested(paths: Mapping[str, tuple[str, ...]]) -> list[Any]:
    """A tree of lists and tables from leaves and what lies above them."""
    below: dict[str, dict[str, tuple[str, ...]]] = {}
    leaves: list[Any] = []
    for leaf, path in paths.items():
        if path:
            below.setdefault(path[-1], {})[leaf] = path[:-1]
        else:
            leaves.append(leaf)
    return [*({name: _nested(inner)} for name, inner in below.items()), *leaves]
