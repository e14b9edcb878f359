"""The stages of a release of randomized answers: plan, read, prepare, search, recode, judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.bundles.checks.collected import AT_THE_SOURCE, STUDY, Amount, beside_mark, claims_of, false_promises
from sfumato.bundles.columns import Published, PublishedColumn
from sfumato.bundles.recoding import one_marker
from sfumato.collection.estimates import Estimates, Reconstruction
from sfumato.collection.mechanisms import NoisyNumber
from sfumato.collection.specification import Question, Specification
from sfumato.core.claims import Claim
from sfumato.core.errors import ClaimRefuted, DataError, PlanError, unknown_column
from sfumato.core.input_files import read_text
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.counts.near_unique import NearUnique, asked_size, near_unique_columns
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.catalog.parts import configured
from sfumato.pipeline.inputs import load_table, marked, read_file
from sfumato.pipeline.methods.method import Method, Request, SearchResult
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import Release
from sfumato.tables.schema import Role
from sfumato.tables.table import Table, as_text, plain_cells

# What a plan of collected answers can say.


RECONSTRUCT = "reconstruct"
"""The algorithm that makes this kind."""
BESIDE = (Role.KEEP, Role.TARGET)
"""The roles of columns that stand beside the answers; no coin was thrown for them."""


def algorithm_of(plan: Plan) -> Reconstruction:
    """The algorithm with the plan's options."""
    algorithm: Reconstruction = configured(
        catalog().algorithms[RECONSTRUCT], plan.algorithm.options, other_keys=("name", "seed")
    )
    return algorithm


def check(plan: Plan) -> None:
    """Refuse what a release of collected answers cannot do."""
    if plan.algorithm.name not in ("auto", RECONSTRUCT):
        raise PlanError(
            f"algorithm.name: {plan.algorithm.name!r} does not take randomized answers; with [collection] it is "
            f"{RECONSTRUCT!r}, or leave it out"
        )
    algorithm_of(plan)
    for name, column in plan.columns.items():
        if column.role not in (*BESIDE, Role.DROP):
            raise PlanError(
                f"columns.{name}.role: a column beside the answers is published as it is ('keep' or 'target') or not "
                f"at all ('drop'), not '{column.role}'; answers need no [columns], the specification describes them"
            )


def begin(request: Request) -> Request:
    """Refuse a specification that is none before the answers are read."""
    specification_of(request.plan)
    return request


def specification_of(plan: Plan) -> Specification:
    """The specification that the plan names."""
    if plan.collection is None:
        raise PlanError("collection.spec is missing; name the specification that `sfumato collect design` wrote")
    plan.collection.refuse_files(plan.folder)
    path = plan.folder / plan.collection.spec
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as fault:
        raise PlanError(f"collection.spec: {path} cannot be read: {fault}") from None
    return Specification.parse(text, where=f"collection.spec: {path}")


