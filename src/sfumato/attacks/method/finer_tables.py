"""The finer tables that a minimal algorithm must have refused, as somebody with a register can work them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.attacks.frame.assignment import Reals, texts_of
from sfumato.attacks.frame.subject import Ints, Mask, Subject, alike

HALVING = ("mondrian", "top-down")
"""Algorithms that cut numbers in two wherever it suits them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Finer:
    """One finer table: the parts that each class would fall into."""

    name: str
    """Which column is finer; all of them where it is ``*``."""
    part: Ints
    """The part of each person."""
    sizes: Ints
    """How many people each part has."""
    home: Ints
    """The class of each part."""
    starts: Ints
    """Where the parts of each class begin; they are in a row."""

    def of_class(self, number: int) -> slice:
        """The parts of a class."""
        return slice(int(self.starts[number]), int(self.starts[number + 1]))

    def splits(self, k: int) -> Mask:
        """Which classes fall into two or more parts that all have k people."""
        parts = np.diff(self.starts)
        small = np.zeros(len(parts), np.int64)
        np.add.at(small, self.home, self.sizes < k)
        return np.asarray((parts > 1) & (small == 0))


def finer_tables(subject: Subject, people: pl.DataFrame, home: Ints) -> Iterator[Finer]:
    """One column one step finer, for each column, and the table as it was before any generalization.

    One step is down a public tree; without one it is to the values, or, where the algorithm cuts numbers freely, to two
    halves at the median.
    """
    classes = len(subject.classes[1])
    steps = [_step(subject, people, home, column) for column in range(len(subject.quasi))]
    whole = subject.coded(people).astype(np.int64)
    for name, codes in [*zip(subject.quasi, steps, strict=True), ("*", alike(whole)[1])]:
        first, part = alike(np.stack([home, codes]))
        yield Finer(
            name=name,
            part=part,
            sizes=np.bincount(part, minlength=len(first)).astype(np.int64),
            home=home[first],
            starts=np.searchsorted(home[first], np.arange(classes + 1)).astype(np.int64),
        )


def _step(subject: Subject, people: pl.DataFrame, home: Ints, column: int) -> Ints:
    name = subject.quasi[column]
    label = subject.classes[0][column][home]
    tree = subject.trees.get(name)
    if tree:
        return _below(texts_of(people, name), label, subject.coverage[name].labels, tree)
    value: Ints = subject.coded(people.select(subject.quasi))[column].astype(np.int64)
    if name not in subject.numeric or subject.algorithm not in HALVING:
        return value
    numbers = people[name].cast(pl.String).cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    return _halves(numbers, home)


def _below(texts: pl.Series, label: Ints, labels: tuple[str, ...], tree: Mapping[str, tuple[str, ...]]) -> Ints:
    """For each person what lies one step below the label, on the way down to their value."""
    frame = pl.DataFrame({"value": texts, "label": label.astype(np.int64)})
    pairs = frame.unique(maintain_order=True)
    names: dict[str, int] = {}
    below = []
    for value, code in pairs.iter_rows():
        path = (value, *tree.get(value, ()))
        at = path.index(labels[code]) if labels[code] in path else len(path)
        below.append(names.setdefault(path[max(at - 1, 0)], len(names)))
    found = frame.join(pairs.with_columns(below=pl.Series(below, dtype=pl.Int64)), on=["value", "label"], how="left")
    return found["below"].to_numpy().astype(np.int64)


def _halves(numbers: Reals, home: Ints) -> Ints:
    """Below the median of one's class, or not."""
    frame = pl.DataFrame({"home": home, "number": numbers})
    median = frame.select(pl.col("number").median().over("home"))["number"].to_numpy()
    return np.asarray(numbers > median, np.int64)
