"""What the pages of a condensed release count: values of every column and correlations, of one table or of two."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import floor, log10

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.report.base.language import figured, said
from sfumato.report.condensed.condensed_page import ColumnShown, PairShown
from sfumato.utility.covariances import correlations

Numbers = Mapping[str, NDArray[np.float64]]
_STEPS = 14
"""At most about so many bars for a column of numbers."""
_PAIRS = 30
"""At most so many pairs of columns, those that go together most."""


def number_bars(name: str, after: NDArray[np.float64], before: NDArray[np.float64] | None) -> ColumnShown:
    """Numbers counted in steps of 1, 2 or 5 times a power of ten."""
    both = after if before is None else np.concatenate([after, before])
    low, high = float(both.min(initial=0.0 if not len(both) else np.inf)), float(both.max(initial=-np.inf))
    step = _step((high - low) / _STEPS)
    start = floor(low / step)
    many = max(floor(high / step) - start + 1, 1)

    def counted(numbers: NDArray[np.float64]) -> list[int]:
        places = (np.floor(numbers / step) - start).astype(np.int64).clip(0, many - 1)
        return [int(each) for each in np.bincount(places, minlength=many)]

    shown = counted(after)
    were = [None] * many if before is None else counted(before)
    ends = [figured(f"{(start + place) * step:.10g}") for place in range(many + 1)]
    labels = [said("{low} to {high}", low=low, high=high) for low, high in pairwise(ends)]
    return ColumnShown(name=name, parts=tuple(zip(labels, were, shown, strict=True)))


def word_bars(name: str, after: pl.Series, before: pl.Series | None) -> ColumnShown:
    """Rows per word, the most frequent first."""
    counts = _counted(after)
    were = None if before is None else dict(_counted(before))
    names = dict.fromkeys([*(value for value, _ in counts), *(were or {})])
    now = dict(counts)
    parts = tuple((value, None if were is None else were.get(value, 0), now.get(value, 0)) for value in names)
    return ColumnShown(name=name, parts=parts)


def pairs(after: Numbers, before: Numbers | None) -> tuple[PairShown, ...]:
    """The correlations of columns of numbers, strongest first."""
    names = list(after)
    now = correlations(np.stack([after[name] for name in names], axis=1))
    was = None if before is None else correlations(np.stack([before[name] for name in names], axis=1))
    found = [
        PairShown(
            first=names[i], second=names[j], before=None if was is None else float(was[i, j]), after=float(now[i, j])
        )
        for i in range(len(names))
        for j in range(i + 1, len(names))
    ]
    return tuple(sorted(found, key=lambda one: -max(abs(one.after), abs(one.before or 0.0)))[:_PAIRS])


def _counted(cells: pl.Series) -> list[tuple[str, int]]:
    texts = cells.cast(pl.String).fill_null("").alias("value")
    counts = texts.value_counts().sort("count", "value", descending=[True, False])
    return [(str(value), int(many)) for value, many in counts.iter_rows()]


def _step(width: float) -> float:
    if not width > 0:
        return 1.0
    unit = 10.0 ** floor(log10(width))
    return next(lead * unit for lead in (1, 2, 5, 10) if lead * unit >= width * (1 - 1e-9))
