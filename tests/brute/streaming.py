"""Condensation of a stream straight from document 000, section 20.3.1.4: one record at a time, in plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

Record = Sequence[float]


@dataclass
class Group:
    """r records as their sums and sums of products."""

    r: int
    sums: list[float]
    products: list[list[float]]
    centre: list[float] | None = None

    def mean(self) -> list[float]:
        return [one / self.r for one in self.sums]

    def covariance(self) -> list[list[float]]:
        """Equation 20.7: Sum(i, j)/r - Sum(i) Sum(j)/r^2."""
        every = range(len(self.sums))
        return [[self.products[i][j] / self.r - self.sums[i] * self.sums[j] / self.r**2 for j in every] for i in every]

    def add(self, record: Record) -> None:
        self.r += 1
        for i, one in enumerate(record):
            self.sums[i] += one
            for j, other in enumerate(record):
                self.products[i][j] += one * other


def halves(group: Group) -> tuple[Group, Group]:
    """A group of 2k as two of k: R from the largest eigenvalue, means R/4 to either side, a quarter of that value."""
    vectors, values, _ = np.linalg.svd(np.array(group.covariance()))  # of a covariance these are its eigenvectors
    longest = [float(one) for one in vectors[:, 0]]
    reach = sqrt(12 * float(values[0]))  # 20.8
    spread = [float(values[0]) / 4, *map(float, values[1:])]
    every = range(len(longest))
    c = [
        [sum(float(vectors[i, a]) * spread[a] * float(vectors[j, a]) for a in every) for j in every] for i in every
    ]  # 20.9
    found = []
    for side in (-1, 1):
        many = group.r // 2
        mean = [one + side * reach / 4 * way for one, way in zip(group.mean(), longest, strict=True)]
        products = [[many * (c[i][j] + mean[i] * mean[j]) for j in every] for i in every]  # 20.6, the other way round
        found.append(Group(r=many, sums=[many * one for one in mean], products=products))
    return found[0], found[1]


class RecordByRecord:
    """Groups that take one record at a time: it joins the nearest mean, and a group of 2k is split."""

    def __init__(self, groups: list[Group], k: int) -> None:
        self.groups, self.k = groups, k

    def take(self, record: Record) -> None:
        """One record."""
        nearest = min(self.groups, key=lambda one: sum((a - b) ** 2 for a, b in zip(record, one.mean(), strict=True)))
        nearest.add(record)
        if nearest.r == 2 * self.k:
            self.groups.remove(nearest)
            self.groups.extend(halves(nearest))


def group_of(rows: Sequence[Record]) -> Group:
    """Some records as a group."""
    width = len(rows[0])
    made = Group(r=0, sums=[0.0] * width, products=[[0.0] * width for _ in range(width)])
    for row in rows:
        made.add(row)
    return made
