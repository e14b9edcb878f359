"""Discrete Gaussian noise on counts, accounted for in zero-concentrated differential privacy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.events import Concentrated, exactly
from sfumato.noise.mechanisms import opendp, root, sensible, whole_counts, within
from sfumato.noise.noisy import Noisy


def gaussian_counts(counts: NDArray[Any], *, rho: Any, sensitivity: float = 1.0, what: str = "counts") -> Noisy:
    """Counts with discrete Gaussian noise; ``sensitivity`` is the Euclidean length by which one record moves them.

    Event: rho-zCDP. Expected error of a count: about 0.8 times sensitivity / sqrt(2 rho).
    Edges: as with Laplace noise; there is no pure epsilon.
    """
    budget, moved = exactly("rho", rho), sensible("sensitivity", sensitivity)
    given = whole_counts(counts)
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    wide = root(moved * moved / (2 * budget))
    made, scale = within(lambda s: space >> dp.m.then_gaussian(scale=s), wide, float(moved), budget, "rho")
    drawn = np.asarray(made(given.ravel()) if given.size else [], np.int64).reshape(given.shape)
    return Noisy(values=drawn, event=Concentrated(rho=budget, what=what), scale=scale, law="gaussian")
