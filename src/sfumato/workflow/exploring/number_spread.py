"""How numbers lie between the least and the largest, for the picture behind the edges of intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 60
"""How many bars the picture has at most."""


def spread_of(values: Sequence[str], counts: NDArray[Any]) -> dict[str, Any] | None:
    """Least, largest and the rows of each bin; None where the values are no numbers.

    >>> spread_of(["1", "2", "4"], np.array([5, 1, 2]))["counts"][:1]
    [5]
    """
    try:
        numbers = np.array([float(value) for value in values])
    except ValueError:
        return None
    if not len(numbers) or not np.isfinite(numbers).all():
        return None
    bins = int(min(BINS, max(len(numbers), 1)))
    rows, _ = np.histogram(numbers, bins=bins, weights=counts[: len(numbers)])
    return {"low": float(numbers.min()), "high": float(numbers.max()), "counts": [int(one) for one in rows]}
