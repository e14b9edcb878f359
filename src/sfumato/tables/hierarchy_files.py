"""Read hierarchies from files: one line per leaf or a nested tree, and the files of the package."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from sfumato.core.errors import HierarchyError, PlanError, listed, nearest
from sfumato.core.input_files import BROKEN, MOST_DEPTH, MOST_TEXT, PACKED, is_packed, read_whole, unpacked
from sfumato.core.strict_parsing import read_json, read_toml
from sfumato.tables.hierarchy import TOP, Hierarchy, chain
from sfumato.tables.schema import Categories, ObservedDomain
from sfumato.tables.taxonomy import Taxonomy, Trunk, taxonomy

# The hierarchy files that come with the package.


DATA_SETS = ("census", "patients", "world")


def hierarchy_files(data_set: str) -> dict[str, Path]:
    """The hierarchy files of a bundled data set, in the order of their names, under the column's name.

    >>> sorted(hierarchy_files("patients"))
    ['diagnosis', 'job']
    """
    folder = Path(str(files("sfumato.tables").joinpath("hierarchies", data_set)))
    return {file.stem: file for file in sorted(folder.glob("*.csv"))}


def bundled_hierarchy(name: str) -> Path:
    """The file of a bundled hierarchy such as ``census/education``, or a refusal that names those there are."""
    known = {f"{place}/{stem}": path for place in DATA_SETS for stem, path in hierarchy_files(place).items()}
    if name not in known:
        raise PlanError(f"no hierarchy {name!r} is bundled{nearest(name, known)} There are {listed(known, most=20)}")
    return known[name]


@cache
def hierarchy_leaves(name: str) -> frozenset[str]:
    """The values that a bundled hierarchy knows."""
    return frozenset(line.split(";")[0] for line in bundled_hierarchy(name).read_text("utf-8").splitlines())


def fitting_hierarchy(column: str, values: Collection[str]) -> str | None:
    """The bundled hierarchy of a column of this name whose leaves cover all these values, if there is one."""
    for place in DATA_SETS:
        path = hierarchy_files(place).get(column.lower().replace("_", "-"))
        if path is not None and set(values) <= hierarchy_leaves(f"{place}/{path.stem}"):
            return f"{place}/{path.stem}"
    return None


# Hierarchies written down by somebody: one line per leaf, or a nested tree.


Tree = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Each leaf with the labels above it, leaf first.

    Leaves may lie at different depths: the label just below the root is then repeated, so that a shallow leaf is
    generalized as early as a deep one and never becomes ``*`` before it.
    """

    paths: Mapping[str, tuple[str, ...]]
    """For each leaf, the labels above it, without the root."""
    source: str = "hierarchy"
    """What messages call it."""
    faults: tuple[tuple[str, str], ...] = ()
    """Leaves that are written wrongly, and how."""

    def build(self, domain: ObservedDomain) -> Hierarchy:
        """Bind to a column; a fault or a value that no leaf covers is refused with its count."""
        self._refuse_faults(domain)
        self._refuse_uncovered(domain)
        padded = self._all_padded()
        sizes: list[dict[str, float]] = [{} for _ in range(max(map(len, padded.values()), default=0))]
        for labels in padded.values():
            for level, label in enumerate(labels):
                sizes[level][label] = sizes[level].get(label, 0.0) + 1.0
        return chain(
            domain,
            [padded[value] for value in domain.values],
            sizes,
            total=float(len(self.paths)),
            declared=Categories(values=tuple(self.paths)),
            taxonomy=self._taxonomy(domain, height=len(sizes) + 1),
        )

    def _taxonomy(self, domain: ObservedDomain, *, height: int) -> Taxonomy | None:
        """The tree as it was written, where levels had to be filled up; a missing value lies just below the root."""
        if len({len(path) for path in self.paths.values()}) < 2:
            return None
        sizes: dict[Trunk, float] = {}
        for leaf in self.paths:
            trunk = self._trunk(leaf)
            for depth in range(1, len(trunk) + 1):
                sizes[trunk[:depth]] = sizes.get(trunk[:depth], 0.0) + 1.0
        trunks = [self._trunk(value) for value in domain.values]
        absent = [] if domain.missing is None else [(domain.missing,)]
        return taxonomy([*trunks, *absent], sizes, total=float(len(self.paths)), height=height)

    def _trunk(self, leaf: str) -> Trunk:
        return (*reversed(self.paths[leaf]), leaf)

    def declared(self) -> Categories:
        """Every leaf with the labels above it, all equally long; what the publisher said, whatever the table has."""
        return Categories(values=tuple(self.paths), paths=self._all_padded())

    def _all_padded(self) -> dict[str, tuple[str, ...]]:
        depth = max(map(len, self.paths.values()), default=0)
        return {leaf: self._padded(leaf, depth) for leaf in self.paths}

    def _padded(self, leaf: str, depth: int) -> tuple[str, ...]:
        path = self.paths[leaf]
        last = path[-1] if path else leaf
        return path + (last,) * (depth - len(path))

    def _refuse_faults(self, domain: ObservedDomain) -> None:
        rows = dict(zip(domain.values, domain.counts, strict=True))
        for leaf, fault in self.faults:
            raise HierarchyError(f"{self.source} of {domain.column!r}: {leaf!r} ({rows.get(leaf, 0)} rows) {fault}")

    def _refuse_uncovered(self, domain: ObservedDomain) -> None:
        bare = [
            (value, int(count))
            for value, count in zip(domain.values, domain.counts, strict=True)
            if value not in self.paths
        ]
        if bare:
            examples = ", ".join(f"{value!r} ({count} rows)" for value, count in bare[:8])
            more = f" and {len(bare) - 8} more values" if len(bare) > 8 else ""
            raise HierarchyError(
                f"{self.source} of {domain.column!r} has no leaf for {examples}{more}; add a line for each, or declare "
                "them in [input] missing"
            )


