"""Hierarchy files of the McGill top-down specialization programs (``.hchy``): every attribute of a table in one file.

An attribute is a line ``name:discrete``, ``name:continuous`` or ``name:set-valued`` and a tree in braces below it. The
trees of numbers are intervals ``low-high``; ``{ignored}`` in place of intervals leaves them to an algorithm. Below
``vid:`` stand quasi-identifiers with their k, below ``sensitive:`` values with their confidence. Comments begin with
``|``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from sfumato.describe.braces import Branch, Line, braces, refusal
from sfumato.describe.hchy_sections import SensitiveValue, VirtualIdentifier, sensitive_of, vids_of
from sfumato.describe.nested import nested_intervals
from sfumato.describe.paths import Paths, hierarchy_text, tree_paths
from sfumato.describe.ranges import Grown, Intervals
from sfumato.ground.errors import HierarchyError, listed, nearest

AttributeKind = Literal["discrete", "continuous", "set-valued"]
Masking = Literal["suppression", "generalization"]

_ATTRIBUTE = re.compile(
    r"(?P<name>[^{}]+?)\s*:\s*(?P<kind>discrete|continuous|set-valued)(?:\s*:\s*(?P<masking>suppression|generalization))?",
    re.IGNORECASE,
)
_SECTION = re.compile(r"(vid|sensitive)\s*:", re.IGNORECASE)
_EXPECTED = (
    "name:discrete, name:continuous or name:set-valued (with :suppression or :generalization), vid: or sensitive:"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """One attribute with its tree."""

    name: str
    """What it is called."""
    kind: AttributeKind
    """How its values are read."""
    masking: Masking | None
    """What the file says is done to its values, if anything."""
    root: Branch
    """The tree as it is written."""
    hierarchy: Paths | Intervals | Grown
    """What binds it to a column: named values, nested intervals, or only the limits of a range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchyFile:
    """All that such a file says."""

    source: str
    """What messages call it."""
    attributes: tuple[Attribute, ...]
    """In the order of the file."""
    vids: tuple[VirtualIdentifier, ...] = ()
    """The virtual identifiers, if the file names any."""
    sensitive: tuple[SensitiveValue, ...] = ()
    """The sensitive values, if the file names any."""

    def attribute(self, name: str) -> Attribute:
        """The attribute of a name; an unknown one is refused with those that are there."""
        for found in self.attributes:
            if found.name == name:
                return found
        known = [one.name for one in self.attributes]
        hint = nearest(name, known)
        raise HierarchyError(f"{self.source} has no attribute {name!r}{hint} It has {listed(known, most=40)}")


def read_hchy(path: Path) -> HierarchyFile:
    """The hierarchies of a ``.hchy`` file."""
    return parse_hchy(hierarchy_text(path), source=path.name)


def parse_hchy(text: str, *, source: str) -> HierarchyFile:
    r"""The hierarchies of a text; whatever is malformed is refused with its line.

    >>> text = "age:continuous  | in years\n{0-90 {0-18} {18-90}}\nvid:\n{{{5} {age}}}"
    >>> found = parse_hchy(text, source="demo.hchy")
    >>> found.attribute("age").hierarchy.cuts, found.vids[0].k
    (((18.0,),), 5)
    """
    attributes: dict[str, Attribute] = {}
    sections: dict[str, Branch] = {}
    for line, header, tree in _parts(text, source):
        if section := _SECTION.fullmatch(header):
            name = section[1].lower()
            if name in sections:
                raise refusal(source, line, f"{header!r} is said a second time; put all of it into one tree")
            sections[name] = tree
        else:
            made = _attribute(header, tree, source, line)
            if made.name in attributes:
                raise refusal(source, line, f"the attribute {made.name!r} is there a second time")
            attributes[made.name] = made
    if not attributes:
        raise HierarchyError(f"{source} holds no attribute; it needs lines such as 'age:continuous' with a tree below")
    roots = {name: one.root for name, one in attributes.items()}
    return HierarchyFile(
        source=source,
        attributes=tuple(attributes.values()),
        vids=vids_of(sections.get("vid"), roots, source=source),
        sensitive=sensitive_of(sections.get("sensitive"), roots, source=source),
    )


def _parts(text: str, source: str) -> Iterator[tuple[int, str, Branch]]:
    """Each header with its line and the tree below it."""
    header: Line | None = None
    below: list[Line] = []
    for number, written in enumerate(text.splitlines(), start=1):
        said = written.partition("|")[0].strip()
        if _is_header(said):
            if header is not None:
                yield _part(header, below, source)
            header, below = (number, said), []
        elif said and header is None:
            raise refusal(source, number, f"expected {_EXPECTED}, not {said[:40]!r}")
        elif said:
            below.append((number, said))
    if header is not None:
        yield _part(header, below, source)


def _is_header(said: str) -> bool:
    return bool(_ATTRIBUTE.fullmatch(said) or _SECTION.fullmatch(said))


def _part(header: Line, below: list[Line], source: str) -> tuple[int, str, Branch]:
    number, said = header
    if not below:
        raise refusal(source, number, f"{said!r} has no tree in braces below it")
    first = below[0]
    if not first[1].startswith("{"):
        raise refusal(source, first[0], f"expected a tree in braces for {said!r}, not {first[1][:40]!r}")
    stray = next(((line, text) for line, text in below if not set(text) & set("{}") and ":" in text), None)
    if stray is not None:
        raise refusal(source, stray[0], f"expected {_EXPECTED}, not {stray[1][:40]!r}")
    return number, said, braces(below, source=source)


def _attribute(header: str, root: Branch, source: str, line: int) -> Attribute:
    said = _ATTRIBUTE.fullmatch(header)
    if said is None:
        raise refusal(source, line, f"expected {_EXPECTED}, not {header[:40]!r}")
    kind = cast("AttributeKind", said["kind"].lower())
    masking = cast("Masking | None", said["masking"] and said["masking"].lower())
    made = nested_intervals(root, source=source) if kind == "continuous" else _named(root, source)
    return Attribute(name=said["name"], kind=kind, masking=masking, root=root, hierarchy=made)


def _named(root: Branch, source: str) -> Paths:
    """The paths of a tree of names; a node without a name, or a value that is there twice, is refused."""
    seen: dict[str, int] = {}
    for node in root.walk():
        if not node.label:
            raise refusal(source, node.line, "a node has no name; write it right after its opening brace")
        if not node.children and node.label in seen:
            first = seen[node.label]
            raise refusal(source, node.line, f"the value {node.label!r} is there twice (first on line {first})")
        if not node.children:
            seen[node.label] = node.line
    if not root.children:
        raise refusal(source, root.line, f"nothing lies below {root.label!r}; a tree needs values below its root")
    return tree_paths({root.label: _listed(root)}, source=source)


def _listed(node: Branch) -> list[object]:
    """What lies below a node, as nested lists and tables."""
    return [{child.label: _listed(child)} if child.children else child.label for child in node.children]
