"""Laplace noise: discrete on counts, on a fine grid on reals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.events import Pure, exactly
from sfumato.ground.errors import ParameterError
from sfumato.noise.mechanisms import opendp, sensible, whole_counts, within
from sfumato.noise.noisy import Noisy


def noisy_counts(counts: NDArray[Any], *, epsilon: Any, sensitivity: int = 1, what: str = "counts") -> Noisy:
    """Counts with discrete Laplace noise; ``sensitivity`` is how much all of them together change by one record.

    Event: pure epsilon. Expected error of a count: at most sensitivity / epsilon.
    Edges: counts may be 0 or negative; a sensitivity or an epsilon of 0, an infinite one, and a count beyond 2^62 are
        refused. No count, no noise: the event is charged all the same.
    """
    budget, moved = exactly("epsilon", epsilon), sensible("sensitivity", sensitivity)
    if moved.denominator != 1:
        raise ParameterError(f"sensitivity must be a whole number for counts, not {sensitivity!r}")
    given = whole_counts(counts)
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    made, scale = within(lambda s: space >> dp.m.then_laplace(scale=s), moved / budget, int(moved), budget, "epsilon")
    drawn = np.asarray(made(given.ravel()) if given.size else [], np.int64).reshape(given.shape)
    return Noisy(values=drawn, event=Pure(epsilon=budget, what=what), scale=scale, law="laplace")


def noisy_reals(values: NDArray[Any], *, epsilon: Any, sensitivity: float, what: str = "sums") -> Noisy:
    """Real numbers with Laplace noise, sampled exactly; ``sensitivity`` is how much all of them change by one record.

    Event: pure epsilon. Expected error of a value: sensitivity / epsilon.
    Edges: a value that is no finite number is refused, as are a sensitivity or an epsilon that are not above 0.
    """
    budget, moved = exactly("epsilon", epsilon), sensible("sensitivity", sensitivity)
    given = np.asarray(values, np.float64)
    if not np.isfinite(given).all():
        raise ParameterError("values must be finite numbers; clamp them to declared bounds first")
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    made, scale = within(lambda s: space >> dp.m.then_laplace(scale=s), moved / budget, float(moved), budget, "epsilon")
    drawn = np.asarray(made(given.ravel().tolist()) if given.size else [], np.float64).reshape(given.shape)
    return Noisy(values=drawn, event=Pure(epsilon=budget, what=what), scale=scale, law="laplace")
