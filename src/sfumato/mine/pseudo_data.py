"""PGEN: records drawn from the paths of a tree or from rules; BASEGEN: records from anywhere, classified by a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.domains import Numbers
from sfumato.ground.arguments import at_least, one_of
from sfumato.ground.chance import Chance
from sfumato.ground.errors import DataError
from sfumato.ground.limits import MOST_CELLS
from sfumato.mine.edge_labels import Attribute, Label, grid_points
from sfumato.mine.records import Records
from sfumato.mine.rule_document import RuleDocument, rules_of
from sfumato.mine.tree_document import TreeDocument, Whole
from sfumato.mine.tree_routes import predicted

Reals = NDArray[np.float64]
Within = Literal["uniform", "midpoint"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PathGenerator:
    """Draw records path by path.

    Claim: without a size every path gets exactly hit + miss records, hit of them of its class; the others are spread
        over the other classes evenly or, where counts are known, as they are. Every record follows its path.
    How: of an attribute on the path one value of its label, or one of its intervals and a number within it; of any
        other attribute a value of its whole domain, so that it tells nothing about the class.
    Cost: some passes over the records per attribute.
    Source: document 004, section 5.3 and figure 9 (PGEN).
    Does not protect against: it draws from what was published and adds nothing to what that tells. The records
        themselves need not meet the requirement that the paths meet.
    """

    size: int | None = None
    """How many records are drawn in all, in proportion to the paths; as many as the paths count if nothing is said."""
    within: Within = "uniform"
    """Where in an interval a number lies: anywhere, or in the middle."""

    def __post_init__(self) -> None:
        if self.size is not None:
            at_least("size", self.size, 1)
        one_of("within", self.within, get_args(Within))

    def __call__(self, model: TreeDocument | RuleDocument, chance: Chance) -> Records:
        """Records that follow the paths, path by path."""
        rules = rules_of(model) if isinstance(model, TreeDocument) else model
        dice = chance.generator()
        rows = (rules.hit + rules.miss) if self.size is None else _shared(rules.hit + rules.miss, self.size, dice)
        _refuse_too_many(int(rows.sum()), len(rules.attributes))
        path = np.repeat(np.arange(rules.many), rows)
        columns = tuple(
            drawn(one, [rule.get(place) for rule in rules.conditions], path, dice, self.within)
            for place, one in enumerate(rules.attributes)
        )
        codes = _classes(rules, rows, dice)
        return Records(
            attributes=rules.attributes, columns=columns, target=rules.target, classes=rules.classes, codes=codes
        )


def pseudo_data(
    model: TreeDocument | RuleDocument, *, chance: Chance, size: int | None = None, within: Within = "uniform"
) -> Records:
    """PGEN with its options as arguments."""
    return PathGenerator(size=size, within=within)(model, chance)


def random_data(tree: TreeDocument, size: int, *, chance: Chance, within: Within = "uniform") -> Records:
    """BASEGEN: records drawn evenly from the whole domain of every attribute, and classified by the tree.

    Source: document 004, section 7.2.
    """
    at_least("size", size, 1)
    _refuse_too_many(size, len(tree.attributes))
    dice, path = chance.generator(), np.zeros(size, np.int64)
    columns = tuple(drawn(one, [None], path, dice, within) for one in tree.attributes)
    codes = np.full(size, -1, np.int32)
    found = Records(attributes=tree.attributes, columns=columns, target=tree.target, classes=tree.classes, codes=codes)
    codes[:] = predicted(tree, found)
    return found


def _refuse_too_many(rows: int, columns: int) -> None:
    if rows * max(columns, 1) > 16 * MOST_CELLS:
        raise DataError(f"{rows:,} records of {columns} attributes are too many to draw at once; give a smaller size")


def _shared(weights: Whole, size: int, dice: np.random.Generator) -> Whole:
    """A size parted in proportion to weights: every part is rounded down or up, and is right on average."""
    total = int(weights.sum())
    if not total:
        raise DataError("the paths hold no records; there is nothing to be in proportion to")
    ends = np.floor(np.cumsum(weights) * (size / total) + dice.random())
    ends[-1] = size
    return np.asarray(np.diff(np.minimum(ends, size), prepend=0.0), np.int64)


def _classes(rules: RuleDocument, rows: Whole, dice: np.random.Generator) -> NDArray[np.int32]:
    """The class of every record: shares of the classes of its path, each rounded down or up, right on average."""
    many, classes = rules.many, len(rules.classes)
    order = (rules.says[:, None] + np.arange(classes)) % classes
    sizes = rules.hit + rules.miss
    sums: Reals
    if rules.counts is not None:
        sums = np.cumsum(np.take_along_axis(rules.counts, order, axis=1), axis=1).astype(np.float64)
    else:
        shares = np.arange(classes) / max(classes - 1, 1)
        sums = rules.hit[:, None].astype(np.float64) + rules.miss[:, None] * shares[None, :]
    scaled = sums * (rows / np.maximum(sizes, 1))[:, None]
    exact = np.abs(scaled - np.rint(scaled)) < 1e-6
    ends = np.floor(np.where(exact, np.rint(scaled), scaled) + dice.random(many)[:, None])
    ends[:, -1] = rows
    held = np.diff(np.minimum(ends, rows[:, None]), axis=1, prepend=0.0).astype(np.int64)
    return np.repeat(order.ravel(), held.ravel()).astype(np.int32)


def drawn(
    attribute: Attribute, labels: Sequence[Label | None], path: Whole, dice: np.random.Generator, within: Within
) -> NDArray[Any]:
    """A value for every record: of the label of its path, or of the domain where the path has none."""
    starts, sizes, parts = _choices(attribute, labels)
    place = starts[path]
    if len(sizes) and sizes.max(initial=1) > 1:
        place = place + (dice.random(len(path)) * sizes[path]).astype(np.int64)
    if not isinstance(attribute.domain, Numbers):
        return np.asarray(np.array(parts, np.int32)[place])
    return _numbers(attribute.domain, parts, place, dice, within)


def _choices(attribute: Attribute, labels: Sequence[Label | None]) -> tuple[Whole, Whole, list[Any]]:
    """Where the choices of each path start, how many it has, and all choices; the whole domain stands there once."""
    parts: list[Any] = list(attribute.whole)
    starts, sizes = np.zeros(len(labels), np.int64), np.full(len(labels), len(parts), np.int64)
    for path, label in enumerate(labels):
        if label is not None:
            starts[path], sizes[path] = len(parts), len(label)
            parts.extend(label)
    return starts, sizes, parts


def _numbers(
    domain: Numbers, parts: list[tuple[float, float]], place: Whole, dice: np.random.Generator, within: Within
) -> Reals:
    """A number within each chosen interval; on the marks of the grid where there is one."""
    spans = np.array(parts, np.float64).reshape(-1, 2)
    low, width = spans[:, 0], spans[:, 1] - spans[:, 0]
    if domain.grid is None:
        if within == "midpoint":
            return np.asarray((low + width / 2)[place])
        found = low[place] + dice.random(len(place)) * width[place]
        return np.asarray(np.minimum(found, np.nextafter(spans[:, 1], -np.inf)[place]))
    marks = np.array([grid_points(domain, *span) for span in parts], np.int64).reshape(-1, 2)
    first, many = marks[:, 0], marks[:, 1]
    off = np.where(many > 0, 0.0, low + width / 2)
    base = np.where(many > 0, domain.low + first * domain.grid, 0.0)
    if within == "midpoint":
        return np.asarray((base + np.maximum(many - 1, 0) // 2 * domain.grid + off)[place])
    steps = np.floor(dice.random(len(place)) * many[place])
    return np.asarray(base[place] + steps * domain.grid + off[place])
