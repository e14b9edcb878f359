"""The order of a column's values: numbers and dates by size, others as a walk through their taxonomy meets them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.domains import Numbers
from sfumato.describe.hierarchy import Hierarchy
from sfumato.publish.problem import Problem
from sfumato.utility.view import Reals


def ranks(problem: Problem, column: int) -> NDArray[np.int64]:
    """For each value of a column (by code), its place in the column's order; every subtree is one run of places."""
    numbers, hierarchy = problem.scale(column), problem.hierarchies[column]
    if numbers is None:
        order = np.lexsort([level.parent for level in hierarchy.levels])
    else:
        order = np.argsort(np.where(np.isnan(numbers), np.inf, numbers), kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank


def spans(hierarchy: Hierarchy, numbers: Reals) -> Callable[[int, int], float]:
    """How much of the domain lies from one number to another (by code): a width, or so many values."""
    if isinstance(hierarchy.declared, Numbers):  # rows beyond the limits must not change what the others lose
        numbers = np.clip(numbers, hierarchy.declared.low, hierarchy.declared.high)
    if hierarchy.continuous:
        return lambda low, high: float(numbers[high] - numbers[low])
    known = numbers[~np.isnan(numbers)]
    if (known == np.floor(known)).all() and len(known) and known.max() - known.min() + 1 <= hierarchy.total:
        return lambda low, high: float(numbers[high] - numbers[low] + 1)
    return lambda low, high: float(((known >= numbers[low]) & (known <= numbers[high])).sum())
