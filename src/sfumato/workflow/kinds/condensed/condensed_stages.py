"""The stages of a condensed release: read, prepare, search, recode, judge, and make again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.bundle.published import Published, PublishedColumn
from sfumato.data.table import Kind as CellKind
from sfumato.data.table import Table
from sfumato.ground.chance import Chance
from sfumato.ground.errors import BundleError, ClaimRefuted
from sfumato.ground.work import Work
from sfumato.utility.covariances import compatibility
from sfumato.verification.checks import Check, same
from sfumato.verification.condensed_checks import FEW, groups_claim
from sfumato.verification.verifying import tables_of
from sfumato.workflow.kinds.condensed import CONDENSE
from sfumato.workflow.kinds.condensed.condensed_beside import beside_original, shown_numbers
from sfumato.workflow.kinds.condensed.condensed_plan import algorithm_of, why
from sfumato.workflow.kinds.condensed.condensed_release import CondensedRelease, sizes_of
from sfumato.workflow.kinds.condensed.condensed_table import SPREAD, CondensePrepared, prepared_table
from sfumato.workflow.kinds.kind import Asked, Kind, Searched
from sfumato.workflow.loading import load_table, marked
from sfumato.workflow.plan.plan import Plan


def read(asked: Asked) -> Table:
    """The table."""
    return marked(load_table(asked.plan, asked.like, asked.plan.input.path), asked.plan)


def prepare(asked: Asked, table: Table) -> CondensePrepared:
    """Describe the columns, and read their numbers."""
    return prepared_table(asked.plan, table)


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
    for one in beside_original(prepared, condense, found.outcome, rows):
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
        utility={"covariance compatibility": compatibility(prepared.problem.numbers, shown_numbers(prepared, rows))},
        algorithm=found.algorithm,
        why=found.why,
        like=asked.like,
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
    if "stream" in manifest:
        raise BundleError(
            f"{folder} is a batch of a stream: which records it was drawn from was not kept, so it cannot be made "
            "again; verify it without --plan"
        )
    asked = Asked(plan=plan, keys={}, like=original)
    prepared = prepare(asked, read(asked))
    condense = algorithm_of(plan)
    outcome = condense(prepared.problem, work.within(None))
    sizes = [list(pair) for pair in sizes_of(outcome)]
    yield same("sizes of the groups that are made again", sizes, [list(pair) for pair in manifest["recoding"]["sizes"]])
    yield from beside_original(prepared, condense, outcome, tables_of(folder, manifest)["data"].frame)
