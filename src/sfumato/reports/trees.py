"""The report of published trees: facts, layout, picture and page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.finding import Finding
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.mining.attributes import label_text
from sfumato.mining.prediction import subtree_records
from sfumato.mining.tree_document import TreeDocument
from sfumato.mining.tree_pruning import propagated
from sfumato.reports.language import count, translated
from sfumato.reports.pages import audit_shown, page
from sfumato.reports.svg import AFTER, BEFORE, INK, MUTED, SIZE, WIDE, Picture, blocks, drawing, fitted, line, words

# Published trees, ready to be shown.


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimShown:
    """One claim in words."""

    title: str
    """The model with its parameters."""
    means: str
    """What it says."""
    reached: str
    """How far it is met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeShown:
    """One step of the pruning; for the steward alone."""

    tree: int
    """Of which tree."""
    parts: tuple[str, str]
    """The two labels."""
    before: tuple[str, str]
    """What both said."""
    after: str
    """What the new leaf says."""
    why: str
    """By which rule the sibling was chosen."""
    pruned: int
    """How many leaves lay below the two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeFacts:
    """One release of trees."""

    made: str
    """The day it was made."""
    version: str
    """The version of sfumato."""
    marks: tuple[str, ...]
    """Warnings that belong on the first screen."""
    target: str
    """The class column."""
    trees: tuple[TreeDocument, ...]
    """The trees that are drawn."""
    rules: tuple[tuple[str, ...], ...]
    """Of rules: what each document says, line by line."""
    records: int
    """How many records a tree holds."""
    leaves: int
    """Of all trees."""
    claims: tuple[ClaimShown, ...]
    """What is claimed."""
    attributes: tuple[tuple[str, str, bool], ...]
    """What trees may ask for: name, domain, and whether it was declared."""
    told: str
    """counts or hits."""
    algorithm: str
    """Which algorithm."""
    why: str
    """Why that one."""
    noise: tuple[str, float] | None
    """The law and scale of the noise of a count, where there is any."""
    paid: bool
    """Whether a ledger paid for it."""
    findings: tuple[Finding, ...]
    """What attacks found."""
    skipped: Mapping[str, str]
    """The attacks that were not made."""
    inside: bool = False
    """Whether the page is the steward's own."""
    merges: tuple[MergeShown, ...] = ()
    """Inside: what was pruned."""
    pruned: tuple[tuple[int, int, int], ...] = ()
    """Inside: for each tree the leaves that were learnt, those that failed, and those that are left."""
    dropped: tuple[int, int, int] = (0, 0, 0)
    """Inside: rows left out, trees of which nothing was left, and trees that would have broken the claim together."""


# Where the nodes of a tree stand in a picture, and what is written on them; others draw it.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TreeLayout(Brief):
    """A place and words for every node."""

    across: NDArray[np.float64]
    """Leaves stand at 0, 1, 2 and so on from left to right, a node above stands over the middle of its children."""
    down: NDArray[np.int64]
    """How many edges lead to the node."""
    edges: tuple[str, ...]
    """What is written on the edge to each node; nothing at the root."""
    nodes: tuple[str, ...]
    """Class, hit and miss of each node; of inner nodes as they follow from the leaves."""
    width: int
    """How many leaves there are."""


def tree_layout(tree: TreeDocument) -> TreeLayout:
    """The layout of a tree; no two edges cross."""
    across = np.zeros(tree.nodes)
    waiting, many = ([0] if tree.nodes else []), 0
    while waiting:
        node = waiting.pop()
        if tree.split[node] < 0:
            across[node], many = many, many + 1
        waiting += reversed(tree.children[node])
    for node in range(tree.nodes - 1, -1, -1):
        if tree.children[node]:
            ends = across[[tree.children[node][0], tree.children[node][-1]]]
            across[node] = ends.mean()
    figures = propagated(tree)
    nodes = zip(figures.says.tolist(), figures.hit.tolist(), figures.miss.tolist(), strict=True)
    return TreeLayout(
        across=across,
        down=tree.depth,
        edges=tuple(
            "" if above < 0 else label_text(tree.attributes[int(tree.split[above])], tree.labels[node])
            for node, above in enumerate(tree.parent.tolist())
        ),
        nodes=tuple(f"{tree.classes[says]} {hit} / {miss}" for says, hit, miss in nodes),
        width=many,
    )


