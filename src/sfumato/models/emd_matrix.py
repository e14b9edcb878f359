"""The earth mover's distance with any costs: a transportation problem per distinct distribution, many at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import DataError
from sfumato.ground.extras import extra
from sfumato.models.distances import Shares

_TOGETHER = 4000
_PRECISE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "presolve": False}


def emd_matrix(shares: Shares, reference: Shares, costs: Shares) -> Shares:
    """The least cost of moving each class's distribution to the reference; ``costs[i, j]`` moves i to j.

    Cost: a class with one value is a sum; the rest are linear programs of (its values) x (all values) flows.

    >>> apart = 1.0 - np.eye(2)
    >>> emd_matrix(np.array([[1.0, 0.0]]), np.array([0.25, 0.75]), apart).tolist()
    [0.75]
    """
    distinct, which = np.unique(shares, axis=0, return_inverse=True)
    values = distinct @ (costs @ reference)
    mixed = np.flatnonzero((distinct > 0).sum(axis=1) > 1)
    for part in _parts(distinct[mixed], len(reference)):
        values[mixed[part]] = _transported(distinct[mixed[part]], reference, costs)
    return np.asarray(values[which.reshape(-1)])


def _parts(shares: Shares, width: int) -> Iterator[slice]:
    """Runs of classes with a bounded number of flows together."""
    flows = np.cumsum((shares > 0).sum(axis=1) * width)
    first = 0
    while first < len(shares):
        done = flows[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(flows, done + _TOGETHER, side="right")))
        yield slice(first, last)
        first = last


def _transported(shares: Shares, reference: Shares, costs: Shares) -> Shares:
    """Solve some transportation problems as one linear program without common constraints."""
    owner, source = np.nonzero(shares)
    sinks = np.flatnonzero(reference)
    giver = np.repeat(np.arange(len(owner)), len(sinks))
    taker = np.tile(np.arange(len(sinks)), len(owner))
    price = costs[source[giver], sinks[taker]]
    rows = np.concatenate([giver, len(owner) + owner[giver] * len(sinks) + taker])
    flows = np.tile(np.arange(len(giver)), 2)
    shape = (len(owner) + len(shares) * len(sinks), len(giver))
    linprog = extra("scipy.optimize", "emd-matrix").linprog
    moved = extra("scipy.sparse", "emd-matrix").coo_array((np.ones(len(rows)), (rows, flows)), shape=shape).tocsr()
    amounts = np.concatenate([shares[owner, source], np.tile(reference[sinks], len(shares))])
    found = linprog(price, A_eq=moved, b_eq=amounts, method="highs-ds", options=_PRECISE)
    if not found.success:
        raise DataError(f"the transportation problem of emd-matrix could not be solved: {found.message}")
    return _owned(owner[giver], price * found.x, len(shares))


def _owned(owners: NDArray[np.int64], spent: Shares, count: int) -> Shares:
    return np.asarray(np.bincount(owners, weights=spent, minlength=count), np.float64)
