"""Swapped rows as a method: values are exchanged among similar rows; no model is claimed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from sfumato.algorithms.value_swapping import Swapping, SwapProblem, Swaps
from sfumato.attacks.neighbours import NearestRecord
from sfumato.attacks.subject import Coverage, Subject
from sfumato.bundles.checks.unclaimed import NOT_ANONYMOUS, kept_exactly, swap_checks
from sfumato.bundles.provenance import Check
from sfumato.core.errors import ClaimRefuted, PlanError, unknown_column
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.counts.keys import Ids, distinct
from sfumato.counts.local_table import LocalTable
from sfumato.pipeline.methods.method import Request
from sfumato.pipeline.methods.schema import refuse_nested, schema_of, without_missing
from sfumato.pipeline.methods.supports import Supports
from sfumato.pipeline.methods.unclaimed import (
    PUBLISHED,
    Original,
    UnclaimedRelease,
    UnclaimedRows,
    as_texts,
    value_counts,
)
from sfumato.pipeline.plan.hierarchies import builder
from sfumato.pipeline.plan.plan import Plan
from sfumato.reports.language import translated
from sfumato.reports.unclaimed_rows import SwappedFacts
from sfumato.tables.table import Table


class SwappedRows(UnclaimedRows):
    """Rows whose values were exchanged with similar rows."""

    name = "swapped"
    algorithm = "swapping"
    run = Swapping
    adversaries = MappingProxyType({NearestRecord.name: NearestRecord})
    supports = Supports(title="swapping", models=())
    warning = NOT_ANONYMOUS
    outline = "Swapped, nothing is claimed"

    def done(self) -> str:
        """What was done, in a sentence."""
        return translated(
            "Values were exchanged between rows: every value was somebody's, and many stand in another row now."
        )

    def check(self, plan: Plan) -> None:
        """Refuse to exchange columns that are not published."""
        swapping: Swapping = self.options(plan)
        for name in (*swapping.columns, *swapping.within):
            if name not in plan.columns or plan.columns[name].role not in PUBLISHED:
                where = "algorithm.columns" if name in swapping.columns else "algorithm.within"
                raise PlanError(f"{where}: {name!r} is not published; give it a role in [columns]")

    def prepare(self, request: Request, table: Table) -> Original:
        """Describe the columns, and number the groups of similar rows."""
        plan, source = request.plan, LocalTable(table)
        schema = schema_of(plan, source.names, open_columns=source.names)
        refuse_nested(plan, source, schema)
        source, dropped = without_missing(plan, source, schema)
        problem = SwapProblem(
            quasi=schema.quasi,
            published=schema.named(*PUBLISHED),
            similar=_similar(plan, source, self.options(plan)),
        )
        return Original(table=source.table, schema=schema, problem=problem, dropped_rows=dropped)

    def search(self, original: Original, plan: Plan, work: Work) -> Swaps:
        """Draw who exchanges values with whom."""
        inner = work.within(None)
        inner.chance = Chance(seed=plan.algorithm.seed)
        swaps: Swaps = self.options(plan)(original.problem, inner)
        return swaps

    def columns(self, original: Original, outcome: Swaps) -> Mapping[str, pl.Series]:
        """The columns with the values that every row took."""
        return {name: original.cells(name).gather(sources) for name, sources in outcome.sources.items()}

    def verify(self, original: Original, outcome: Swaps, rows: pl.DataFrame) -> None:
        """Refuse rows with values that the original does not have."""
        before, after = original.texts(original.published), as_texts(rows.select(original.published))
        groups = pl.Series(original.problem.similar)
        for check in kept_exactly(before, after, list(outcome.sources), groups):
            if not check.holds:
                raise ClaimRefuted(f"{self.algorithm} gave rows with other {check.what}; nothing was written")

    def utility(self, original: Original, outcome: Swaps, rows: pl.DataFrame) -> dict[str, float]:
        """The share of rows that show another value than their own, by column."""
        before, after = original.texts(outcome.sources), as_texts(rows.select(list(outcome.sources)))
        differ = {name: before[name].ne_missing(after[name]) for name in outcome.sources}
        return {f"changed {name}": float(cells.mean() or 0.0) for name, cells in differ.items()}  # type: ignore[arg-type]

    def subjects(self, release: UnclaimedRelease, attack: Any) -> Mapping[str, Subject]:
        """The released rows and the people behind them; every value stands for itself."""
        original, schema = release.original, release.original.schema
        names = (*schema.quasi, *schema.sensitive)
        mark = next(iter(original.table.missing), "")
        people = pl.DataFrame([original.cells(name) for name in names]).select(pl.all().cast(pl.String).fill_null(mark))
        released = release.rows.select(pl.col(names).cast(pl.String).fill_null(mark))
        kinds = {name: original.table.column(name, release.plan.columns[name].type).kind for name in names}  # type: ignore[arg-type]
        subject = Subject(
            release=released,
            quasi=schema.quasi,
            sensitive=schema.sensitive,
            coverage={name: Coverage.plain(people[name].unique().sort().to_list()) for name in schema.quasi},
            people=people,
            algorithm=release.algorithm,
            numeric=frozenset(name for name, kind in kinds.items() if kind in ("integer", "real")),
            own=release.own,
        )
        return {"": subject}

    def recoding(self, release: UnclaimedRelease) -> dict[str, Any]:
        """How many values really changed depends on the original, and is the steward's."""
        swapping: Swapping = self.options(release.plan)
        return {
            "rate": float(swapping.rate),
            "columns": list(release.outcome.sources),
            "within": dict(swapping.within),
        }

    def own_checks(self, manifest: Mapping[str, Any], table: Table) -> Iterable[Check]:
        """What is stated about the exchange is what the plan asks for."""
        return swap_checks(manifest)

    def again(self, original: Original, plan: Plan, manifest: Mapping[str, Any], rows: pl.DataFrame) -> Iterable[Check]:
        """The same values in every column, and the rest unchanged.

        Partners are drawn anew whenever a release is made, so rows are not compared one by one.
        """
        names = [name for name in rows.columns if name in original.published]
        mark = next(iter(original.table.missing), "")
        frames = original.texts(names), as_texts(rows.select(names))
        before, after = (frame.with_columns(pl.col(pl.String).fill_null(mark)) for frame in frames)
        return kept_exactly(before, after, [str(name) for name in manifest["recoding"]["columns"]])

    def facts(self, manifest: Mapping[str, Any], rows: pl.DataFrame, common: Mapping[str, Any]) -> SwappedFacts:
        """The values of every exchanged column."""
        stated = manifest["recoding"]
        names = [column["name"] for column in manifest["data"]["columns"] if column["name"] in stated["columns"]]
        return SwappedFacts(
            **common,
            rate=float(stated["rate"]),
            within=tuple((name, int(level)) for name, level in stated["within"].items()),
            left_out=int(stated.get("left_out", 0)),
            columns=tuple((name, "", value_counts(rows[name])) for name in names),
        )

    def summarized(self, release: UnclaimedRelease) -> dict[str, Any]:
        """The share of rows that show another value, by column."""
        return {
            "details": f" with {self.options(release.plan).rate:.3g} exchanged",
            "heads": ("column", "rows that show another value"),
            "cells": tuple((name, f"{share:.1%}") for name, share in _changed(release).items()),
        }

    def figures(self, release: UnclaimedRelease) -> dict[str, Any]:
        """The rate, and the share of rows that show another value, by column."""
        return {"rate": float(self.options(release.plan).rate), "changed": _changed(release)}


