"""Models from the trees of several sources: pseudo-data (PGEN, BASEGEN), pooling, committees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import at_least, one_of
from sfumato.core.errors import DataError
from sfumato.core.input_files import MOST_CELLS
from sfumato.core.randomness import Chance
from sfumato.core.short_repr import Brief
from sfumato.mining.attributes import Attribute, Label, grid_points
from sfumato.mining.prediction import predicted
from sfumato.mining.records import Records
from sfumato.mining.rule_document import RuleDocument, rules_of
from sfumato.mining.tree_document import TreeDocument, Whole
from sfumato.tables.schema import Categories, Numbers

# PGEN: records drawn from the paths of a tree or from rules; BASEGEN: records from anywhere, classified by a tree.


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
            drawn(attribute, [rule.get(place) for rule in rules.conditions], path, dice, self.within)
            for place, attribute in enumerate(rules.attributes)
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
    columns = tuple(drawn(attribute, [None], path, dice, within) for attribute in tree.attributes)
    codes = np.full(size, -1, np.int32)
    records = Records(
        attributes=tree.attributes, columns=columns, target=tree.target, classes=tree.classes, codes=codes
    )
    codes[:] = predicted(tree, records)
    return records


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
        numbers = low[place] + dice.random(len(place)) * width[place]
        return np.asarray(np.minimum(numbers, np.nextafter(spans[:, 1], -np.inf)[place]))
    marks = np.array([grid_points(domain, *span) for span in parts], np.int64).reshape(-1, 2)
    first, many = marks[:, 0], marks[:, 1]
    off = np.where(many > 0, 0.0, low + width / 2)
    base = np.where(many > 0, domain.low + first * domain.grid, 0.0)
    if within == "midpoint":
        return np.asarray((base + np.maximum(many - 1, 0) // 2 * domain.grid + off)[place])
    steps = np.floor(dice.random(len(place)) * many[place])
    return np.asarray(base[place] + steps * domain.grid + off[place])


# Several sources: pseudo-data of each pooled for any learner, or their trees as a committee (sections 2.2.2, 6.3).


Model = TreeDocument | RuleDocument


def pooled(parts: Sequence[Records]) -> Records:
    """Records of several sources in one table: attributes by name, domains joined, classes of all."""
    if not parts:
        raise DataError("no source has published anything; there is nothing to pool")
    attributes = tuple(_joined([_named(part, attribute.name) for part in parts]) for attribute in parts[0].attributes)
    if {part.target for part in parts} != {parts[0].target}:
        raise DataError("the sources must have one target, not " + ", ".join(sorted({part.target for part in parts})))
    classes = tuple(dict.fromkeys(name for part in parts for name in part.classes))
    moved = [_like(part, attributes, classes) for part in parts]
    return Records(
        attributes=attributes,
        columns=tuple(np.concatenate(some) for some in zip(*(part.columns for part in moved), strict=True)),
        target=parts[0].target,
        classes=classes,
        codes=np.concatenate([part.codes for part in moved]),
    )


def pooled_pseudo_data(models: Sequence[Model], *, chance: Chance, how: PathGenerator | None = None) -> Records:
    """PGEN for every source, pooled; a source that published nothing brings nothing.

    Source: document 004, section 2.2.2.
    """
    dice = chance.generator()
    seeds = dice.integers(0, 2**62, len(models)).tolist()
    draw = how or PathGenerator()
    seeded_models = [
        (model, seed)
        for model, seed in zip(models, seeds, strict=True)
        if not (isinstance(model, TreeDocument) and model.empty)
    ]
    return pooled([draw(model, Chance(seed=seed)) for model, seed in seeded_models])


def _named(records: Records, name: str) -> Attribute:
    for attribute in records.attributes:
        if attribute.name == name:
            return attribute
    raise DataError(f"the sources must have the same attributes; one has no {name!r}")


def _joined(attributes: Sequence[Attribute]) -> Attribute:
    """One attribute with everything that any source knows of it."""
    first = attributes[0]
    declared = all(attribute.declared for attribute in attributes)
    if all(attribute.domain == first.domain for attribute in attributes):
        return replace(first, declared=declared)
    domains = [attribute.domain for attribute in attributes]
    words = [domain for domain in domains if isinstance(domain, Categories)]
    numbers = [domain for domain in domains if isinstance(domain, Numbers)]
    if words and numbers:
        raise DataError(f"attribute {first.name!r} is a number at one source and a category at another")
    if len({attribute.date for attribute in attributes}) > 1:
        raise DataError(f"attribute {first.name!r} holds dates at one source and other numbers at another")
    if words:
        values = tuple(dict.fromkeys(value for domain in words for value in domain.values))
        return Attribute(name=first.name, domain=Categories(values=values), declared=declared)
    grids = {domain.grid for domain in numbers}
    whole = Numbers(
        low=min(domain.low for domain in numbers),
        high=max(domain.high for domain in numbers),
        grid=grids.pop() if len(grids) == 1 else None,
    )
    return replace(first, domain=whole, declared=declared)


def _like(records: Records, attributes: Sequence[Attribute], classes: tuple[str, ...]) -> Records:
    """The same records over wider domains."""
    place = {attribute.name: n for n, attribute in enumerate(records.attributes)}
    columns = []
    for attribute in attributes:
        mine, column = records.attributes[place[attribute.name]], records.columns[place[attribute.name]]
        if isinstance(attribute.domain, Categories) and isinstance(mine.domain, Categories):
            column = _moved(mine.domain.values, attribute.domain.values)[column]
        columns.append(column)
    return Records(
        attributes=tuple(attributes),
        columns=tuple(columns),
        target=records.target,
        classes=classes,
        codes=_moved(records.classes, classes)[records.codes],
    )


def _moved(old: tuple[str, ...], new: tuple[str, ...]) -> NDArray[np.int32]:
    """The new code of every old one; the last entry is for unknown values."""
    codes = {value: code for code, value in enumerate(new)}
    return np.array([*(codes[value] for value in old), -1], np.int32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Committee(Brief):
    """BAGGING: published trees vote, each with one voice.

    Claim: the class with the most votes is told; of several the one with the most records in the voters' leaves.
    Source: Breiman 1996; document 004, section 6.3.
    """

    trees: tuple[TreeDocument, ...]
    """The members; an empty tree does not vote."""

    def __post_init__(self) -> None:
        """Refuse a committee without a voice."""
        if not any(not tree.empty for tree in self.trees):
            raise DataError("a committee needs at least one tree that is not empty")

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that any member knows, those of the first member first."""
        return tuple(dict.fromkeys(name for tree in self.trees for name in tree.classes))

    def predicted(self, rows: Any) -> Whole:
        """The class of every record, by code among the committee's classes."""
        voters = [tree for tree in self.trees if not tree.empty]
        whole = sum(tree.records for tree in voters) + 1
        predictions = [_moved(tree.classes, self.classes)[predicted(tree, rows)] for tree in voters]
        votes = np.zeros((len(predictions[0]), len(self.classes)))
        for tree, prediction in zip(voters, predictions, strict=True):
            votes[np.arange(len(prediction)), prediction] += 1 + tree.records / (whole * len(voters))
        return np.asarray(votes.argmax(axis=1))

    def predict(self, rows: Any) -> NDArray[np.object_]:
        """The class of every record, by name."""
        return np.array(self.classes, object)[self.predicted(rows)]


def learnt_from(records: Records, classifier: Any) -> Any:
    """A classifier in the manner of scikit-learn, fitted on records with one column per value of a category."""
    return classifier.fit(records.matrix(), records.codes)
