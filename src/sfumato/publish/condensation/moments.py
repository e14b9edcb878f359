"""What condensation keeps of a group: how many records, the sums of every column and of every product of two.

All three add up, so groups can be joined, kept up to date and taken apart without their records (document 000, section
20.3.1.4, equations 20.6 and 20.7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import ParameterError
from sfumato.group.keys import Ids

Points = NDArray[np.float64]
"""Rows x columns."""
_NOISE = 64 * float(np.finfo(np.float64).eps)
"""Variance below this share of the squares that it is the difference of is rounding, and counts as none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """The additive statistics of one group, or of many groups at once (then every field has them in front).

    >>> one = Moments.of(np.array([[1.0, 2.0], [3.0, 6.0]]))
    >>> one.mean.tolist(), one.covariance.tolist()
    ([2.0, 4.0], [[1.0, 2.0], [2.0, 4.0]])
    """

    count: NDArray[np.int64]
    """How many records."""
    sums: Points
    """The sum of every column."""
    products: Points
    """The sum of the product of every two columns."""

    @classmethod
    def of(cls, rows: Points) -> Self:
        """The moments of some records."""
        found = np.asarray(rows, np.float64)
        return cls(count=np.array(len(found)), sums=found.sum(axis=0), products=found.T @ found)

    @classmethod
    def by_group(cls, rows: Points, groups: Ids, count: int) -> Self:
        """The moments of every group, given the group of each record; no group is empty."""
        order = np.argsort(groups, kind="stable")
        sizes = np.bincount(groups, minlength=count).astype(np.int64)
        if not (sizes > 0).all():
            raise ParameterError("groups must number groups from 0 on, none of them empty")
        starts, inner = np.cumsum(sizes) - sizes, rows[order]
        products = np.empty((count, rows.shape[1], rows.shape[1]))
        for place in range(rows.shape[1]):
            products[:, place] = np.add.reduceat(inner * inner[:, place : place + 1], starts, axis=0)
        return cls(count=sizes, sums=np.add.reduceat(inner, starts, axis=0), products=products)

    def __add__(self, other: Moments) -> Self:
        """The moments of both together, whatever order their records came in."""
        return type(self)(
            count=self.count + other.count, sums=self.sums + other.sums, products=self.products + other.products
        )

    def __sub__(self, other: Moments) -> Self:
        """The moments without those of some of the records."""
        if (np.asarray(self.count) < other.count).any():
            raise ParameterError(f"of {self.count} records {other.count} cannot be taken away")
        return type(self)(
            count=self.count - other.count, sums=self.sums - other.sums, products=self.products - other.products
        )

    def __getitem__(self, group: int | slice | Ids) -> Self:
        """The moments of one group of many, or of several."""
        return type(self)(count=self.count[group], sums=self.sums[group], products=self.products[group])

    @property
    def mean(self) -> Points:
        """The mean of every column."""
        return np.asarray(self.sums / np.asarray(self.count)[..., None])

    @property
    def covariance(self) -> Points:
        """Sum(i, j) / r - Mean(i) Mean(j): equation 20.6, with the divisor r of a whole group, not r - 1."""
        mean = self.mean
        return np.asarray(
            self.products / np.asarray(self.count)[..., None, None] - mean[..., :, None] * mean[..., None, :]
        )

    def axes(self) -> tuple[Points, Points]:
        """The variance along every eigenvector of the covariance, the longest last, and the eigenvectors as columns.

        A covariance without full rank has eigenvalues of 0: nothing varies along those. What rounding leaves of them
        counts as 0 too.
        """
        values, vectors = np.linalg.eigh(self.covariance)
        squares = np.trace(self.products, axis1=-2, axis2=-1) / np.asarray(self.count)
        return np.where(values > _NOISE * values.shape[-1] * squares[..., None], values, 0.0), vectors

    def split(self, first: int | None = None) -> tuple[Self, Self]:
        """Two groups of ``first`` records (half of them, where nothing is said) and the rest, without any record.

        Along the longest eigenvector the records are taken to be uniform over the range R = sqrt(12 variance), equation
        20.8, which is cut where the first part ends; the other eigenvectors stay (equation 20.9). Halves have their
        means R/4 to either side and a quarter of the variance. The two add up to the group. Many groups are split at
        once, each by itself.
        """
        count = np.asarray(self.count)
        one = count // 2 if first is None else np.full_like(count, first)
        if not ((one > 0) & (one < count)).all():
            raise ParameterError(f"first must lie between 1 and {int(count.min()) - 1}, not {int(one.flat[0])}")
        values, vectors = self.axes()
        reach, along, mean = np.sqrt(12 * values[..., -1:]), vectors[..., -1], self.mean
        parts = []
        for many, other, side in ((one, count - one, -1), (count - one, one, 1)):
            moved = mean + side * reach * (other / (2 * count))[..., None] * along
            spread = values.copy()
            spread[..., -1] *= (many / count) ** 2
            covariance = (vectors * spread[..., None, :]) @ np.swapaxes(vectors, -1, -2)
            products = many[..., None, None] * (covariance + moved[..., :, None] * moved[..., None, :])
            parts.append(type(self)(count=many, sums=np.asarray(many[..., None] * moved), products=products))
        return parts[0], parts[1]