def _changed(release: UnclaimedRelease) -> dict[str, float]:
    return {name.removeprefix("changed "): share for name, share in release.utility.items()}


def _similar(plan: Plan, source: LocalTable, swapping: Swapping) -> Ids:
    """The group of each row: rows that agree in the columns of ``within``, each on its level."""
    codes, sizes = [], []
    for name, level in swapping.within.items():
        if name not in source.names:
            raise unknown_column(name, source.names, where="algorithm.within")
        domain = source.domain(name, plan.columns[name].type)  # type: ignore[arg-type]
        column_codes = source.coded(domain).codes
        if level:
            tree = plan.columns[name].hierarchy
            if tree is None:
                raise PlanError(f"columns.{name}.hierarchy is missing; algorithm.within asks for its level {level}")
            levels = builder(tree, f"columns.{name}.hierarchy", plan.folder).build(domain).levels
            if level >= len(levels):
                raise PlanError(
                    f"algorithm.within.{name}: the hierarchy has levels 0 to {len(levels) - 1}, not {level}"
                )
            column_codes = levels[level].parent[column_codes]
        codes.append(column_codes.astype(np.int32))
        sizes.append(int(column_codes.max(initial=0)) + 1)
    return distinct(codes, sizes, source.rows)[0] if codes else np.zeros(source.rows, np.int64)


METHOD = SwappedRows().method
