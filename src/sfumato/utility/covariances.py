"""How well drawn numbers keep the covariances of the original."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def compatibility(before: Numbers, after: Numbers) -> float:
    """The correlation of corresponding entries of both covariance matrices: 1 where they are alike but for a factor.

    Columns are first divided by the standard deviation that they have before, so that none rules by its unit. Entries
    are those on and above the diagonal. Where those of one matrix are all alike, as with one column, there is nothing
    to compare, and it is 1 if both matrices are alike and else 0.
    Source: Aggarwal and Yu 2004, A condensation approach to privacy preserving data mining (covariance compatibility);
    there in the columns' own units.

    >>> rows = np.array([[1.0, 2.0], [2.0, 1.0], [4.0, 7.0]])
    >>> round(compatibility(rows, rows + 5), 9), round(compatibility(rows, 3 * rows), 9)
    (1.0, 1.0)
    """
    spread = before.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    one, other = (np.cov((rows / scale).T, bias=True).reshape(rows.shape[1], -1) for rows in (before, after))
    places = np.triu_indices(before.shape[1])
    first, second = one[places], other[places]
    if first.std() < 1e-12 or second.std() < 1e-12:
        return 1.0 if np.allclose(first, second) else 0.0
    return float(np.corrcoef(first, second)[0, 1])


def correlations(numbers: Numbers) -> Numbers:
    """The correlation of every two columns; 0 with a column that does not vary."""
    spread = numbers.std(axis=0)
    points = (numbers - numbers.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    found = points.T @ points / max(len(points), 1)
    return np.asarray(found.clip(-1.0, 1.0))
