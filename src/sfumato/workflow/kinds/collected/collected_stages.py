"""The stages of a release of collected answers: read, prepare, search, recode, judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.bundle.claims import Claim
from sfumato.bundle.published import Published, PublishedColumn
from sfumato.bundle.recoding import one_marker
from sfumato.collect.noisy_numbers import NoisyNumber
from sfumato.collect.specification import Question, Specification
from sfumato.data.table import Table, as_text, plain_cells
from sfumato.describe.roles import Role
from sfumato.ground.brief import Brief
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ClaimRefuted, DataError, PlanError, unknown_column
from sfumato.ground.work import Work
from sfumato.verification.stated_coins import Amount, claims_of, false_promises
from sfumato.workflow.kinds.collected import RECONSTRUCT
from sfumato.workflow.kinds.collected.collected_plan import BESIDE, algorithm_of, specification_of
from sfumato.workflow.kinds.collected.collected_release import CollectedRelease
from sfumato.workflow.kinds.kind import Asked, Kind, Searched
from sfumato.workflow.loading import load_table, marked, read_file
from sfumato.workflow.plan.plan import Plan

_WHY = "Randomized answers are published as they are, and their distributions are estimated."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Received(Brief):
    """What came in."""

    spec: Specification
    """How answers were randomized."""
    table: Table
    """The shown answers, and what stands beside them."""
    truth: Table | None
    """The true answers of a study."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CollectedPrepared(Brief):
    """Answers that were read."""

    spec: Specification
    """How they were randomized."""
    shown: pl.DataFrame
    """A column for every question, as texts that the question writes."""
    beside: pl.DataFrame
    """The columns that are published as they are."""
    dropped: int
    """Rows left out because an answer was missing."""
    missing: tuple[str, ...]
    """What marks a missing value beside the answers."""
    truth: Mapping[str, Sequence[Any]] | None
    """Of a study: the code of every true answer, by question."""


def read(asked: Asked) -> Received:
    """The specification, the answers, and of a study the true ones."""
    plan, spec = asked.plan, specification_of(asked.plan)
    table = marked(load_table(plan, asked.like, plan.input.path), plan)
    told = None if plan.collection is None else plan.collection.truth
    return Received(spec=spec, table=table, truth=None if told is None else read_file(Path(plan.folder) / told))


def prepare(asked: Asked, came: Received) -> CollectedPrepared:
    """Read every answer as its question writes it; one that it cannot have shown is refused."""
    plan, spec, table = asked.plan, came.spec, came.table
    names = [one.name for one in spec.questions]
    for name in names:
        table.require(name, where="collection.spec")
    _refuse_columns(plan, names, table)
    if came.truth is not None and came.truth.rows != table.rows:
        raise DataError(
            f"collection.truth has {came.truth.rows:,} rows, and the answers have {table.rows:,}; it must have the "
            "true answers of the same people in the same order"
        )
    kept = _complete(plan, table, names)
    if not len(kept):
        raise DataError(f"{table.source}: no row answers every question; nothing could be learnt")
    some = Table(frame=table.frame[kept], source=table.source, missing=table.missing)
    beside = [name for name in table.names if name in plan.columns and plan.columns[name].role in BESIDE]
    return CollectedPrepared(
        spec=spec,
        shown=pl.DataFrame([_written(one, some) for one in spec.questions]),
        beside=some.frame.select(_cells(some, name, plan) for name in beside),
        dropped=table.rows - len(kept),
        missing=table.missing,
        truth=None if came.truth is None else _true(spec, came.truth, kept),
    )


def _refuse_columns(plan: Plan, names: Sequence[str], table: Table) -> None:
    for name in plan.columns:
        if name in names:
            raise PlanError(f"columns.{name}: it is a question, which the specification describes; remove it")
        if name not in table.names:
            raise unknown_column(name, table.names, where=f"columns.{name}")


def _complete(plan: Plan, table: Table, names: Sequence[str]) -> NDArray[np.int64]:
    """The rows with an answer to every question; others are refused unless the plan leaves them out."""
    gap = np.zeros(table.rows, np.bool_)
    for name in names:
        blank = as_text(table.frame[name]).str.strip_chars().fill_null("") == ""
        mine = (table.is_missing(name) | blank).to_numpy()
        if mine.any() and plan.input.on_missing == "keep":
            raise DataError(
                f"{table.source}, column {name!r}, row {int(mine.argmax()) + 1}: there is no answer; leave such rows "
                'out with [input] on_missing = "drop"'
            )
        gap |= mine
    return np.flatnonzero(~gap)


