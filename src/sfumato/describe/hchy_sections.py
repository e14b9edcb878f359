"""The two sections of a ``.hchy`` file that are no attributes: virtual identifiers, and sensitive values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.describe.braces import Branch, refusal
from sfumato.ground.errors import nearest

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
    said = _SENSITIVE.fullmatch(node.label)
    if said is None or node.children or not 0 < float(said["confidence"]) <= 1:
        raise refusal(
            source, node.line, f"expected {{confidence attribute:value}} with 0 < confidence <= 1, not {node.label!r}"
        )
    for name in sorted(roots, key=len, reverse=True):
        value = said["rest"].removeprefix(f"{name}:").strip()
        if said["rest"].startswith(f"{name}:") and value in {one.label for one in roots[name].walk()}:
            return SensitiveValue(column=name, value=value, confidence=float(said["confidence"]))
    raise refusal(source, node.line, f"{said['rest']!r} is no attribute:value of the file")
