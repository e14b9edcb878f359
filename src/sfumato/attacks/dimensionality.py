"""The curse of dimensionality: what each further quasi-identifier does to people, and to a release.

Think of a generalized class as a box that covers the share F of the range of each of d columns. Of evenly spread rows
it holds F^d; to hold k of n rows, F must be (k/n)^(1/d) at least, which tends to 1: with many columns a box of k rows
spans nearly everything, and says nearly nothing. The analysis counts what the table at hand really does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.attacks.subject import Ints
from sfumato.core.arguments import at_least, one_of
from sfumato.core.errors import ParameterError

Loss = Callable[[tuple[str, ...]], float]
FEW = 0.05
"""Up to this share of rows, groups that are too small cost little."""
MOST = 0.5
"""From this share on, most rows are in them; and a loss of this much is half of what can be lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A table seen through some of its quasi-identifiers."""

    columns: tuple[str, ...]
    """The quasi-identifiers, in the order in which they were added."""
    rows: int
    """How many rows there are."""
    classes: int
    """How many different combinations of values."""
    unique: float
    """The share of rows that are alone in their class."""
    below_k: float
    """The share of rows in classes of fewer than k."""
    marketer: float
    """The average of 1 / class size over rows: how many rows are found by somebody who knows these columns."""
    side: float
    """The share of the range of each column that a box of k evenly spread rows covers: (k/n)^(1/d)."""
    loss: float | None = None
    """What a release with these columns loses, where somebody measures it."""

    def to_json(self) -> dict[str, Any]:
        """As a report could have it."""
        return asdict(self) | {"columns": list(self.columns)}


def curse(people: pl.DataFrame, *, k: int, order: str = "given", loss: Loss | None = None) -> tuple[Step, ...]:
    """Add the columns of a table one by one, and tell what happens.

    How: classes are numbered; a further column splits each by its values. In the order "greedy" the next column is
        always the one that gives the most classes: the worst order, that of somebody who seeks the most telling facts.
    Needs: every column as text, or anything that can be compared. ``loss`` is asked for once per step.
    Cost: one sort of the rows per step; in greedy order one per step and column that is left.
    Source: Aggarwal 2005, On k-anonymity and the curse of dimensionality; Aggarwal 2015, section 20.3.4.

    >>> table = pl.DataFrame({"sex": ["f", "f", "m", "m"], "age": ["30", "31", "30", "30"]})
    >>> [(step.classes, step.unique, step.below_k) for step in curse(table, k=2)]
    [(2, 0.0, 0.0), (3, 0.5, 0.5)]
    """
    at_least("k", k, 1)
    one_of("order", order, ("given", "greedy"))
    if not people.height or not people.width:
        raise ParameterError("people must have rows and columns")
    left = {name: _coded(people[name]) for name in people.columns}
    classes = np.zeros(people.height, np.int64)
    done: tuple[str, ...] = ()
    steps: list[Step] = []
    while left:
        split = {name: _split(classes, left[name]) for name in (left if order == "greedy" else list(left)[:1])}
        chosen = max(split, key=lambda name: int(split[name].max()))
        classes, done = split[chosen], (*done, chosen)
        del left[chosen]
        steps.append(_step(done, classes, k, loss))
    return tuple(steps)


def _coded(column: pl.Series) -> Ints:
    texts = column.cast(pl.String).fill_null("")
    return texts.cast(pl.Enum(texts.unique().sort())).to_physical().to_numpy().astype(np.int64)


def _split(classes: Ints, codes: Ints) -> Ints:
    """Number the classes that a further column makes."""
    keys = classes * (int(codes.max()) + 1) + codes
    _, ids = np.unique(keys, return_inverse=True)
    return np.asarray(ids.reshape(-1), np.int64)


def _step(columns: tuple[str, ...], classes: Ints, k: int, loss: Loss | None) -> Step:
    sizes = np.bincount(classes)
    rows = len(classes)
    return Step(
        columns=columns,
        rows=rows,
        classes=len(sizes),
        unique=float((sizes == 1).sum() / rows),
        below_k=float(sizes[sizes < k].sum() / rows),
        marketer=len(sizes) / rows,
        side=float(min(k / rows, 1.0) ** (1 / len(columns))),
        loss=None if loss is None else float(loss(columns)),
    )


def enough(steps: Sequence[Step]) -> int:
    """The most columns, in the order of the steps, with which few rows are in groups that are too small."""
    return max((len(step.columns) for step in steps if step.below_k <= FEW), default=0)


def recommendation(steps: Sequence[Step], *, k: int) -> str:
    """What the figures speak for, by rules that are stated.

    1. With all columns 5 % of the rows at most are in classes below k: k-anonymity costs little.
    2. Otherwise, if that holds for p columns, p >= 1: publish these p; or, if the others are needed,
       LKC-privacy with L = p, against somebody who knows p values of a person. L is p in the order of the steps only.
    3. If not even one column is like this, its values must be made coarser first.
    4. With all columns the measured loss is one half or more, or, where nothing was measured, half of the rows or more
       are in classes below k: grouping must hide most of what the table says; answers under differential privacy are to
       be weighed against it.

    Does not say: that any of these is enough. It looks at one order of the columns, and at class sizes.
    """
    if not steps:
        raise ParameterError("steps must not be empty")
    last, few = steps[-1], enough(steps)
    advice = f"With all {len(last.columns)} columns {last.below_k:.1%} of the rows are in classes below k = {k}"
    advice += f" and {last.unique:.1%} are unique."
    if last.below_k <= FEW:
        return f"{advice} k-anonymity on all columns costs little here."
    parts = [advice]
    if few:
        names = ", ".join(steps[few - 1].columns)
        parts.append(f"With {names} it is {steps[few - 1].below_k:.1%}: publish fewer columns,")
        parts.append(f"or ask for LKC-privacy with L = {few}, against somebody who knows that many values of a person.")
    else:
        parts.append(f"Even {steps[0].columns[0]} alone has {steps[0].below_k:.1%}: make its values coarser first.")
    if (last.below_k if last.loss is None else last.loss) >= MOST:
        lost = "" if last.loss is None else f" (loss {last.loss:.2f})"
        parts.append(f"Grouping on all columns must hide most of what the table says{lost};")
        parts.append("weigh counts or a synthetic table under differential privacy against it.")
    return " ".join(parts)