def _written(question: Question, table: Table) -> pl.Series:
    """The answers as the question writes them."""
    any_question: Any = question
    texts = as_text(table.frame[question.name])
    known = texts.unique()
    try:
        written = [any_question.write(any_question.read(one)) for one in known]
    except DataError as fault:
        raise DataError(f"{table.source}: {fault}") from None
    return texts.replace_strict(known, pl.Series(written, dtype=pl.String), return_dtype=pl.String)


def _cells(table: Table, name: str, plan: Plan) -> pl.Series:
    cells = plain_cells(table.frame[name])
    return cells if plan.columns[name].role is Role.KEEP else one_marker(cells, table.missing)


def _true(spec: Specification, truth: Table, kept: NDArray[np.int64]) -> dict[str, list[Any]]:
    """The code of every true answer."""
    found = {}
    for one in spec.questions:
        any_question: Any = one
        texts = as_text(truth.require(one.name, where="collection.truth"))[kept].fill_null("").to_list()
        try:
            known = {text: any_question.code(text) for text in set(texts)}
        except DataError as fault:
            raise DataError(f"collection.truth: {fault}") from None
        found[one.name] = [known[text] for text in texts]
    return found


def search(asked: Asked, ready: CollectedPrepared, work: Work) -> Searched:
    """Estimate the distribution of true answers."""
    found = algorithm_of(asked.plan)(ready.spec, {name: ready.shown[name].to_list() for name in ready.shown.columns})
    named = asked.plan.algorithm.name == RECONSTRUCT
    return Searched(prepared=ready, outcome=found, algorithm=RECONSTRUCT, why="Named in the plan." if named else _WHY)


def recode(asked: Asked, found: Searched) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """The rows in random order, numbers as numbers; and from which row each came."""
    ready: CollectedPrepared = found.prepared
    answers = [_typed(one, ready.shown[one.name]) for one in ready.spec.questions]
    order = Chance(seed=asked.plan.algorithm.seed).generator().permutation(ready.shown.height)
    return pl.DataFrame([*answers, *ready.beside.get_columns()])[order], order


def _typed(question: Question, cells: pl.Series) -> pl.Series:
    if not isinstance(question, NoisyNumber):
        return cells
    texts = cells if cells.dtype.is_numeric() else cells.cast(pl.String)
    return texts.cast(pl.Int64 if _is_whole(question) else pl.Float64)


def _is_whole(question: NoisyNumber) -> bool:
    return question.low.denominator == question.step.denominator == 1


def judge(
    kind: Kind, asked: Asked, found: Searched, recoded: tuple[pl.DataFrame, NDArray[np.int64]]
) -> CollectedRelease:
    """Claim what the coins give, as the verifier computes it from their numbers."""
    ready: CollectedPrepared = found.prepared
    rows, order = recoded
    tree = ready.spec.to_json()
    false = list(false_promises(tree))
    if false:
        raise ClaimRefuted(f"collection.spec: {false[0]} is not what its coins give; nothing was written")
    return CollectedRelease(
        kind=kind,
        plan=asked.plan,
        prepared=ready,
        estimates=found.outcome,
        order=order,
        rows=rows,
        published=_published(asked.plan, ready, rows),
        claims=tuple(map(_claim, claims_of(tree))),
        utility={},
        algorithm=found.algorithm,
        why=found.why,
        like=asked.like,
    )


def _claim(stated: Mapping[str, Any]) -> Claim:
    told = stated["parameters"]
    value = float(Amount.read(told["epsilon"])) if "epsilon" in told else float(told["width"])
    return Claim(
        model=stated["model"],
        parameters=told,
        holds=True,
        sense="at most" if "epsilon" in told else "at least",
        limit=value,
        reading="value",
        as_value=value,
        as_wildcard=value,
        classes_failing=0,
        note="by the coins of the specification",
    )


def _published(plan: Plan, ready: CollectedPrepared, rows: pl.DataFrame) -> Published:
    kinds = {
        one.name: "text" if not isinstance(one, NoisyNumber) else "integer" if _is_whole(one) else "real"
        for one in ready.spec.questions
    }

    def described(name: str) -> PublishedColumn:
        if name in kinds:
            return PublishedColumn(name=name, role=Role.SENSITIVE, kind=kinds[name])  # type: ignore[arg-type]
        role = plan.columns[name].role
        guessed = Table(frame=rows.select(name), missing=ready.missing).column(name).kind
        kind: Any = "text" if role is Role.KEEP else plan.columns[name].type or guessed
        return PublishedColumn(name=name, role=role, kind=kind)

    return Published(columns=tuple(map(described, rows.columns)), rows=rows.height, missing=ready.missing)
