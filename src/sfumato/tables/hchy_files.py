"""Read the hierarchy files (.hchy) of the McGill top-down specialization programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Literal, cast

from sfumato.core.errors import HierarchyError, listed, nearest
from sfumato.tables.hierarchy_builders import Grown, Intervals
from sfumato.tables.hierarchy_files import Paths, hierarchy_text, tree_paths
from sfumato.tables.labels import Span

# Trees written in nested braces, ``{Any {East {a} {b}} {c}}``, with the lines on which their nodes stand.


Line = tuple[int, str]
"""The number of a line, and what it says without its comment."""

_TOKEN = re.compile(r"[{}]|[^{}]+")
_DEEPEST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A node and what lies below it."""

    label: str
    """What stands after its opening brace; empty where nothing does."""
    children: tuple[Branch, ...]
    """The nodes below, in order."""
    line: int
    """The line of its opening brace."""

    def walk(self) -> Iterator[Branch]:
        """The node and every node below it, each before those below it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


@dataclass(slots=True)
class _Open:
    """A node whose closing brace is still to come."""

    line: int
    label: str = ""
    children: list[Branch] = field(default_factory=list)


def refusal(source: str, line: int, what: str) -> HierarchyError:
    """The error for something on a line.

    >>> str(refusal("adult.hchy", 7, "no tree"))
    'adult.hchy, line 7: no tree'
    """
    return HierarchyError(f"{source}, line {line}: {what}")


def braces(lines: Iterable[Line], *, source: str) -> Branch:
    """The one tree that stands on some lines; what is no tree is refused with its line.

    >>> found = braces([(1, "{Any {x y} {z}}")], source="demo")
    >>> found.label, [node.label for node in found.children]
    ('Any', ['x y', 'z'])
    """
    opened: list[_Open] = []
    whole: Branch | None = None
    last = 0
    for last, token in _tokens(lines):
        if whole is not None:
            raise refusal(source, last, f"{token!r} follows the end of the tree")
        if token == "{":
            opened.append(_Open(line=last))
            _refuse_too_deep(opened, source)
        elif not opened:
            raise refusal(source, last, f"a tree begins with '{{', not with {token!r}")
        elif token == "}":
            whole = _closed(opened)
        else:
            _name(opened[-1], token, source, last)
    if whole is None:
        start = opened[0].line if opened else last
        raise refusal(source, start, f"{len(opened)} of the braces opened from here on are not closed by line {last}")
    return whole


def _tokens(lines: Iterable[Line]) -> Iterator[Line]:
    for number, text in lines:
        for match in _TOKEN.finditer(text):
            if token := match.group().strip():
                yield number, token


def _closed(opened: list[_Open]) -> Branch | None:
    """Close the innermost node; the whole tree if nothing is open any more."""
    done = opened.pop()
    branch = Branch(label=done.label, children=tuple(done.children), line=done.line)
    if not opened:
        return branch
    opened[-1].children.append(branch)
    return None


def _name(node: _Open, token: str, source: str, line: int) -> None:
    if node.label or node.children:
        raise refusal(source, line, f"{token!r} must be in braces of its own, or right after an opening brace")
    node.label = token


def _refuse_too_deep(opened: list[_Open], source: str) -> None:
    if len(opened) > _DEEPEST:
        raise refusal(source, opened[-1].line, f"braces are nested deeper than {_DEEPEST}")


# Trees of intervals, as levels: where one branch is deeper than another, the shallow interval stays as it is.


_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)"
_SPAN = re.compile(rf"({_NUMBER})\s*-\s*({_NUMBER})")


def nested_intervals(root: Branch, *, source: str) -> Intervals | Grown:
    """The levels of a tree whose nodes are ``low-high``; without any node below the root, only the range.

    Intervals are half-open, the last one is closed; those below a node must fill it without gap or overlap.

    >>> from sfumato.tables.hchy_files import braces
    >>> nested_intervals(braces([(1, "{0-9 {0-4 {0-2} {2-4}} {4-9}}")], source="demo"), source="demo").cuts
    ((2.0, 4.0), (4.0,))
    """
    low, high = _span(root, source)
    levels: list[tuple[float, ...]] = []
    current = [root]
    while any(_below(node) for node in current):
        for node in current:
            _refuse_gaps(node, source)
        current = [part for node in current for part in (_below(node) or (node,))]
        cuts = tuple(_span(node, source)[0] for node in current[1:])
        if cuts and cuts not in levels:
            levels.append(cuts)
    return Intervals(cuts=tuple(reversed(levels)), low=low, high=high) if levels else Grown(low=low, high=high)


def _below(node: Branch) -> tuple[Branch, ...]:
    """The intervals below a node; ``{ignored}`` stands for none."""
    if len(node.children) == 1 and node.children[0].label == "ignored" and not node.children[0].children:
        return ()
    return node.children


def _refuse_gaps(node: Branch, source: str) -> None:
    if not (parts := _below(node)):
        return
    whole, spans = _span(node, source), [_span(part, source) for part in parts]
    for part, ((_, end), (start, _)) in zip(parts[1:], pairwise(spans), strict=True):
        if start != end:
            raise refusal(source, part.line, f"{part.label!r} must begin where the interval before it ends, at {end:g}")
    if (spans[0][0], spans[-1][1]) != whole:
        raise refusal(
            source, node.line, f"the intervals below {node.label!r} run from {spans[0][0]:g} to {spans[-1][1]:g}"
        )


def _span(node: Branch, source: str) -> Span:
    match = _SPAN.fullmatch(node.label)
    low, high = (float(match[1]), float(match[2])) if match else (0.0, 0.0)
    if not (low < high and isfinite(low) and isfinite(high)):
        raise refusal(source, node.line, f"an interval is low-high with low below high, not {node.label!r}")
    return low, high


# The two sections of a ``.hchy`` file that are no attributes: virtual identifiers, and sensitive values.


_SENSITIVE = re.compile(r"(?P<confidence>\d*\.?\d+)\s+(?P<rest>.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualIdentifier:
    """Quasi-identifiers that together must be shared by enough rows."""

    k: int
    """By how many rows."""
    columns: tuple[str, ...]
    """The attributes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveValue:
    """A value that must not be inferred with more than some confidence."""

    column: str
    """The attribute."""
    value: str
    """One of its labels."""
    confidence: float
    """The most that is allowed, above 0 and at most 1."""