def hierarchy_text(path: Path) -> str:
    """The text of a hierarchy file, compressed or not, or a refusal."""
    try:
        data = read_whole(path, most=MOST_TEXT)
        data = unpacked(data, path.suffix) if is_packed(data, path.suffix) else data
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise HierarchyError(f"hierarchy file {path} does not exist") from None
    except OSError as error:
        raise HierarchyError(f"hierarchy file {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise HierarchyError(f"hierarchy file {path} cannot be read as UTF-8 text: {error}") from error
    except BROKEN as error:
        raise HierarchyError(f"hierarchy file {path} is not whole ({error}); compress it again") from None


def read_hierarchy(path: Path) -> Paths:
    """A hierarchy from a file: ``.json`` and ``.toml`` hold a nested tree, anything else one line per leaf."""
    text = hierarchy_text(path)
    path = path.with_suffix("") if path.suffix.lower() in PACKED else path
    if path.suffix == ".json":
        return tree_paths(_parsed(path, text, read_json), source=path.name)
    if path.suffix == ".toml":
        return tree_paths(_parsed(path, text, read_toml), source=path.name)
    return line_paths(text, source=path.name)


def _parsed(path: Path, text: str, parse: Any) -> Tree:
    try:
        tree = parse(text)
    except ValueError as error:
        raise HierarchyError(f"hierarchy file {path} is not valid {path.suffix[1:].upper()}: {error}") from error
    if not isinstance(tree, dict):
        raise HierarchyError(f"hierarchy file {path} must hold one nested table, not a {type(tree).__name__}")
    return tree


def line_paths(text: str, *, source: str) -> Paths:
    r"""One line per leaf, leaf first, separated by ``;`` or ``,``.

    >>> line_paths("a;x;*\nb;x;*\nc;*", source="demo").paths
    {'a': ('x',), 'b': ('x',), 'c': ()}
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise HierarchyError(f"{source} is empty; it needs one line per leaf, leaf first")
    mark = ";" if ";" in lines[0] else ","
    paths: dict[str, tuple[str, ...]] = {}
    faults: list[tuple[str, str]] = []
    for number, cells in _numbered(lines, mark, source):
        leaf, *above = (cell.strip() for cell in cells)
        while above and not above[-1]:
            above.pop()
        if len(above) > MOST_DEPTH:
            raise HierarchyError(f"{source}, line {number}: {len(above):,} levels; at most {MOST_DEPTH} are read")
        path = tuple(above)
        if not leaf or "" in path:
            faults.append((leaf, f"has an empty level on line {number}: {mark.join(cells)!r}"))
        elif paths.setdefault(leaf, path) != path:
            both = f"{mark.join(paths[leaf])!r} and, on line {number}, {mark.join(path)!r}"
            faults.append((leaf, f"has two parents: {both}"))
    return Paths(paths=_without_root(paths), source=source, faults=tuple(faults))


def _numbered(lines: list[str], mark: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line, with its number."""
    number = 0
    try:
        for number, cells in enumerate(csv.reader(lines, delimiter=mark), start=1):
            yield number, cells or [""]
    except csv.Error as error:
        raise HierarchyError(f"{source}, line {number + 1}: cannot be read ({error})") from None


def tree_paths(tree: Tree, *, source: str) -> Paths:
    """A nested tree: tables are inner nodes, lists hold leaves; a single outermost table is the root.

    >>> tree_paths({"Any": {"East": ["a", "b"], "West": ["c"]}}, source="demo").paths
    {'a': ('East',), 'b': ('East',), 'c': ('West',)}
    """
    paths: dict[str, tuple[str, ...]] = {}
    faults: list[tuple[str, str]] = []
    for leaf, path in _leaves(tree, (), source):
        if paths.setdefault(leaf, path) != path:
            both = f"{' / '.join(reversed(paths[leaf]))!r} and {' / '.join(reversed(path))!r}"
            faults.append((leaf, f"has two parents: {both}"))
    if not paths:
        raise HierarchyError(f"{source} holds no leaf")
    return Paths(paths=_without_root(paths), source=source, faults=tuple(faults))


def _leaves(node: Any, above: tuple[str, ...], source: str) -> list[tuple[str, tuple[str, ...]]]:
    if isinstance(node, Mapping):
        if not node:
            raise HierarchyError(f"{source}: the node {' / '.join(reversed(above)) or 'root'!r} is empty")
        return [pair for name, child in node.items() for pair in _leaves(child, (name, *above), source)]
    if isinstance(node, list):
        if not node:
            raise HierarchyError(f"{source}: the node {above[0] if above else 'root'!r} is an empty level")
        return [pair for item in node for pair in _item(item, above, source)]
    raise HierarchyError(f"{source}: {node!r} below {above[0] if above else 'root'!r} is neither a table nor a list")


def _item(item: Any, above: tuple[str, ...], source: str) -> list[tuple[str, tuple[str, ...]]]:
    if isinstance(item, Mapping):
        return _leaves(item, above, source)
    if isinstance(item, bool | list):
        raise HierarchyError(f"{source}: {item!r} below {above[0] if above else 'root'!r} is not a value")
    return [(str(item), above)]


def _without_root(paths: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Take off the label that covers every leaf, whatever it is called."""
    tops = {path[-1] if path else None for path in paths.values()}
    while len(tops) == 1 and None not in tops:
        paths = {leaf: path[:-1] for leaf, path in paths.items()}
        tops = {path[-1] if path else None for path in paths.values()}
    return {leaf: path[:-1] if path and path[-1] == TOP else path for leaf, path in paths.items()}
