"""Several sources: pseudo-data of each pooled for any learner, or their trees as a committee (sections 2.2.2, 6.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.domains import Categories, Numbers
from sfumato.ground.brief import Brief
from sfumato.ground.chance import Chance
from sfumato.ground.errors import DataError
from sfumato.mine.edge_labels import Attribute
from sfumato.mine.pseudo_data import PathGenerator
from sfumato.mine.records import Records
from sfumato.mine.rule_document import RuleDocument
from sfumato.mine.tree_document import TreeDocument, Whole
from sfumato.mine.tree_routes import predicted

Model = TreeDocument | RuleDocument


def pooled(parts: Sequence[Records]) -> Records:
    """Records of several sources in one table: attributes by name, domains joined, classes of all."""
    if not parts:
        raise DataError("no source has published anything; there is nothing to pool")
    attributes = tuple(_joined([_named(part, one.name) for part in parts]) for one in parts[0].attributes)
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
    shown = [
        (model, seed)
        for model, seed in zip(models, seeds, strict=True)
        if not (isinstance(model, TreeDocument) and model.empty)
    ]
    return pooled([draw(model, Chance(seed=seed)) for model, seed in shown])


def _named(records: Records, name: str) -> Attribute:
    for one in records.attributes:
        if one.name == name:
            return one
    raise DataError(f"the sources must have the same attributes; one has no {name!r}")


def _joined(attributes: Sequence[Attribute]) -> Attribute:
    """One attribute with everything that any source knows of it."""
    first = attributes[0]
    declared = all(one.declared for one in attributes)
    if all(one.domain == first.domain for one in attributes):
        return replace(first, declared=declared)
    domains = [one.domain for one in attributes]
    words = [one for one in domains if isinstance(one, Categories)]
    numbers = [one for one in domains if isinstance(one, Numbers)]
    if words and numbers:
        raise DataError(f"attribute {first.name!r} is a number at one source and a category at another")
    if len({one.date for one in attributes}) > 1:
        raise DataError(f"attribute {first.name!r} holds dates at one source and other numbers at another")
    if words:
        values = tuple(dict.fromkeys(value for one in words for value in one.values))
        return Attribute(name=first.name, domain=Categories(values=values), declared=declared)
    grids = {one.grid for one in numbers}
    whole = Numbers(
        low=min(one.low for one in numbers),
        high=max(one.high for one in numbers),
        grid=grids.pop() if len(grids) == 1 else None,
    )
    return replace(first, domain=whole, declared=declared)


def _like(records: Records, attributes: Sequence[Attribute], classes: tuple[str, ...]) -> Records:
    """The same records over wider domains."""
    place = {one.name: n for n, one in enumerate(records.attributes)}
    columns = []
    for one in attributes:
        mine, column = records.attributes[place[one.name]], records.columns[place[one.name]]
        if isinstance(one.domain, Categories) and isinstance(mine.domain, Categories):
            column = _moved(mine.domain.values, one.domain.values)[column]
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
        said = [_moved(tree.classes, self.classes)[predicted(tree, rows)] for tree in voters]
        votes = np.zeros((len(said[0]), len(self.classes)))
        for tree, one in zip(voters, said, strict=True):
            votes[np.arange(len(one)), one] += 1 + tree.records / (whole * len(voters))
        return np.asarray(votes.argmax(axis=1))

    def predict(self, rows: Any) -> NDArray[np.object_]:
        """The class of every record, by name."""
        return np.array(self.classes, object)[self.predicted(rows)]


def learnt_from(records: Records, classifier: Any) -> Any:
    """A classifier in the manner of scikit-learn, fitted on records with one column per value of a category."""
    return classifier.fit(records.matrix(), records.codes)