def vids_of(tree: Branch | None, roots: Mapping[str, Branch], *, source: str) -> tuple[VirtualIdentifier, ...]:
    """What ``{{{k} {attribute} ...} ...}`` says, given the trees of all attributes."""
    return tuple(_vid(node, roots, source) for node in _bare(tree, source))


def sensitive_of(tree: Branch | None, roots: Mapping[str, Branch], *, source: str) -> tuple[SensitiveValue, ...]:
    """What ``{{confidence attribute:value} ...}`` says, given the trees of all attributes."""
    return tuple(_sensitive(node, roots, source) for node in _bare(tree, source))


def _bare(tree: Branch | None, source: str) -> tuple[Branch, ...]:
    """What lies in the outermost braces of a section."""
    if tree is None:
        return ()
    if tree.label or not tree.children:
        raise refusal(source, tree.line, f"expected braces in braces, not {tree.label or 'nothing'!r}")
    return tree.children


def _vid(node: Branch, roots: Mapping[str, Branch], source: str) -> VirtualIdentifier:
    words = [child.label for child in node.children]
    if node.label or len(words) < 2 or any(child.children for child in node.children):
        raise refusal(source, node.line, "a vid is {{k} {attribute} {attribute} ...} with at least one attribute")
    if not re.fullmatch(r"0*[1-9][0-9]*", words[0]):
        raise refusal(source, node.children[0].line, f"the k of a vid is a whole number above 0, not {words[0]!r}")
    for child in node.children[1:]:
        if child.label not in roots:
            hint = nearest(child.label, roots)
            raise refusal(source, child.line, f"the vid names {child.label!r}, which is no attribute of the file{hint}")
        if words.count(child.label) > 1:
            raise refusal(source, child.line, f"the vid names {child.label!r} twice")
    return VirtualIdentifier(k=int(words[0]), columns=tuple(words[1:]))


