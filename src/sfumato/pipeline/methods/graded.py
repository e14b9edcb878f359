"""Graded pseudonyms as a method: codes and aliases that sites agreed on; no model is claimed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import polars as pl

from sfumato.algorithms.graded_pseudonyms import GradedPseudonyms
from sfumato.attacks.finding import Finding
from sfumato.attacks.pseudonyms import Frequencies, KnownPlaintext, PseudonymizedColumn
from sfumato.bundles.checks.unclaimed import PSEUDONYMIZED, kept_exactly, pseudonym_checks
from sfumato.bundles.provenance import Check
from sfumato.core.errors import BundleError, ClaimRefuted, PlanError, unknown_column
from sfumato.core.run_context import Work
from sfumato.pipeline.methods.method import Request, refused
from sfumato.pipeline.methods.supports import Supports
from sfumato.pipeline.methods.unclaimed import PUBLISHED, Original, UnclaimedRelease, UnclaimedRows, value_counts
from sfumato.pipeline.plan.plan import Plan
from sfumato.reports.language import translated
from sfumato.reports.unclaimed_rows import GradedFacts
from sfumato.tables.graded_secret import AliasTable, GradedColumn, GradedNumbers, GradedSecret
from sfumato.tables.schema import Role, Schema
from sfumato.tables.table import Kind, Table, as_text


class GradedRows(UnclaimedRows):
    """Rows with codes and aliases; the original's ``problem`` is the secret."""

    name = "graded"
    algorithm = "graded"
    run = GradedPseudonyms
    adversaries = MappingProxyType({KnownPlaintext.name: KnownPlaintext, Frequencies.name: Frequencies})
    supports = Supports(title="graded grouping", models=(), incomplete=False)
    warning = PSEUDONYMIZED
    outline = "Pseudonymized, nothing is claimed"
    apply = staticmethod(
        refused(
            "new records need the secret of the sites, which no bundle holds; use "
            "`sfumato graded apply DATA --secret FILE`",
            BundleError,
        )
    )
    packages = ("numpy", "polars", "cryptography")

    def done(self) -> str:
        """What was done, in a sentence."""
        return translated(
            "Values were replaced by codes and aliases, so that a miner works on names that mean nothing to them."
        )

    def begin(self, request: Request) -> Request:
        """Read the secret, and refuse a plan that leaves out an agreed column, before the table is read."""
        plan = request.plan
        for name in self.secret_of(plan).terms:
            if name not in plan.columns or plan.columns[name].role not in PUBLISHED:
                raise PlanError(f"columns.{name}: the sites agreed on this column, so give it a role that is published")
        return request

    def secret_of(self, plan: Plan) -> GradedSecret:
        """The secret that the plan names."""
        algorithm: GradedPseudonyms = self.options(plan)
        return GradedSecret.load(plan.folder / algorithm.secret)

    def prepare(self, request: Request, table: Table) -> Original:
        """The role of every column."""
        plan = request.plan
        for name in plan.columns:
            if name not in table.names:
                raise unknown_column(name, table.names, where=f"columns.{name}")
        roles = {name: plan.columns[name].role if name in plan.columns else Role.DROP for name in table.names}
        return Original(table=table, schema=Schema(roles=roles), problem=self.secret_of(plan))

    def search(self, original: Original, plan: Plan, work: Work) -> Mapping[str, pl.Series]:
        """Codes and aliases for every agreed column."""
        algorithm: GradedPseudonyms = self.options(plan)
        return algorithm.columns(original.table, original.problem)

    def columns(self, original: Original, outcome: Mapping[str, pl.Series]) -> Mapping[str, pl.Series]:
        """The codes and aliases."""
        return outcome

    def verify(self, original: Original, outcome: Mapping[str, pl.Series], rows: pl.DataFrame) -> None:
        """Every distinct value is read back and compared with what it was."""
        for name, column in original.problem.columns.items():
            frame = pl.DataFrame({"was": as_text(original.table.frame[name]), "is": outcome[name]})
            for was, now in frame.drop_nulls().unique().iter_rows():
                back = column.behind(now)
                same = column.shown(back) == now and (back == was or isinstance(column, GradedNumbers))
                if not same:
                    raise ClaimRefuted(f"column {name!r}: a value does not come back as it was; nothing was written")

    def kind_of(self, original: Original, name: str) -> Kind | None:
        """Codes are numbers, aliases are texts."""
        if name not in original.problem.terms:
            return None
        return "real" if isinstance(original.problem.columns[name], GradedNumbers) else "text"

    def subjects(self, release: UnclaimedRelease, attack: Any) -> Mapping[str, PseudonymizedColumn]:
        """The transformed columns as an attacker finds them: known pairs on numbers, frequencies on categories."""
        columns = {}
        for name, column in release.original.problem.columns.items():
            codes = isinstance(column, GradedNumbers)
            if codes is not isinstance(attack, KnownPlaintext):
                continue
            was = as_text(release.original.table.frame[name])
            pairs = pl.DataFrame({"shown": release.changed[name], "was": was}).drop_nulls()
            pseudonyms, true = (tuple(pairs[side].to_list()) for side in pairs.columns)
            columns[f" of {name}"] = PseudonymizedColumn(name=name, shown=pseudonyms, true=true, codes=codes)
        return columns

    def nothing_to_attack(self, attack: Any) -> str:
        """No column is of the form that an attack reads."""
        return "no column has codes" if isinstance(attack, KnownPlaintext) else "no column has aliases"

    def recoding(self, release: UnclaimedRelease) -> dict[str, Any]:
        """Nothing of ranges, values or key, but a commitment to all of them."""
        secret = release.original.problem
        names = [name for name in release.rows.columns if name in secret.columns]
        return {"agreement": secret.agreement, "columns": {name: _stated(secret.columns[name]) for name in names}}

    def own_checks(self, manifest: Mapping[str, Any], table: Table) -> Iterable[Check]:
        """Codes and aliases are such."""
        return pseudonym_checks(manifest, table)

    def again(self, original: Original, plan: Plan, manifest: Mapping[str, Any], rows: pl.DataFrame) -> Iterable[Check]:
        """The same rows, in any order, and the agreement of the secret."""
        expected_rows = self._rows(original, self.search(original, plan, Work()), {})
        agreement = manifest["recoding"]["agreement"]
        yield Check(what="agreement", holds=agreement == original.problem.agreement, detail="that of the secret")
        mark = next(iter(manifest["data"]["missing"]), "")
        before, after = (
            frame.select(pl.col(expected_rows.columns).cast(pl.String).fill_null(mark))
            for frame in (expected_rows, rows)
        )
        yield from kept_exactly(before, after, [])

    def facts(self, manifest: Mapping[str, Any], rows: pl.DataFrame, common: Mapping[str, Any]) -> GradedFacts:
        """Codes and aliases, and how often each is there."""
        stated, missing = manifest["recoding"], set(manifest["data"]["missing"])
        names = [column["name"] for column in manifest["data"]["columns"]]
        forms = {name: str(column["form"]) for name, column in stated["columns"].items()}
        return GradedFacts(
            **common,
            agreement=str(stated["agreement"]),
            columns=tuple((name, form, _counted(rows[name], form, missing)) for name, form in forms.items()),
            beside=tuple(name for name in names if name not in forms),
        )

    def summarized(self, release: UnclaimedRelease) -> dict[str, Any]:
        """What was done to each column."""
        descriptions = {"codes": "numbers have codes", "aliases": "values have aliases"}
        secret = release.original.problem
        cells = tuple((name, descriptions[_stated(column)["form"]]) for name, column in secret.columns.items())
        after = (f"The agreement is {secret.agreement[:16]}.",)
        return {"heads": ("column", "what was done"), "cells": cells, "after": after}

    def hits(self, finding: Finding) -> str:
        """How many values are read back."""
        return (
            f"{finding.attack}: {finding.rate.value:.1%} of {finding.rate.trials:,} values are read back, "
            f"{finding.naive.value:.1%} by a guesser."
        )

    def figures(self, release: UnclaimedRelease) -> dict[str, Any]:
        """The agreement, and the form of each column."""
        secret = release.original.problem
        columns = {name: _stated(column) for name, column in secret.columns.items()}
        return {"agreement": secret.agreement, "columns": columns}


def _stated(column: GradedColumn) -> dict[str, Any]:
    if isinstance(column, AliasTable):
        return {"form": "aliases", "aliases": len(column.aliases)}
    return {"form": "codes", "digits": column.grouping.digits}


def _counted(cells: pl.Series, form: str, missing: set[str]) -> tuple[tuple[str, int], ...]:
    """Rows per alias, the most frequent first; of codes per whole part, in order."""
    texts = as_text(cells).drop_nulls()
    texts = texts.filter(~texts.is_in(list(missing))).alias("value")
    if form == "aliases":
        return value_counts(texts)
    counts = texts.str.split(".").list.first().cast(pl.Int64).value_counts().sort("value")
    return tuple((str(value), int(count)) for value, count in counts.iter_rows())


METHOD = GradedRows().method
