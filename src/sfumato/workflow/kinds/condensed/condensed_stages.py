"""The stages of a condensed release: read, prepare, search, recode, judge, and make again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.bundle.published import Published, PublishedColumn
from sfumato.data.table import Kind as CellKind
from sfumato.data.table import Table
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ClaimRefuted
from sfumato.ground.work import Work
from sfumato.group.near_unique import NearUnique, asked_size, near_unique_columns
from sfumato.publish.condensation.condense import Condense, Condensed
from sfumato.utility.covariances import compatibility
from sfumato.verification.checks import Check, same
from sfumato.verification.condensed_checks import (
    Expected,
    groups_claim,
    moments_fit,
    read_numbers,
    values_kept,
    warning,
)
from sfumato.verification.verifying import tables_of
from sfumato.workflow.kinds.condensed import CONDENSE
from sfumato.workflow.kinds.condensed.condensed_plan import algorithm_of, why
from sfumato.workflow.kinds.condensed.condensed_table import SPREAD, CondensePrepared, prepared_table, six_digits
from sfumato.workflow.kinds.kind import Asked, Kind, Searched
from sfumato.workflow.loading import load_table, marked
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.released import Release


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CondensedRelease(Release):
    """Records drawn from groups, or the means and spreads of their groups."""

    prepared: CondensePrepared
    """The original."""
    outcome: Condensed
    """The groups."""
    published: Published
    """What a verifier must know to read the rows."""

    @property
    def condense(self) -> Condense:
        """What was asked for."""
        return algorithm_of(self.plan)

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """The sizes of groups, with how many groups have each."""
        return sizes_of(self.outcome)

    @property
    def treated(self) -> dict[str, str]:
        """What was done to every released column."""
        numbers = {one.name for one in self.prepared.condensed}
        rows = self.condense.output == "rows"
        spreads = set() if rows else {name + SPREAD for name in numbers}
        shown = "drawn" if rows else "mean"
        return {
            name: "spread" if name in spreads else shown if name in numbers else "dealt" for name in self.rows.columns
        }

    @cached_property
    def near_unique(self) -> tuple[NearUnique, ...]:
        """The columns of dealt values that nearly single people out."""
        roles = {name: role for name, role in self.published.schema.roles.items() if self.treated[name] == "dealt"}
        k = asked_size(one.parameters for one in self.claims)
        return near_unique_columns(self.rows, roles, self.published.missing, k)

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release: first of all, what the claim is not about."""
        return [warning(self.condense.output), *super().marks, *(one.told for one in self.near_unique)]


def sizes_of(outcome: Condensed) -> list[tuple[int, int]]:
    """The sizes of groups, counted from the group of each record, with how many groups have each."""
    return sorted(Counter(np.bincount(outcome.groups).tolist()).items())


def read(asked: Asked) -> Table:
    """The table."""
    return marked(load_table(asked.plan, asked.like, asked.plan.input.path), asked.plan)


def prepare(asked: Asked, table: Table) -> CondensePrepared:
    """Describe the columns, and read their numbers."""
    return prepared_table(asked.plan, table)


def search(asked: Asked, prepared: CondensePrepared, work: Work) -> Searched:
    """Find the groups, and draw from them."""
    inner = work.within(None)
    inner.chance = Chance(seed=asked.plan.algorithm.seed)
    outcome = algorithm_of(asked.plan)(prepared.problem, inner)
    return Searched(prepared=prepared, outcome=outcome, algorithm=CONDENSE, why=why(asked.plan))


def recode(asked: Asked, found: Searched) -> pl.DataFrame:
    """The released rows in random order."""
    seed, condense = asked.plan.algorithm.seed, algorithm_of(asked.plan)
    draw = Chance(seed=None if seed is None else seed + 1).generator()  # not the numbers that the records are made of
    prepared: CondensePrepared = found.prepared
    if condense.output == "distributions":
        return prepared.uncertain(found.outcome, draw)
    return prepared.drawn(condense, found.outcome, draw)


