"""Released records beside the original: what they must have in common with the groups that they were drawn from."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.table import as_reals
from sfumato.ground.errors import ClaimRefuted
from sfumato.publish.condensation.condense import Condense, Condensed
from sfumato.verification.checks import Check, same
from sfumato.verification.condensed_checks import Expected, moments_fit, read_numbers, values_kept
from sfumato.workflow.kinds.condensed.condensed_table import SPREAD, CondensePrepared, six_digits


def shown_numbers(prepared: CondensePrepared, rows: pl.DataFrame) -> NDArray[np.float64]:
    """The released numbers, column by column."""
    found = []
    for one in prepared.condensed:
        numbers = read_numbers(rows[one.name], "real" if rows[one.name].dtype.is_float() else one.kind)
        if numbers is None:
            raise ClaimRefuted(f"the released column {one.name!r} has cells that are no numbers")
        found.append(numbers)
    return np.stack(found, axis=1)


def beside_original(
    prepared: CondensePrepared, condense: Condense, outcome: Condensed, rows: pl.DataFrame
) -> Iterable[Check]:
    """What rows must have in common with the original that they were made from."""
    yield same("number of records", rows.height, prepared.source.rows * condense.copies)
    mark = next(iter(prepared.source.missing), "")
    for name in prepared.dealt:
        before, after = prepared.cells(name), rows[name]
        if not before.dtype.is_nested() and before.dtype != pl.Binary:
            one, other = (cells.cast(pl.String).fill_null(mark) for cells in (before, after))
            yield values_kept(name, one, other, condense.copies)
    if condense.output == "distributions":
        yield _same_groups(prepared, outcome, rows)
        return
    free = [place for place, one in enumerate(prepared.condensed) if one.name not in condense.bounds]
    points = (shown_numbers(prepared, rows) - outcome.shift) / outcome.scale
    if free:
        yield from moments_fit(points[:, free], expected(prepared, condense, outcome, free))


def _same_groups(prepared: CondensePrepared, outcome: Condensed, rows: pl.DataFrame) -> Check:
    """Means and spreads are those of the groups, each as often as its group has records."""
    wanted: dict[str, NDArray[np.float64]] = {}
    for one, mean, spread in zip(prepared.condensed, outcome.means.T, outcome.spreads.T, strict=True):
        wanted[one.name], wanted[one.name + SPREAD] = six_digits(mean), six_digits(spread)
    groups = pl.DataFrame({name: numbers[outcome.groups] for name, numbers in wanted.items()})
    shown = pl.DataFrame([as_reals(rows[name]) for name in wanted])
    alike = groups.sort(groups.columns).equals(shown.sort(shown.columns))
    told = "those of the original" if alike else "others than the groups of the original have"
    return Check(what="means and spreads of the groups", holds=alike, detail=told)


def expected(prepared: CondensePrepared, condense: Condense, outcome: Condensed, places: list[int]) -> Expected:
    """What drawn records have on average in some columns, and how much chance moves it.

    A record is m + e: e has mean 0 and covariance C, ``variance`` times the group's, and its parts along eigenvectors
    are independent and even. So Var((m + e)_i (m + e)_j) is at most the sum of m_i^2 C_jj, m_j^2 C_ii, 2 m_i m_j C_ij,
    C_ii C_jj and C_ij^2. Writing a number in steps of s adds at most s^2 / 4 to C_ii, and nothing on average.
    """
    sizes, m = outcome.sizes.astype(np.float64), outcome.moments.mean[:, places]
    c = condense.variance * outcome.moments.covariance[:, places][:, :, places]
    steps = [0.0 if one.decimals is None else 10.0**-one.decimals for one in prepared.condensed]
    rounding = (np.array(steps)[places] / outcome.scale[places]) ** 2 / 4
    weights, rows = sizes / sizes.sum(), sizes.sum() * condense.copies
    noisy = np.diagonal(c, axis1=1, axis2=2).clip(min=0) + rounding
    squares = m**2
    varied = squares[:, :, None] * noisy[:, None, :] + noisy[:, :, None] * squares[:, None, :]
    varied += 2 * m[:, :, None] * m[:, None, :] * c + noisy[:, :, None] * noisy[:, None, :] + c**2
    return Expected(
        names=[prepared.condensed[place].name for place in places],
        mean=weights @ m,
        mean_spread=np.sqrt(weights @ noisy / rows),
        product=np.einsum("g,gij->ij", weights, m[:, :, None] * m[:, None, :] + c),
        product_spread=np.sqrt(np.einsum("g,gij->ij", weights, varied.clip(min=0)) / rows),
        slack=np.diag(rounding),
    )