# A tree as static SVG: a line for every node, indented below its parent, so that labels have room.


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
    visible_nodes = _shown(tree)
    layout, held = tree_layout(tree), subtree_records(tree)
    depth = max((int(tree.depth[node]) for node in visible_nodes), default=0)
    step = min(_STEP, (WIDE - _END - _BAR - 160) / max(depth, 1))
    spots = {
        node: _Spot(6 + step * int(tree.depth[node]), _TOP + _ROW * (row + 0.5))
        for row, node in enumerate(visible_nodes)
    }
    summaries, parts = list[str](), list[str]()
    for node, spot in spots.items():
        above, label = int(tree.parent[node]), layout.edges[node] or translated("all records")
        if above >= 0:
            parts += _edge(spots[above], spot)
        inner = any(kid in spots for kid in tree.children[node])
        room = WIDE - spot.x - 20 if inner else WIDE - _END - _BAR - spot.x + 30
        parts.append(words(fitted(label, room), spot.x + 6, spot.y + 0.34 * SIZE, tone=MUTED if inner else INK))
        if not inner:
            parts += _end(tree, node, spot, layout.nodes[node], int(held[node]))
            summaries.append(f"{label}: {_said(tree, node, layout.nodes[node])}")
    more = len(tree.leaves) - sum(1 for node in spots if tree.split[node] < 0)
    caption = translated("{n} leaves", n=count(len(tree.leaves)))
    caption += translated("; {n} lie deeper than is drawn", n=count(more)) if more else ""
    svg = drawing(parts, WIDE, 2 * _TOP + _ROW * len(spots))
    return Picture(svg=svg, words="; ".join(summaries)[:4000], caption=caption)


def _shown(tree: TreeDocument) -> list[int]:
    """The nodes that are drawn, each after its parent: all levels that fit."""
    best = [0]
    for depth in range(1, int(tree.depth.max(initial=0)) + 1):
        nodes, waiting = list[int](), [0]
        while waiting:
            node = waiting.pop()
            nodes.append(node)
            if tree.depth[node] < depth:
                waiting += reversed(tree.children[node])
        if len(nodes) > MOST:
            break
        best = nodes
    return best


def _edge(above: _Spot, spot: _Spot) -> list[str]:
    return [
        line(above.x, above.y + 6, above.x, spot.y, "track"),
        line(above.x, spot.y, spot.x + 3, spot.y, "track"),
    ]


def _said(tree: TreeDocument, node: int, text: str) -> str:
    return text if tree.split[node] < 0 else translated("{text}, and more below", text=text)


def _end(tree: TreeDocument, node: int, spot: _Spot, text: str, size: int) -> list[str]:
    """A leaf, or a node with more below: what it says, and a bar for the share of hits."""
    middle = spot.y + 0.34 * SIZE
    parts = [words(fitted(_said(tree, node, text), _END - 40), WIDE - _BAR - 8, middle, anchor="end", tone=INK)]
    if size and tree.split[node] < 0:
        share = int(tree.hit[node]) / size
        parts.append(blocks([(WIDE - _BAR, spot.y - 5, _BAR, 10)], BEFORE))
        parts.append(blocks([(WIDE - _BAR, spot.y - 3, _BAR * share, 6)], AFTER))
    return parts


# The report of published trees: what they claim, what they look like, what attackers learn, what was pruned.


MOST_LINES = 200
"""So many rules, and so many merges, are listed."""


def render(facts: TreeFacts, work: Work | None = None) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    watch, pictures = work or Work(), []
    for place, tree in enumerate(facts.trees):
        watch.advance("report", place, len(facts.trees))
        pictures.append(tree_picture(tree))
    return page(
        "tree.html.j2",
        facts=facts,
        audit=audit_shown(facts.findings, facts.skipped),
        pictures=pictures,
        lines=[(some[:MOST_LINES], max(len(some) - MOST_LINES, 0)) for some in facts.rules],
        merges=facts.merges[:MOST_LINES],
        more=max(len(facts.merges) - MOST_LINES, 0),
    )
