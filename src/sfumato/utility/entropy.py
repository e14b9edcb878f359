"""Non-uniform entropy: how many bits about the true values a release withholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.hierarchy import Hierarchy
from sfumato.utility.view import Direction, Loss, Reals, View


@dataclass(frozen=True, slots=True, kw_only=True)
class NonUniformEntropy:
    """The bits lost by all cells, as a share of the bits lost if everything were suppressed.

    A value that occurs f times under a label that covers g rows loses log2(g / f) bits in each of its rows. Where equal
    values read alike a label covers the rows that show it; labels of single groups overlap, and cover more.
    Source: Gionis and Tassa 2009; de Waal and Willenborg 1999.
    """

    name: ClassVar[str] = "entropy"
    direction: ClassVar[Direction] = "lower"
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    needs: ClassVar[tuple[str, ...]] = ("leaf_bits",)

    def measure(self, view: View) -> float:
        """The share of bits lost."""
        return self.loss(view).value

    def loss(self, view: View) -> Loss:
        """The share of bits lost; finer nodes lose at least what suppression adds here."""
        classes = view.classes
        label_bits = np.zeros(classes.count)
        for codes, names, ruler in zip(classes.keys, classes.labels, view.rulers, strict=True):
            shown = np.bincount(codes, weights=classes.sizes, minlength=len(names))
            counts = shown if ruler.covered is None else ruler.covered
            label_bits += np.log2(np.maximum(counts, 1.0))[codes]
        top_bits = len(classes.quasi) * log2(max(classes.rows, 1))
        everything = top_bits * classes.rows - float(classes.measures["leaf_bits"].sum())
        if everything <= 0:
            return Loss(value=0.0, coarser=0.0, surcharge=0.0)
        floor = float(label_bits @ classes.sizes - classes.measures["leaf_bits"].sum()) / everything
        hidden = view.suppressed
        extra = float((top_bits - label_bits[hidden]) @ classes.sizes[hidden]) / everything
        rates = (top_bits - label_bits) / everything
        return Loss(value=floor + extra, coarser=floor, surcharge=extra, rates=rates)

    def floors(self, hierarchies: Sequence[Hierarchy], counts: Sequence[NDArray[np.int64]]) -> list[Reals] | None:
        """Per column and level, the share of bits lost without suppression."""
        rows = max(int(counts[0].sum()), 1) if counts else 1
        lost = [
            np.array(
                [_bits(count, h.levels[level].parent, len(h.levels[level].labels)) for level in range(h.height + 1)]
            )
            for h, count in zip(hierarchies, counts, strict=True)
        ]
        everything = sum(rows * np.log2(rows) - bits[0] for bits in lost)
        if everything <= 0:
            return [np.zeros(len(bits)) for bits in lost]
        return [(bits - bits[0]) / everything for bits in lost]


def _bits(counts: NDArray[np.int64], parent: NDArray[np.int32], labels: int) -> float:
    grouped = np.bincount(parent, weights=counts, minlength=labels)
    return float(grouped @ np.log2(np.maximum(grouped, 1.0)))
