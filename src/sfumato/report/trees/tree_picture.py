"""A tree as static SVG: from the root at the left to a line for each leaf."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.mine.tree_document import TreeDocument
from sfumato.mine.tree_layout import tree_layout
from sfumato.mine.tree_routes import subtree_records
from sfumato.report.base.figures import count
from sfumato.report.base.picture import Picture
from sfumato.report.base.shapes import AFTER, BEFORE, INK, MUTED, SIZE
from sfumato.report.base.svg import WIDE, blocks, drawing, fitted, line, words

MOST = 48
"""So many lines are drawn at most: of larger trees the upper levels."""
_ROW, _TOP, _BAR, _END = 21, 8, 64, 250
"""The height of a line, the room above, the width of a bar, and the room for what leaves say."""


@dataclass(slots=True)
class _Spot:
    """Where a node is drawn."""

    x: float
    y: float


def tree_picture(tree: TreeDocument) -> Picture:
    """The tree, or its upper levels; its words tell every line."""
    shown, depth = _shown(tree)
    layout, held = tree_layout(tree), subtree_records(tree)
    step = min(150.0, (WIDE - _END - _BAR) / max(depth, 1) - 4)
    spots, told, parts, row = dict[int, _Spot](), list[str](), list[str](), 0
    for node in shown:
        ends = not any(kid in shown for kid in tree.children[node])
        spots[node] = _Spot(x=6 + step * int(tree.depth[node]), y=_TOP + _ROW * (row + 0.5))
        row += ends
    for node in reversed(list(shown)):
        below = [kid for kid in tree.children[node] if kid in shown]
        if below:
            spots[node].y = (spots[below[0]].y + spots[below[-1]].y) / 2
    for node in shown:
        spot, above = spots[node], int(tree.parent[node])
        if above >= 0:
            parts += _edge(spots[above], spot)
        below = [kid for kid in tree.children[node] if kid in shown]
        if below:
            parts.append(
                words(fitted(layout.edges[node] or "all records", step - 10), spot.x + 5, spot.y - 4, tone=MUTED)
            )
            continue
        parts += _end(tree, node, spot, layout.edges[node], layout.nodes[node], int(held[node]), step)
        told.append(f"{layout.edges[node] or 'all records'}: {_said(tree, node, layout.nodes[node])}")
    more = len(tree.leaves) - sum(1 for node in shown if tree.split[node] < 0)
    caption = f"{count(len(tree.leaves))} leaves" + (f"; {count(more)} lie deeper than is drawn" if more else "")
    svg = drawing(parts, WIDE, 2 * _TOP + _ROW * max(row, 1))
    return Picture(svg=svg, words="; ".join(told)[:4000], caption=caption)


def _shown(tree: TreeDocument) -> tuple[dict[int, None], int]:
    """The nodes that are drawn, in the order of their lines, and how deep they go."""
    best: tuple[dict[int, None], int] = ({0: None}, 0)
    for depth in range(1, int(tree.depth.max(initial=0)) + 1):
        found, waiting, ends = dict[int, None](), [0], 0
        while waiting:
            node = waiting.pop()
            found[node] = None
            if tree.depth[node] < depth and tree.children[node]:
                waiting += reversed(tree.children[node])
            else:
                ends += 1
        if ends > MOST:
            break
        best = (found, depth)
    return best


def _edge(above: _Spot, spot: _Spot) -> list[str]:
    return [line(above.x, above.y, above.x, spot.y, "track"), line(above.x, spot.y, spot.x, spot.y, "track")]


def _said(tree: TreeDocument, node: int, text: str) -> str:
    return text if tree.split[node] < 0 else f"{text}, and more below"


def _end(tree: TreeDocument, node: int, spot: _Spot, edge: str, text: str, size: int, step: float) -> list[str]:
    """A leaf, or a node with more below: its label, what it says, and a bar for the share of hits."""
    middle = spot.y + 0.34 * SIZE
    room = WIDE - _END - _BAR - spot.x + 40
    parts = [words(fitted(edge or "all records", max(room, step)), spot.x + 5, middle, tone=INK)]
    parts.append(words(fitted(_said(tree, node, text), _END - 50), WIDE - _BAR - 8, middle, anchor="end", tone=INK))
    if size and tree.split[node] < 0:
        share = int(tree.hit[node]) / size
        parts.append(blocks([(WIDE - _BAR, spot.y - 5, _BAR, 10)], BEFORE))
        parts.append(blocks([(WIDE - _BAR, spot.y - 3, _BAR * share, 6)], AFTER))
    return parts
