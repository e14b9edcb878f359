"""A tree as static SVG: a line for every node, indented below its parent, so that labels have room."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.mine.tree_document import TreeDocument
from sfumato.mine.tree_layout import tree_layout
from sfumato.mine.tree_routes import subtree_records
from sfumato.report.base.figures import count
from sfumato.report.base.language import said
from sfumato.report.base.picture import Picture
from sfumato.report.base.shapes import AFTER, BEFORE, INK, MUTED, SIZE
from sfumato.report.base.svg import WIDE, blocks, drawing, fitted, line, words

MOST = 60
"""So many lines are drawn at most: of larger trees the upper levels."""
_ROW, _TOP, _BAR, _END, _STEP = 21, 8, 64, 250, 22
"""The height of a line, the room above, the width of a bar, the room for what leaves say, and how far lines are
indented."""


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a node is drawn."""

    x: float
    y: float


def tree_picture(tree: TreeDocument) -> Picture:
    """The tree, or its upper levels; its words tell every line."""
    shown = _shown(tree)
    layout, held = tree_layout(tree), subtree_records(tree)
    depth = max((int(tree.depth[node]) for node in shown), default=0)
    step = min(_STEP, (WIDE - _END - _BAR - 160) / max(depth, 1))
    spots = {node: _Spot(6 + step * int(tree.depth[node]), _TOP + _ROW * (row + 0.5)) for row, node in enumerate(shown)}
    told, parts = list[str](), list[str]()
    for node, spot in spots.items():
        above, label = int(tree.parent[node]), layout.edges[node] or said("all records")
        if above >= 0:
            parts += _edge(spots[above], spot)
        inner = any(kid in spots for kid in tree.children[node])
        room = WIDE - spot.x - 20 if inner else WIDE - _END - _BAR - spot.x + 30
        parts.append(words(fitted(label, room), spot.x + 6, spot.y + 0.34 * SIZE, tone=MUTED if inner else INK))
        if not inner:
            parts += _end(tree, node, spot, layout.nodes[node], int(held[node]))
            told.append(f"{label}: {_said(tree, node, layout.nodes[node])}")
    more = len(tree.leaves) - sum(1 for node in spots if tree.split[node] < 0)
    caption = said("{n} leaves", n=count(len(tree.leaves)))
    caption += said("; {n} lie deeper than is drawn", n=count(more)) if more else ""
    svg = drawing(parts, WIDE, 2 * _TOP + _ROW * len(spots))
    return Picture(svg=svg, words="; ".join(told)[:4000], caption=caption)


def _shown(tree: TreeDocument) -> list[int]:
    """The nodes that are drawn, each after its parent: all levels that fit."""
    best = [0]
    for depth in range(1, int(tree.depth.max(initial=0)) + 1):
        found, waiting = list[int](), [0]
        while waiting:
            node = waiting.pop()
            found.append(node)
            if tree.depth[node] < depth:
                waiting += reversed(tree.children[node])
        if len(found) > MOST:
            break
        best = found
    return best


def _edge(above: _Spot, spot: _Spot) -> list[str]:
    return [
        line(above.x, above.y + 6, above.x, spot.y, "track"),
        line(above.x, spot.y, spot.x + 3, spot.y, "track"),
    ]


def _said(tree: TreeDocument, node: int, text: str) -> str:
    return text if tree.split[node] < 0 else said("{text}, and more below", text=text)


def _end(tree: TreeDocument, node: int, spot: _Spot, text: str, size: int) -> list[str]:
    """A leaf, or a node with more below: what it says, and a bar for the share of hits."""
    middle = spot.y + 0.34 * SIZE
    parts = [words(fitted(_said(tree, node, text), _END - 40), WIDE - _BAR - 8, middle, anchor="end", tone=INK)]
    if size and tree.split[node] < 0:
        share = int(tree.hit[node]) / size
        parts.append(blocks([(WIDE - _BAR, spot.y - 5, _BAR, 10)], BEFORE))
        parts.append(blocks([(WIDE - _BAR, spot.y - 3, _BAR * share, 6)], AFTER))
    return parts