# A release of answers that were randomized at the source.


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CollectedRelease(Release):
    """Shown answers with their specification and the distributions that are estimated from them."""

    prepared: CollectedPrepared
    """The answers as they came in."""
    estimates: Estimates
    """What is estimated."""
    order: NDArray[np.int64]
    """From which row of the input each released row came."""
    published: Published
    """What a verifier must know to read the rows."""

    @property
    def specification(self) -> dict[str, Any]:
        """As the manifest states it."""
        return self.prepared.spec.to_json()

    @cached_property
    def near_unique(self) -> tuple[NearUnique, ...]:
        """The columns beside the answers that nearly single people out."""
        roles = {name: self.published.schema.roles[name] for name in self.prepared.beside.columns}
        return near_unique_columns(self.rows, roles, self.published.missing, asked_size(()))

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release: first of all, what nobody can verify."""
        study = self.plan.collection is not None and self.plan.collection.truth is not None
        other_columns = self.prepared.beside.columns
        warnings = [
            AT_THE_SOURCE,
            *([STUDY] if study else []),
            *([beside_mark(other_columns)] if other_columns else []),
        ]
        return [*warnings, *super().marks, *(column.told for column in self.near_unique)]


# The stages of a release of collected answers: read, prepare, search, recode, judge.


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


def read(request: Request) -> Received:
    """The specification, the answers, and of a study the true ones."""
    plan, spec = request.plan, specification_of(request.plan)
    table = marked(load_table(plan, request.like, plan.input.path), plan)
    truth_path = None if plan.collection is None else plan.collection.truth
    return Received(
        spec=spec, table=table, truth=None if truth_path is None else read_file(Path(plan.folder) / truth_path)
    )


def prepare(request: Request, came: Received) -> CollectedPrepared:
    """Read every answer as its question writes it; one that it cannot have shown is refused."""
    plan, spec, table = request.plan, came.spec, came.table
    names = [question.name for question in spec.questions]
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
    other_columns = [name for name in table.names if name in plan.columns and plan.columns[name].role in BESIDE]
    return CollectedPrepared(
        spec=spec,
        shown=pl.DataFrame([_written(question, some) for question in spec.questions]),
        beside=some.frame.select(_cells(some, name, plan) for name in other_columns),
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
        written = [any_question.write(any_question.read(text)) for text in known]
    except DataError as fault:
        raise DataError(f"{table.source}: {fault}") from None
    return texts.replace_strict(known, pl.Series(written, dtype=pl.String), return_dtype=pl.String)


def _cells(table: Table, name: str, plan: Plan) -> pl.Series:
    cells = plain_cells(table.frame[name])
    return cells if plan.columns[name].role is Role.KEEP else one_marker(cells, table.missing)


def _true(spec: Specification, truth: Table, kept: NDArray[np.int64]) -> dict[str, list[Any]]:
    """The code of every true answer."""
    codes = {}
    for question in spec.questions:
        any_question: Any = question
        texts = as_text(truth.require(question.name, where="collection.truth"))[kept].fill_null("").to_list()
        try:
            known = {text: any_question.code(text) for text in set(texts)}
        except DataError as fault:
            raise DataError(f"collection.truth: {fault}") from None
        codes[question.name] = [known[text] for text in texts]
    return codes


def search(request: Request, ready: CollectedPrepared, work: Work) -> SearchResult:
    """Estimate the distribution of true answers."""
    estimates = algorithm_of(request.plan)(
        ready.spec, {name: ready.shown[name].to_list() for name in ready.shown.columns}
    )
    named = request.plan.algorithm.name == RECONSTRUCT
    return SearchResult(
        prepared=ready, outcome=estimates, algorithm=RECONSTRUCT, why="Named in the plan." if named else _WHY
    )


def recode(request: Request, result: SearchResult) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """The rows in random order, numbers as numbers; and from which row each came."""
    ready: CollectedPrepared = result.prepared
    answers = [_typed(question, ready.shown[question.name]) for question in ready.spec.questions]
    order = Chance(seed=request.plan.algorithm.seed).generator().permutation(ready.shown.height)
    return pl.DataFrame([*answers, *ready.beside.get_columns()])[order], order


def _typed(question: Question, cells: pl.Series) -> pl.Series:
    if not isinstance(question, NoisyNumber):
        return cells
    texts = cells if cells.dtype.is_numeric() else cells.cast(pl.String)
    return texts.cast(pl.Int64 if _is_whole(question) else pl.Float64)


def _is_whole(question: NoisyNumber) -> bool:
    return question.low.denominator == question.step.denominator == 1


def judge(
    kind: Method, request: Request, result: SearchResult, recoded: tuple[pl.DataFrame, NDArray[np.int64]]
) -> CollectedRelease:
    """Claim what the coins give, as the verifier computes it from their numbers."""
    ready: CollectedPrepared = result.prepared
    rows, order = recoded
    tree = ready.spec.to_json()
    false = list(false_promises(tree))
    if false:
        raise ClaimRefuted(f"collection.spec: {false[0]} is not what its coins give; nothing was written")
    return CollectedRelease(
        kind=kind,
        plan=request.plan,
        prepared=ready,
        estimates=result.outcome,
        order=order,
        rows=rows,
        published=_published(request.plan, ready, rows),
        claims=tuple(map(_claim, claims_of(tree))),
        utility={},
        algorithm=result.algorithm,
        why=result.why,
        like=request.like,
    )


def _claim(stated: Mapping[str, Any]) -> Claim:
    parameters = stated["parameters"]
    value = float(Amount.read(parameters["epsilon"])) if "epsilon" in parameters else float(parameters["width"])
    return Claim(
        model=stated["model"],
        parameters=parameters,
        holds=True,
        sense="at most" if "epsilon" in parameters else "at least",
        limit=value,
        reading="value",
        as_value=value,
        as_wildcard=value,
        classes_failing=0,
        note="by the coins of the specification",
    )


def _published(plan: Plan, ready: CollectedPrepared, rows: pl.DataFrame) -> Published:
    kinds = {
        question.name: "text" if not isinstance(question, NoisyNumber) else "integer" if _is_whole(question) else "real"
        for question in ready.spec.questions
    }

    def described(name: str) -> PublishedColumn:
        if name in kinds:
            return PublishedColumn(name=name, role=Role.SENSITIVE, kind=kinds[name])  # type: ignore[arg-type]
        role = plan.columns[name].role
        guessed = Table(frame=rows.select(name), missing=ready.missing).column(name).kind
        kind: Any = "text" if role is Role.KEEP else plan.columns[name].type or guessed
        return PublishedColumn(name=name, role=role, kind=kind)

    return Published(columns=tuple(map(described, rows.columns)), rows=rows.height, missing=ready.missing)
