"""From a plan's hierarchy table to a builder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol, cast

from sfumato.core.errors import ParameterError, PlanError, listed
from sfumato.pipeline.plan.keys import Keys
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


def builder(tree: Mapping[str, Any], path: str, folder: Path) -> Builder:
    """The builder that a hierarchy table describes.

    >>> builder({"kind": "mask", "from": "right"}, "columns.zip.hierarchy", Path())
    Mask(side='right', mark='*', levels=(), length=None)
    """
    keys = Keys.of(tree, path)
    if "kind" not in tree:
        keys.only("file", "attribute", "tree", "bundled")
        if len(tree.keys() - {"attribute"}) != 1:
            raise PlanError(f"{path} needs one of kind ({', '.join(_KINDS)}), file, tree or bundled")
        if "attribute" in tree and "file" not in tree:
            raise PlanError(f"{keys.at('attribute')} goes with file, where the file is a .hchy file")
        if "bundled" in tree:
            return read_hierarchy(bundled_hierarchy(keys.required_text("bundled")))
        if "file" in tree:
            return _of_file(keys, folder)
        return tree_paths(Keys.of(tree["tree"], keys.at("tree")).table, source=keys.at("tree"))
    kind = keys.one_of("kind", tuple(_KINDS), "flat")
    try:
        return _KINDS[kind](keys)
    except ParameterError as error:
        raise PlanError(f"{path}: {error}") from error


def _of_file(keys: Keys, folder: Path) -> Builder:
    """The hierarchy of a file; one that holds many attributes is asked for one of them."""
    path = folder / keys.required_text("file")
    if path.suffix.lower() != ".hchy":
        if "attribute" in keys.table:
            raise PlanError(f"{keys.at('attribute')} goes with a .hchy file, not with {path.name!r}")
        return read_hierarchy(path)
    hierarchy_file = read_hchy(path)
    if "attribute" not in keys.table:
        known = listed([attribute.name for attribute in hierarchy_file.attributes], most=40)
        raise PlanError(f"{keys.at('attribute')} is missing; {path.name} has {known}")
    return hierarchy_file.attribute(keys.required_text("attribute")).hierarchy


def _intervals(keys: Keys) -> Builder:
    keys.only("kind", "widths", "cuts", "low", "high", "outside")
    cuts = keys.table.get("cuts", ())
    nested = bool(cuts) and all(isinstance(level, list | tuple) for level in cuts)
    levels = [Keys(table={"cuts": level}, path=keys.path).numbers("cuts") for level in (cuts if nested else [cuts])]
    return Intervals(
        widths=keys.numbers("widths"),
        cuts=tuple(levels) if cuts else (),
        low=keys.number("low"),
        high=keys.number("high"),
        outside=cast("Any", keys.one_of("outside", ("refuse", "clamp"), "refuse")),
    )


def _grown(keys: Keys) -> Builder:
    keys.only("kind", "low", "high", "grid")
    return Grown(low=keys.number("low"), high=keys.number("high"), grid=keys.number("grid", 1.0) or 0.0)


def _quantiles(keys: Keys) -> Builder:
    keys.only("kind", "groups")
    return Quantiles(groups=cast("Any", keys.numbers("groups"))) if "groups" in keys.table else Quantiles()


def _mask(keys: Keys) -> Builder:
    keys.only("kind", "from", "mark", "levels", "length")
    return Mask(
        side=cast("Any", keys.one_of("from", ("right", "left"), "right")),
        mark=keys.text("mark", "*") or "*",
        levels=cast("Any", keys.numbers("levels")),
        length=keys.whole("length"),
    )


def _dates(keys: Keys) -> Builder:
    keys.only("kind", "levels")
    return Dates(levels=keys.texts("levels")) if "levels" in keys.table else Dates()


def _groups(keys: Keys) -> Builder:
    keys.only("kind", "order", "sizes", "groups")
    if "groups" in keys.table:
        groups = Keys.of(keys.table["groups"], keys.at("groups"))
        return named_groups({name: groups.texts(name) for name in groups.table})
    return OrderedGroups(order=keys.texts("order"), sizes=cast("Any", keys.numbers("sizes")))


def _squares(keys: Keys) -> Builder:
    keys.only("kind", "widths")
    return Squares(widths=cast("Any", keys.numbers("widths")))


def _codes(keys: Keys) -> Builder:
    keys.only("kind", "system")
    return Codes(system=keys.required_text("system"))


def _common(keys: Keys) -> Builder:
    keys.only("kind", "keep")
    levels = keys.table.get("keep", ())
    if not isinstance(levels, list | tuple):
        raise PlanError(f'{keys.at("keep")} must be a list of lists of values such as [["a", "b"], ["a"]]')
    return Common(keep=tuple(Keys(table={"keep": level}, path=keys.path).texts("keep") for level in levels))


def _flat(keys: Keys) -> Builder:
    keys.only("kind")
    return Flat()


_KINDS = {
    "intervals": _intervals,
    "grown": _grown,
    "quantiles": _quantiles,
    "mask": _mask,
    "dates": _dates,
    "groups": _groups,
    "squares": _squares,
    "codes": _codes,
    "common": _common,
    "flat": _flat,
}
HIERARCHIES = (*_KINDS, "file", "tree", "bundled")
"""What the public form of a plan calls the hierarchy of a column."""


def builder_tree(hierarchy_builder: Any) -> dict[str, Any]:
    """The hierarchy table that describes a builder.

    >>> builder_tree(Mask(side="left"))
    {'kind': 'mask', 'from': 'left', 'mark': '*'}
    """
    if isinstance(hierarchy_builder, Paths):
        return {"tree": {"*": _nested(hierarchy_builder.paths)}}
    kind = next((name for name, make in _RECORDS.items() if isinstance(hierarchy_builder, make)), None)
    if kind is None:
        raise PlanError(
            f"a hierarchy must be a table or one of {listed(_RECORDS)}, not a {type(hierarchy_builder).__name__}"
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


_RECORDS: Mapping[str, type[Any]] = {
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
