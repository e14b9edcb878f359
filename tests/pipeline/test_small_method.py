"""A small method needs one file and one entry of a list: rounded rows are released, reported and verified."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.bundles.provenance import Check, same
from sfumato.core.run_context import Work
from sfumato.counts.local_table import LocalTable
from sfumato.pipeline.catalog import BUILT_IN
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.catalog.parts import MethodPart, Parts
from sfumato.pipeline.methods.method import Request
from sfumato.pipeline.methods.schema import schema_of, without_missing
from sfumato.pipeline.methods.supports import Supports
from sfumato.pipeline.methods.unclaimed import Original, UnclaimedRelease, UnclaimedRows, value_counts
from sfumato.reports.unclaimed_rows import UnclaimedFacts
from sfumato.tables.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """Round whole numbers to a multiple."""

    to: int = 10


class RoundedRows(UnclaimedRows):
    """Rows whose quasi-identifiers that are whole numbers are rounded."""

    name = "rounded"
    algorithm = "rounding"
    run = Rounding
    supports = Supports(title="rounding", models=())
    warning = "numbers were rounded and no privacy model was verified: these rows are not anonymous"
    outline = "Rounded, nothing is claimed"

    def done(self) -> str:
        return "Numbers were rounded."

    def prepare(self, request: Request, table: Table) -> Original:
        source = LocalTable(table)
        schema = schema_of(request.plan, source.names, open_columns=source.names)
        source, dropped = without_missing(request.plan, source, schema)
        return Original(table=source.table, schema=schema, dropped_rows=dropped)

    def search(self, original: Original, plan: sf.Plan, work: Work) -> Any:
        to = self.options(plan).to
        numbers = [n for n in original.schema.quasi if original.table.column(n).kind == "integer"]
        return {n: (original.cells(n).cast(pl.Int64) / to).round().cast(pl.Int64) * to for n in numbers}

    def columns(self, original: Original, outcome: Any) -> Mapping[str, pl.Series]:
        return outcome

    def verify(self, original: Original, outcome: Any, rows: pl.DataFrame) -> None:
        pass

    def subjects(self, release: UnclaimedRelease, attack: Any) -> Mapping[str, Any]:
        return {}

    def recoding(self, release: UnclaimedRelease) -> dict[str, Any]:
        return {"columns": list(release.changed), "options": {"to": self.options(release.plan).to}}

    def own_checks(self, manifest: Mapping[str, Any], table: Table) -> Iterable[Check]:
        to = manifest["recoding"]["options"]["to"]
        for name in manifest["recoding"]["columns"]:
            odd = (table.frame[name].cast(pl.Int64) % to != 0).sum()
            yield same(f"cells of {name} that are not rounded", odd, 0)

    def again(
        self, original: Original, plan: sf.Plan, manifest: Mapping[str, Any], rows: pl.DataFrame
    ) -> Iterable[Check]:
        yield same(
            "columns that are rounded", manifest["recoding"]["columns"], list(self.search(original, plan, Work()))
        )

    def facts(self, manifest: Mapping[str, Any], rows: pl.DataFrame, common: Mapping[str, Any]) -> UnclaimedFacts:
        names = manifest["recoding"]["columns"]
        return UnclaimedFacts(**common, columns=tuple((n, "", value_counts(rows[n])) for n in names))

    def summarized(self, release: UnclaimedRelease) -> dict[str, Any]:
        return {"heads": ("column",), "cells": tuple((n,) for n in release.changed)}

    def figures(self, release: UnclaimedRelease) -> dict[str, Any]:
        return {"columns": list(release.changed)}


ENTRY = MethodPart(
    name="rounded",
    load=lambda: RoundedRows().method,
    requested=lambda plan: plan.algorithm.name == "rounding",
    algorithms=("rounding",),
)


@pytest.fixture
def listed() -> Iterator[None]:
    def parts() -> Parts:
        return Parts(methods=(ENTRY,))

    BUILT_IN.append(parts)
    catalog.cache_clear()
    yield
    BUILT_IN.remove(parts)
    catalog.cache_clear()


@pytest.mark.usefixtures("listed")
def test_a_method_of_one_file_is_released_reported_and_verified(tmp_path: Path):
    frame = sf.datasets.census(200, seed=1)
    columns = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}}
    plan = sf.Plan.parse({"columns": columns, "algorithm": {"name": "rounding", "to": 5}})
    release = sf.release(plan, frame)
    assert release.write(tmp_path / "out").holds
    assert {age % 5 for age in release.rows["age"].cast(pl.Int64)} == {0}
    assert "Nothing is promised about the people" in (tmp_path / "out" / "report.html").read_text()
    assert sf.verify_again(tmp_path / "out", plan=plan, original=frame).holds
    with pytest.raises(sf.PlanError, match="rounding meets no privacy model"):
        sf.Plan.parse({"columns": columns, "algorithm": {"name": "rounding"}, "privacy": {"k_anonymity": 5}})
    with pytest.raises(sf.BundleError, match="whose row is whose"):
        sf.attack(tmp_path / "out", frame)


def test_it_is_gone_when_it_is_not_listed():
    with pytest.raises(sf.PlanError, match="'rounding' is not known"):
        sf.Plan.parse({"columns": {"age": {"role": "quasi"}}, "algorithm": {"name": "rounding"}})