def _sensitive(node: Branch, roots: Mapping[str, Branch], source: str) -> SensitiveValue:
    match = _SENSITIVE.fullmatch(node.label)
    if match is None or node.children or not 0 < float(match["confidence"]) <= 1:
        raise refusal(
            source, node.line, f"expected {{confidence attribute:value}} with 0 < confidence <= 1, not {node.label!r}"
        )
    for name in sorted(roots, key=len, reverse=True):
        value = match["rest"].removeprefix(f"{name}:").strip()
        if match["rest"].startswith(f"{name}:") and value in {branch.label for branch in roots[name].walk()}:
            return SensitiveValue(column=name, value=value, confidence=float(match["confidence"]))
    raise refusal(source, node.line, f"{match['rest']!r} is no attribute:value of the file")


# Hierarchy files of the McGill top-down specialization programs (``.hchy``): every attribute of a table in one file.
#
# An attribute is a line ``name:discrete``, ``name:continuous`` or ``name:set-valued`` and a tree in braces below it.
# The trees of numbers are intervals ``low-high``; ``{ignored}`` in place of intervals leaves them to an algorithm.
# Below ``vid:`` stand quasi-identifiers with their k, below ``sensitive:`` values with their confidence. Comments
# begin with ``|``.


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
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        known = [attribute.name for attribute in self.attributes]
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
            attribute = _attribute(header, tree, source, line)
            if attribute.name in attributes:
                raise refusal(source, line, f"the attribute {attribute.name!r} is there a second time")
            attributes[attribute.name] = attribute
    if not attributes:
        raise HierarchyError(f"{source} holds no attribute; it needs lines such as 'age:continuous' with a tree below")
    roots = {name: attribute.root for name, attribute in attributes.items()}
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
        content = written.partition("|")[0].strip()
        if _is_header(content):
            if header is not None:
                yield _part(header, below, source)
            header, below = (number, content), []
        elif content and header is None:
            raise refusal(source, number, f"expected {_EXPECTED}, not {content[:40]!r}")
        elif content:
            below.append((number, content))
    if header is not None:
        yield _part(header, below, source)


def _is_header(content: str) -> bool:
    return bool(_ATTRIBUTE.fullmatch(content) or _SECTION.fullmatch(content))


def _part(header: Line, below: list[Line], source: str) -> tuple[int, str, Branch]:
    number, title = header
    if not below:
        raise refusal(source, number, f"{title!r} has no tree in braces below it")
    first = below[0]
    if not first[1].startswith("{"):
        raise refusal(source, first[0], f"expected a tree in braces for {title!r}, not {first[1][:40]!r}")
    stray = next(((line, text) for line, text in below if not set(text) & set("{}") and ":" in text), None)
    if stray is not None:
        raise refusal(source, stray[0], f"expected {_EXPECTED}, not {stray[1][:40]!r}")
    return number, title, braces(below, source=source)


def _attribute(header: str, root: Branch, source: str, line: int) -> Attribute:
    match = _ATTRIBUTE.fullmatch(header)
    if match is None:
        raise refusal(source, line, f"expected {_EXPECTED}, not {header[:40]!r}")
    kind = cast("AttributeKind", match["kind"].lower())
    masking = cast("Masking | None", match["masking"] and match["masking"].lower())
    hierarchy = nested_intervals(root, source=source) if kind == "continuous" else _named(root, source)
    return Attribute(name=match["name"], kind=kind, masking=masking, root=root, hierarchy=hierarchy)


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
