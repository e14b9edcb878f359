"""Trees written in nested braces, ``{Any {East {a} {b}} {c}}``, with the lines on which their nodes stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sfumato.ground.errors import HierarchyError

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
        for found in _TOKEN.finditer(text):
            if token := found.group().strip():
                yield number, token


def _closed(opened: list[_Open]) -> Branch | None:
    """Close the innermost node; the whole tree if nothing is open any more."""
    done = opened.pop()
    made = Branch(label=done.label, children=tuple(done.children), line=done.line)
    if not opened:
        return made
    opened[-1].children.append(made)
    return None


def _name(node: _Open, token: str, source: str, line: int) -> None:
    if node.label or node.children:
        raise refusal(source, line, f"{token!r} must be in braces of its own, or right after an opening brace")
    node.label = token


def _refuse_too_deep(opened: list[_Open], source: str) -> None:
    if len(opened) > _DEEPEST:
        raise refusal(source, opened[-1].line, f"braces are nested deeper than {_DEEPEST}")
