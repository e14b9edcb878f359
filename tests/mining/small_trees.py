"""Small trees and tables for the tests of published trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from sfumato.mining.attributes import Attribute
from sfumato.mining.document_json import tree_of
from sfumato.mining.records import Records
from sfumato.mining.tree_document import TreeDocument
from sfumato.tables.schema import Categories, Numbers

CLASSES = ("S1", "S2", "S3", "S4", "S5")


def leaf(says: str, hit: int, miss: int, **edge: Any) -> dict[str, Any]:
    return {**edge, "class": says, "hit": hit, "miss": miss}


def figure_five() -> dict[str, Any]:
    """The tree of figure 5 as far as the text tells it; the right half is ours where it does not."""
    return {
        "document": "sfumato-tree",
        "schema": 1,
        "target": {"name": "S", "values": list(CLASSES)},
        "attributes": [
            {"name": "A", "values": ["a1", "a2"]},
            {"name": "B", "values": ["b1", "b2", "b3", "b4", "b5"]},
            {"name": "C", "values": ["c1", "c2", "c3"]},
            {"name": "D", "low": 1, "high": 10, "grid": 1},
        ],
        "nodes": [
            {"split": "A"},
            {"parent": 0, "edge": ["a1"], "split": "B"},
            {"parent": 0, "edge": ["a2"], "split": "C"},
            leaf("S1", 3, 0, parent=1, edge=["b1"]),
            leaf("S2", 5, 4, parent=1, edge=["b2"]),
            {"parent": 1, "edge": ["b3"], "split": "C"},
            leaf("S4", 6, 8, parent=1, edge=["b4"]),
            {"parent": 1, "edge": ["b5"], "split": "D"},
            leaf("S3", 4, 10, parent=2, edge=["c1"]),
            {"parent": 2, "edge": ["c2", "c3"], "split": "D"},
            leaf("S5", 2, 2, parent=5, edge=["c1"]),
            leaf("S3", 4, 6, parent=5, edge=["c2", "c3"]),
            leaf("S1", 2, 5, parent=7, edge=[[1, 5]]),
            leaf("S2", 1, 2, parent=7, edge=[[5, 10]]),
            leaf("S2", 4, 1, parent=9, edge=[[1, 4]]),
            leaf("S4", 3, 7, parent=9, edge=[[4, 10]]),
        ],
    }


def nodes_of_figure_five() -> dict[str, int]:
    return {name: node for node, name in enumerate("abcdefghij")} | dict(zip("klmnop", range(10, 16), strict=True))


ATTRIBUTES = (
    Attribute(name="x", domain=Categories(values=("p", "q", "r"))),
    Attribute(name="y", domain=Categories(values=("1", "2", "3", "4"))),
    Attribute(name="z", domain=Numbers(low=0, high=8, grid=1)),
)


@st.composite
def trees(draw: st.DrawFn, *, counts: bool = False, classes: int = 3) -> TreeDocument:
    """Random trees over ATTRIBUTES, with at least one split."""
    dice = draw(st.randoms(use_true_random=False))
    nodes: list[dict[str, Any]] = [{}]
    held: list[dict[int, Any]] = [{0: ["p", "q", "r"], 1: ["1", "2", "3", "4"], 2: [0, 8]}]
    names = CLASSES[:classes]
    place = 0
    while place < len(nodes):
        left = held[place]
        open_ = [a for a in (0, 1) if len(left[a]) > 1] + ([2] if left[2][1] - left[2][0] > 1 else [])
        if open_ and len(nodes) < 24 and (place == 0 or dice.random() < 0.5):
            attribute = dice.choice(open_)
            nodes[place]["split"] = ATTRIBUTES[attribute].name
            for edge in parted(dice, attribute, left[attribute]):
                nodes.append({"parent": place, "edge": [edge] if attribute == 2 else edge})
                held.append({**left, attribute: edge})
        else:
            figures = [dice.randrange(8) for _ in names]
            figures[dice.randrange(classes)] += 1
            top = max(figures)
            nodes[place]["class"] = names[figures.index(top)]
            nodes[place] |= {"counts": figures} if counts else {"hit": top, "miss": sum(figures) - top}
        place += 1
    return tree_of(
        {
            "document": "sfumato-tree",
            "schema": 1,
            "target": {"name": "s", "values": list(names)},
            "attributes": [
                {"name": "x", "values": ["p", "q", "r"]},
                {"name": "y", "values": ["1", "2", "3", "4"]},
                {"name": "z", "low": 0, "high": 8, "grid": 1},
            ],
            "nodes": nodes,
        }
    )


def parted(dice: Any, attribute: int, left: list[Any]) -> list[Any]:
    """A label in two or more parts."""
    if attribute == 2:
        cut = dice.randrange(left[0] + 1, left[1])
        return [[left[0], cut], [cut, left[1]]]
    mixed = dice.sample(left, len(left))
    many = dice.randrange(2, len(left) + 1)
    return [sorted(mixed[n::many]) for n in range(many)]


@st.composite
def tables(draw: st.DrawFn, *, most: int = 60, classes: int = 3) -> Records:
    """Random records over ATTRIBUTES; the class goes with the attributes half of the time."""
    rows = draw(st.integers(1, most))
    dice = draw(st.randoms(use_true_random=False))
    x = [dice.randrange(3) for _ in range(rows)]
    y = [dice.randrange(4) for _ in range(rows)]
    z = [float(dice.randrange(9)) for _ in range(rows)]
    kind = [
        (a + (c > 4)) % classes if dice.random() < 0.5 else dice.randrange(classes) for a, c in zip(x, z, strict=True)
    ]
    return Records(
        attributes=ATTRIBUTES,
        columns=(np.array(x, np.int32), np.array(y, np.int32), np.array(z)),
        target="s",
        classes=CLASSES[:classes],
        codes=np.array(kind, np.int32),
    )
