"""The stages of a condensed release, its comparison with the original, and its attacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.algorithms.condensation import Condense, Condensed
from sfumato.attacks.membership import Membership, NearestNeighbour
from sfumato.attacks.subject import Coverage, Subject
from sfumato.bundles.checks.condensed import FEW, Expected, groups_claim, moments_fit, read_numbers, values_kept
from sfumato.bundles.columns import Published, PublishedColumn
from sfumato.bundles.manifest.sections import CONDENSED_EPOCH
from sfumato.bundles.provenance import Check, same
from sfumato.bundles.verify import read_released, tables_of
from sfumato.core.errors import BundleError, ClaimRefuted, Infeasible, unknown_column
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.counts.keys import Ids
from sfumato.metrics.information_loss import compatibility
from sfumato.pipeline.attack import attacked
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.inputs import load_table, marked
from sfumato.pipeline.methods.condensed.release import (
    CONDENSE,
    SPREAD,
    CondensedRelease,
    CondensePrepared,
    algorithm_of,
    prepared_table,
    six_digits,
    sizes_of,
    why,
)
from sfumato.pipeline.methods.method import Audit, Method, Request, SearchResult
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.table import Kind as CellKind
from sfumato.tables.table import Table, as_reals

# Released records beside the original: what they must have in common with the groups that they were drawn from.


def shown_numbers(prepared: CondensePrepared, rows: pl.DataFrame) -> NDArray[np.float64]:
    """The released numbers, column by column."""
    columns = []
    for column in prepared.condensed:
        numbers = read_numbers(rows[column.name], "real" if rows[column.name].dtype.is_float() else column.kind)
        if numbers is None:
            raise ClaimRefuted(f"the released column {column.name!r} has cells that are no numbers")
        columns.append(numbers)
    return np.stack(columns, axis=1)


def beside_original(
    prepared: CondensePrepared, condense: Condense, outcome: Condensed, rows: pl.DataFrame
) -> Iterable[Check]:
    """What rows must have in common with the original that they were made from."""
    yield same("number of records", rows.height, prepared.source.rows * condense.copies)
    mark = next(iter(prepared.source.missing), "")
    for name in prepared.dealt:
        before, after = prepared.cells(name), rows[name]
        if not before.dtype.is_nested() and before.dtype != pl.Binary:
            original_cells, other = (cells.cast(pl.String).fill_null(mark) for cells in (before, after))
            yield values_kept(name, original_cells, other, condense.copies)
    if condense.output == "distributions":
        yield _same_groups(prepared, outcome, rows)
        return
    free = [place for place, column in enumerate(prepared.condensed) if column.name not in condense.bounds]
    points = (shown_numbers(prepared, rows) - outcome.shift) / outcome.scale
    if free:
        yield from moments_fit(points[:, free], expected(prepared, condense, outcome, free))


def _same_groups(prepared: CondensePrepared, outcome: Condensed, rows: pl.DataFrame) -> Check:
    """Means and spreads are those of the groups, each as often as its group has records."""
    wanted: dict[str, NDArray[np.float64]] = {}
    for column, mean, spread in zip(prepared.condensed, outcome.means.T, outcome.spreads.T, strict=True):
        wanted[column.name], wanted[column.name + SPREAD] = six_digits(mean), six_digits(spread)
    groups = pl.DataFrame({name: numbers[outcome.groups] for name, numbers in wanted.items()})
    released_rows = pl.DataFrame([as_reals(rows[name]) for name in wanted])
    alike = groups.sort(groups.columns).equals(released_rows.sort(released_rows.columns))
    detail = "those of the original" if alike else "others than the groups of the original have"
    return Check(what="means and spreads of the groups", holds=alike, detail=detail)


def expected(prepared: CondensePrepared, condense: Condense, outcome: Condensed, places: list[int]) -> Expected:
    """What drawn records have on average in some columns, and how much chance moves it.

    A record is m + e: e has mean 0 and covariance C, ``variance`` times the group's, and its parts along eigenvectors
    are independent and even. So Var((m + e)_i (m + e)_j) is at most the sum of m_i^2 C_jj, m_j^2 C_ii, 2 m_i m_j C_ij,
    C_ii C_jj and C_ij^2. Writing a number in steps of s adds at most s^2 / 4 to C_ii, and nothing on average.
    """
    sizes, m = outcome.sizes.astype(np.float64), outcome.moments.mean[:, places]
    c = condense.variance * outcome.moments.covariance[:, places][:, :, places]
    steps = [0.0 if column.decimals is None else 10.0**-column.decimals for column in prepared.condensed]
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


# The stages of a condensed release: read, prepare, search, recode, judge, and make again.


def read(request: Request) -> Table:
    """The table."""
    return marked(load_table(request.plan, request.like, request.plan.input.path), request.plan)


def prepare(request: Request, table: Table) -> CondensePrepared:
    """Describe the columns, and read their numbers."""
    return prepared_table(request.plan, table)


def notes(prepared: CondensePrepared) -> Iterable[str]:
    """What a steward should know about the groups before they are made."""
    k, many = prepared.k, len(prepared.condensed)
    if k < FEW:
        yield (
            f"groups of {k} records are small: on a real table of 13 columns, the nearest released row told members "
            "from others with an AUC of 0.80 at k = 3, 0.71 at k = 5 and 0.59 at k = 10 (0.5 is guessing); ask for "
            f"indistinguishable_groups = {FEW} or more, and see the attack nearest-neighbour in the report"
        )
    if k <= many:
        yield (
            f"groups of {k} records in {many} columns of numbers: their covariance leaves directions without spread, "
            f"and drawn records lie in the flat that the {k} records span; ask for more than {many}"
        )


def search(request: Request, prepared: CondensePrepared, work: Work) -> SearchResult:
    """Find the groups, and draw from them."""
    inner = work.within(None)
    inner.chance = Chance(seed=request.plan.algorithm.seed)
    outcome = algorithm_of(request.plan)(prepared.problem, inner)
    return SearchResult(prepared=prepared, outcome=outcome, algorithm=CONDENSE, why=why(request.plan))


def recode(request: Request, result: SearchResult) -> pl.DataFrame:
    """The released rows in random order."""
    seed, condense = request.plan.algorithm.seed, algorithm_of(request.plan)
    draw = Chance(seed=None if seed is None else seed + 1).generator()  # not the numbers that the records are made of
    prepared: CondensePrepared = result.prepared
    if condense.output == "distributions":
        return prepared.uncertain(result.outcome, draw)
    return prepared.drawn(condense, result.outcome, draw)


def judge(kind: Method, request: Request, result: SearchResult, rows: pl.DataFrame) -> CondensedRelease:
    """Count the groups, and refuse rows that they do not give."""
    prepared, condense = result.prepared, algorithm_of(request.plan)
    claim = groups_claim(condense.k, sizes_of(result.outcome))
    if not claim.holds:
        raise ClaimRefuted(
            f"{result.algorithm} gave a group of {int(claim.reached)} records, fewer than {condense.k}; nothing was "
            "written"
        )
    for check in beside_original(prepared, condense, result.outcome, rows):
        if not check.holds:
            raise ClaimRefuted(
                f"{result.algorithm} gave rows with wrong {check.what}: {check.detail}; nothing was written"
            )
    return CondensedRelease(
        kind=kind,
        plan=request.plan,
        prepared=prepared,
        outcome=result.outcome,
        rows=rows,
        published=_published(request.plan, prepared, rows),
        claims=(claim,),
        utility={"covariance compatibility": compatibility(prepared.problem.numbers, shown_numbers(prepared, rows))},
        algorithm=result.algorithm,
        why=result.why,
        like=request.like,
    )


def _published(plan: Plan, prepared: CondensePrepared, rows: pl.DataFrame) -> Published:
    """The released columns with their types; means and spreads are real."""
    kinds: dict[str, CellKind] = {column.name: column.kind for column in prepared.condensed}
    if algorithm_of(plan).output == "distributions":
        kinds = {each: "real" for name in kinds for each in (name, name + SPREAD)}
    roles = {**prepared.schema.roles, **{name + SPREAD: prepared.schema.roles[name] for name in kinds
                                         if not name.endswith(SPREAD) and name in prepared.schema.roles}}  # fmt: skip
    columns = tuple(PublishedColumn(name=name, role=roles[name], kind=kinds.get(name, "text")) for name in rows.columns)
    return Published(columns=columns, rows=rows.height, missing=prepared.source.missing)


def again(folder: Path, manifest: Mapping[str, Any], plan: Plan, original: object, work: Work) -> Iterable[Check]:
    """What the steward finds beside the original: the same groups, and records that these give but for chance."""
    if "stream" in manifest:
        raise BundleError(
            f"{folder} is a batch of a stream: which records it was drawn from was not kept, so it cannot be made "
            "again; verify it without --plan"
        )
    request = Request(plan=plan, keys={}, like=original)
    prepared = prepare(request, read(request))
    condense = algorithm_of(plan)
    outcome = condense(prepared.problem, work.within(None))
    sizes = [list(pair) for pair in sizes_of(outcome)]
    yield same("sizes of the groups that are made again", sizes, [list(pair) for pair in manifest["recoding"]["sizes"]])
    yield from beside_original(prepared, condense, outcome, tables_of(folder, manifest)["data"].frame)


# A condensed release as an attacker finds it, and the attacks that every one is put through.


_HALF = "made on a condensation of a random half of {what}; the other half are the people who are not in it"
_BY_HALVES = (Membership.name, NearestNeighbour.name)
_MOST = 200_000
"""Of larger tables so many rows are condensed for it, in parts of records that lie together."""
_PART = 4000
"""About so many rows of a part."""


def attack(release: CondensedRelease, work: Work) -> Audit:
    """Single out, link, and tell who is in the table; more than the plan allows is refused.

    Where no control file is given, the membership of people in a condensation of one half of the table is attacked with
    the other half as people who are not in it: the same table, k and options. Of a large table some parts are halved.
    """
    attack_plan, chance = release.plan.attack, Chance(seed=release.plan.algorithm.seed)
    if not attack_plan.run:
        return Audit()
    control = None if attack_plan.control is None else load_table(release.plan, None, attack_plan.control)
    subject = _release_subject(release, release.prepared, release.rows, control)
    audit = attacked(subject, attack_plan, work, chance, kind="condensed")
    waiting = [name for name in _BY_HALVES if not audit.skipped.get(name, "the time").startswith("the time")]
    if control is None and waiting:
        audit = _halved(release, audit, waiting, chance)
    audit.refuse(attack_plan.max_risk, attack_plan.accept)
    return audit


def _halved(release: CondensedRelease, audit: Audit, names: list[str], chance: Chance) -> Audit:
    """Membership, measured on a condensation of one half; of a large table, of one half of some parts of it."""
    refused = ""
    for rows, what in _tried(release, chance):
        try:
            subject = _half(release, rows, chance)
        except Infeasible as error:
            refused = f"no control file, and of half {what}: {error}"
            continue
        parts, trials = catalog().chosen_attacks(names, "condensed"), release.plan.attack.trials
        runs = [(name, part.make(trials).run(subject, chance, None)) for name, part in parts.items()]
        findings = [replace(finding, attack=name, note=_HALF.format(what=what)) for name, finding in runs]
        skipped = {title: why for title, why in audit.skipped.items() if title not in names}
        return replace(audit, findings=(*audit.findings, *findings), skipped=skipped)
    return replace(audit, skipped={**audit.skipped, **dict.fromkeys(names, refused)})


def _tried(release: CondensedRelease, chance: Chance) -> Iterator[tuple[Ids, str]]:
    """Rows that are halved, in random order, and what they are: some of a large table, or all.

    Whole neighbourhoods are taken, so that records have the neighbours that they have in the table. Groups are numbered
    part by part of the table: those with numbers next to each other lie together.
    """
    draw, rows = chance.generator(), release.prepared.source.rows
    if rows > _MOST:
        part = release.outcome.groups * release.condense.k // _PART
        chosen = draw.permutation(int(part.max()) + 1)
        many = np.cumsum(np.bincount(part)[chosen])
        inside = np.isin(part, chosen[: int(np.searchsorted(many, _MOST)) + 1])
        some = np.flatnonzero(inside)
        yield some[draw.permutation(len(some))], f"{len(some):,} rows of the table that lie together in parts"
    yield chance.generator().permutation(rows), "the table"


def _half(release: CondensedRelease, order: Ids, chance: Chance) -> Subject:
    """A condensation of the first half of some rows, with the second half as people who are not in it."""
    middle = len(order) // 2
    inside, outside = (release.prepared.some(np.sort(part)) for part in (order[:middle], order[middle:]))
    work = Work()
    work.chance = chance
    outcome = release.condense(inside.problem, work)
    draw = chance.generator()
    if release.condense.output == "distributions":
        rows = inside.uncertain(outcome, draw)
    else:
        rows = inside.drawn(release.condense, outcome, draw)
    return _release_subject(release, inside, rows, outside.source.table)


def _release_subject(
    release: CondensedRelease, prepared: CondensePrepared, rows: pl.DataFrame, control: Table | None
) -> Subject:
    kinds = {column.name: column.kind for column in prepared.condensed}
    return _subject(rows, kinds, prepared.dealt, prepared.source.table, control, release.algorithm)


def bundle_subject(
    folder: Path, manifest: Mapping[str, Any], original: Table, *, control: Table | None, plan: Plan | None
) -> Subject:
    """A bundle as an attacker finds it; the original has every column that it shows."""
    published, stated = Published.from_json(manifest["data"]), manifest["recoding"]["columns"]
    rows = read_released(folder / str(manifest["data"]["file"]), manifest, published.missing).frame
    visible_columns = [column for column in published.columns if stated[column.name] != "spread"]
    original = replace(original, missing=published.missing or original.missing)
    for column in visible_columns:
        if column.name not in original.names:
            raise unknown_column(column.name, original.names, where="--original")
    if manifest["plan"]["input"]["on_missing"] == "drop":
        absent = np.zeros(original.rows, np.bool_)
        for column in visible_columns:
            absent |= original.is_missing(column.name).to_numpy()
        original = replace(original, frame=original.frame.filter(~pl.Series(absent)))
    if not original.rows:
        raise BundleError(f"{folder}: the original has no row that the release can have been made from")
    kinds = {c.name: _kind(original, c.name, c.kind) for c in visible_columns if stated[c.name] != "dealt"}
    dealt = tuple(column.name for column in visible_columns if stated[column.name] == "dealt")
    return _subject(rows, kinds, dealt, original, control, str(manifest["recoding"]["algorithm"]))


def _kind(original: Table, name: str, stated: str) -> str:
    """How a column of numbers is read; means of dates are days, and so the original says what they are."""
    return "date" if original.column(name).kind == "date" else stated


def _subject(
    rows: pl.DataFrame,
    kinds: Mapping[str, str],
    dealt: tuple[str, ...],
    original: Table,
    control: Table | None,
    algorithm: str,
) -> Subject:
    """All published columns as what others may know: condensation treats them alike."""
    readable = [name for name in dealt if not rows[name].dtype.is_nested() and rows[name].dtype != pl.Binary]
    names = (*kinds, *readable)
    mark = next(iter(original.missing), "")
    release = pl.DataFrame([_text(rows[name], kinds.get(name), mark) for name in names])
    people = pl.DataFrame([_text(original.frame[name], kinds.get(name), mark) for name in names])
    others = None
    if control is not None:
        for name in names:
            if name not in control.names:
                raise unknown_column(name, control.names, where="the control file")
        others = pl.DataFrame([_text(control.frame[name], kinds.get(name), mark) for name in names])
    known = people if others is None else pl.concat([people, others])
    return Subject(
        release=release,
        quasi=names,
        sensitive=(),
        coverage={name: _coverage(release[name], known[name], drawn=name in kinds) for name in names},
        people=people,
        control=others,
        algorithm=algorithm,
        numeric=frozenset(kinds),
        drawn=frozenset(kinds),
        synthetic=True,
    )


def _text(cells: pl.Series, kind: str | None, mark: str) -> pl.Series:
    """Cells as texts that can be compared; dates as day numbers."""
    if kind == "date" and not cells.dtype.is_float():
        days = cells.cast(pl.Date) if cells.dtype.is_temporal() else cells.cast(pl.String).str.to_date(strict=False)
        cells = days.to_physical() + CONDENSED_EPOCH
    return cells.cast(pl.String).fill_null(mark)


def _coverage(released: pl.Series, known: pl.Series, *, drawn: bool) -> Coverage:
    """Words stand for themselves; drawn numbers cover nobody, and no table of who covers whom is laid out."""
    labels, values = (tuple(cells.unique().sort().to_list()) for cells in (released, known))
    if drawn:
        return Coverage(labels=labels, values=values, covers=np.broadcast_to(np.False_, (len(labels), len(values))))
    place = {value: at for at, value in enumerate(values)}
    covers = np.zeros((len(labels), len(values)), np.bool_)
    for row, label in enumerate(labels):
        if label in place:
            covers[row, place[label]] = True
    return Coverage(labels=labels, values=values, covers=covers)