def judge(kind: Kind, asked: Asked, found: Searched, rows: pl.DataFrame) -> CondensedRelease:
    """Count the groups, and refuse rows that they do not give."""
    prepared, condense = found.prepared, algorithm_of(asked.plan)
    claim = groups_claim(condense.k, sizes_of(found.outcome))
    if not claim.holds:
        raise ClaimRefuted(
            f"{found.algorithm} gave a group of {int(claim.reached)} records, fewer than {condense.k}; nothing was "
            "written"
        )
    for one in _beside(prepared, condense, found.outcome, rows):
        if not one.holds:
            raise ClaimRefuted(f"{found.algorithm} gave rows with wrong {one.what}: {one.detail}; nothing was written")
    return CondensedRelease(
        kind=kind,
        plan=asked.plan,
        prepared=prepared,
        outcome=found.outcome,
        rows=rows,
        published=_published(asked.plan, prepared, rows),
        claims=(claim,),
        utility={"covariance compatibility": compatibility(prepared.problem.numbers, _shown(prepared, rows))},
        algorithm=found.algorithm,
        why=found.why,
        like=asked.like,
    )


def _shown(prepared: CondensePrepared, rows: pl.DataFrame) -> NDArray[np.float64]:
    """The released numbers, column by column; dates count from the same day as in the original."""
    found = []
    for one in prepared.condensed:
        numbers = read_numbers(rows[one.name], "real" if rows[one.name].dtype.is_float() else one.kind)
        if numbers is None:
            raise ClaimRefuted(f"the released column {one.name!r} has cells that are no numbers")
        found.append(numbers + 719163 * (one.kind == "date" and not rows[one.name].dtype.is_float()))
    return np.stack(found, axis=1)


def _beside(prepared: CondensePrepared, condense: Condense, outcome: Condensed, rows: pl.DataFrame) -> Iterable[Check]:
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
    points = (_shown(prepared, rows) - outcome.shift) / outcome.scale
    if free:
        yield from moments_fit(points[:, free], expected(prepared, condense, outcome, free))


def _same_groups(prepared: CondensePrepared, outcome: Condensed, rows: pl.DataFrame) -> Check:
    """Means and spreads are those of the groups, each as often as its group has records."""
    wanted: dict[str, NDArray[np.float64]] = {}
    for one, mean, spread in zip(prepared.condensed, outcome.means.T, outcome.spreads.T, strict=True):
        wanted[one.name], wanted[one.name + SPREAD] = six_digits(mean), six_digits(spread)
    groups = pl.DataFrame({name: numbers[outcome.groups] for name, numbers in wanted.items()})
    shown = rows.select(pl.col(list(wanted)).cast(pl.Float64, strict=False))
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


def _published(plan: Plan, prepared: CondensePrepared, rows: pl.DataFrame) -> Published:
    """The released columns with their types; means and spreads are real."""
    kinds: dict[str, CellKind] = {one.name: one.kind for one in prepared.condensed}
    if algorithm_of(plan).output == "distributions":
        kinds = {each: "real" for name in kinds for each in (name, name + SPREAD)}
    roles = {**prepared.schema.roles, **{name + SPREAD: prepared.schema.roles[name] for name in kinds
                                         if not name.endswith(SPREAD) and name in prepared.schema.roles}}  # fmt: skip
    columns = tuple(PublishedColumn(name=name, role=roles[name], kind=kinds.get(name, "text")) for name in rows.columns)
    return Published(columns=columns, rows=rows.height, missing=prepared.source.missing)


def again(folder: Path, manifest: Mapping[str, Any], plan: Plan, original: object, work: Work) -> Iterable[Check]:
    """What the steward finds beside the original: the same groups, and records that these give but for chance."""
    asked = Asked(plan=plan, keys={}, like=original)
    prepared = prepare(asked, read(asked))
    condense = algorithm_of(plan)
    outcome = condense(prepared.problem, work.within(None))
    sizes = [list(pair) for pair in sizes_of(outcome)]
    yield same("sizes of the groups that are made again", sizes, [list(pair) for pair in manifest["recoding"]["sizes"]])
    yield from _beside(prepared, condense, outcome, tables_of(folder, manifest)["data"].frame)
