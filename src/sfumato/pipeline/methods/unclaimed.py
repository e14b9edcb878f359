"""Rows about which nothing is claimed: what their methods have in common, from the refusals to the summary.

A method of this sort says what it does to columns (``search``, ``columns``), what it states about that
(``recoding``), and who is attacked (``subjects``). The base does the rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from sfumato.attacks.finding import Finding
from sfumato.bundles.checks.unclaimed import unclaimed_checks
from sfumato.bundles.columns import Published, PublishedColumn
from sfumato.bundles.provenance import Check, Remark
from sfumato.bundles.recoding import one_marker
from sfumato.bundles.verify import tables_of
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.counts.keys import Ids
from sfumato.counts.near_unique import NearUnique, asked_size, near_unique_columns
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.catalog.parts import configured
from sfumato.pipeline.inputs import load_table, marked
from sfumato.pipeline.methods.method import (
    Audit,
    Method,
    Request,
    SearchResult,
    Summary,
    over,
    refuse_records,
    refused,
    warned,
)
from sfumato.pipeline.methods.supports import Supports
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import Release, versions
from sfumato.reports.unclaimed_rows import UnclaimedFacts, render_unclaimed
from sfumato.tables.schema import Role, Schema
from sfumato.tables.table import Kind, Table, plain_cells

PUBLISHED = (Role.QUASI, Role.SENSITIVE, Role.TARGET, Role.KEEP)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Original(Brief):
    """The rows that are used, described."""

    table: Table
    """The rows."""
    schema: Schema
    """The role of every column."""
    problem: Any = None
    """What the algorithm is given beside them."""
    dropped_rows: int = 0
    """Rows left out because of missing values."""

    @property
    def published(self) -> tuple[str, ...]:
        """The columns that are published."""
        return self.schema.named(*PUBLISHED)

    def cells(self, name: str) -> pl.Series:
        """A column as it is published where nothing is done to it, in the order of the original."""
        cells = plain_cells(self.table.frame[name])
        return cells if self.schema.roles[name] is Role.KEEP else one_marker(cells, self.table.missing)

    def texts(self, names: Iterable[str]) -> pl.DataFrame:
        """Some of these columns as texts that can be compared; lists and bytes stay as they are."""
        return as_texts(pl.DataFrame([self.cells(name) for name in names]))


def as_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Cells that can be compared; lists and bytes stay as they are."""
    plain = [name for name, dtype in frame.schema.items() if not dtype.is_nested() and dtype != pl.Binary]
    return frame.with_columns(pl.col(plain).cast(pl.String))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UnclaimedRelease(Release):
    """Rows about which nothing is claimed."""

    rules: UnclaimedRows
    """How they were made."""
    original: Original
    """The rows that they were made from."""
    outcome: Any
    """What the algorithm found."""
    changed: Mapping[str, pl.Series]
    """The columns that were changed, in the order of the original."""
    own: Ids
    """Which released row was made from each row of the original."""
    published: Published
    """What a verifier must know to read the rows."""

    @cached_property
    def near_unique(self) -> tuple[NearUnique, ...]:
        """The released columns that nearly single people out."""
        return near_unique_columns(self.rows, self.published.schema.roles, self.published.missing, asked_size(()))

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release: first of all, that it is not anonymous."""
        return [self.rules.warning, *super().marks, *(column.told for column in self.near_unique)]


class UnclaimedRows(ABC):
    """A method that changes columns and claims nothing; every published row is made from one row of the original."""

    name: ClassVar[str]
    """As the manifest names it."""
    algorithm: ClassVar[str]
    """The algorithm by whose name a plan asks for it."""
    run: ClassVar[Any]
    """The record of its options."""
    adversaries: ClassVar[Mapping[str, Any]] = {}
    """The attacks that it brings."""
    supports: ClassVar[Supports]
    """What a plan may ask of it."""
    warning: ClassVar[str]
    """What every release warns of first."""
    outline: ClassVar[str]
    """The first words of the summary: what was done, and that nothing is claimed."""
    packages: ClassVar[tuple[str, ...]] = ("numpy", "polars")
    """Packages whose versions a manifest states."""

    apply: ClassVar[Callable[..., Any]] = staticmethod(refuse_records)
    """What is done with new records."""

    def options(self, plan: Plan) -> Any:
        """The algorithm with the plan's options."""
        part = catalog().algorithms[self.algorithm]
        return configured(part, plan.algorithm.options, other_keys=("name", "seed"))

    @abstractmethod
    def done(self) -> str:
        """What was done to the data, in a sentence in the language of the page."""

    def check(self, plan: Plan) -> None:
        """Refuse options that there are not; a method refuses more."""
        self.options(plan)

    def begin(self, request: Request) -> Request:
        """Refuse what can be refused before the table is read."""
        return request

    @abstractmethod
    def prepare(self, request: Request, table: Table) -> Original:
        """Describe the columns."""

    @abstractmethod
    def search(self, original: Original, plan: Plan, work: Work) -> Any:
        """What the algorithm does."""

    @abstractmethod
    def columns(self, original: Original, outcome: Any) -> Mapping[str, pl.Series]:
        """The columns that the algorithm changes, in the order of the original."""

    @abstractmethod
    def verify(self, original: Original, outcome: Any, rows: pl.DataFrame) -> None:
        """Refuse rows, in the order of the original, that are not what the method says: a fault of the algorithm."""

    def utility(self, original: Original, outcome: Any, rows: pl.DataFrame) -> dict[str, float]:
        """What was lost, for the steward; rows come in the order of the original."""
        return {}

    def kind_of(self, original: Original, name: str) -> Kind | None:
        """How the values of a changed column are read, where that is known."""
        return None

    @abstractmethod
    def subjects(self, release: UnclaimedRelease, attack: Any) -> Mapping[str, Any]:
        """Whom an attack of the catalog is made on, by what its title ends with; none where it has nothing to do."""

    @abstractmethod
    def recoding(self, release: UnclaimedRelease) -> dict[str, Any]:
        """What a manifest states about what was done, beside the algorithm; nothing that only the original tells."""

    @abstractmethod
    def own_checks(self, manifest: Mapping[str, Any], table: Table) -> Iterable[Check]:
        """What is looked at beside what holds of all such rows, when a bundle is verified."""

    @abstractmethod
    def again(self, original: Original, plan: Plan, manifest: Mapping[str, Any], rows: pl.DataFrame) -> Iterable[Check]:
        """What the steward finds beside the original; rows are those that are published."""

    @abstractmethod
    def facts(self, manifest: Mapping[str, Any], rows: pl.DataFrame, common: Mapping[str, Any]) -> UnclaimedFacts:
        """What the report shows; ``common`` are the fields that all such reports have."""

    @abstractmethod
    def summarized(self, release: UnclaimedRelease) -> dict[str, Any]:
        """Heads and cells of the summary, and perhaps the ``details`` of its first line and what comes ``after``."""

    def hits(self, finding: Finding) -> str:
        """How often an attack succeeds, in words."""
        return f"{finding.attack}: {finding.rate.value:.1%} of {finding.rate.trials:,} people are found."

    @abstractmethod
    def figures(self, release: UnclaimedRelease) -> dict[str, Any]:
        """What was done, for programs."""

    @property
    def method(self) -> Method:
        """The record that the pipeline asks."""
        return Method(
            name=self.name,
            runs={self.algorithm: self.run},
            adversaries=self.adversaries,
            attacks=self.name,
            supports=self.supports,
            check=self.check,
            begin=self.begin,
            read=lambda request: marked(load_table(request.plan, request.like, request.plan.input.path), request.plan),
            prepare=self.prepare,
            search=self._search,
            recode=self._recode,
            judge=self._judge,
            attack=self._attack,
            manifest=self._manifest,
            checks=self._checks,
            again=self._again,
            apply=self.apply,
            public_page=self._page,
            done=lambda manifest: self.done(),
            summary=self._summary,
            figures=self._figures,
            comparison=refused(
                f"algorithm.name: a frontier compares models, and {self.supports.title} meets none; make releases one "
                "by one"
            ),
        )

    def _search(self, request: Request, original: Original, work: Work) -> SearchResult:
        outcome = self.search(original, request.plan, work)
        return SearchResult(prepared=original, outcome=outcome, algorithm=self.algorithm, why="Named in the plan.")

    def _recode(self, request: Request, result: SearchResult) -> tuple[pl.DataFrame, Ids]:
        """The released rows in random order, and which of them was made from each row of the original."""
        rows = self._rows(result.prepared, self.columns(result.prepared, result.outcome), request.keys)
        order = Chance(seed=request.plan.algorithm.seed).generator().permutation(rows.height)
        return rows[order], np.argsort(order)

    @staticmethod
    def _rows(original: Original, changed: Mapping[str, pl.Series], keys: Mapping[str, Any]) -> pl.DataFrame:
        columns = []
        for name, role in original.schema.roles.items():
            if role in PUBLISHED:
                columns.append(changed[name] if name in changed else original.cells(name))
            elif role is Role.IDENTIFIER and name in keys:
                columns.append(keys[name].replace(original.table.frame[name]))
        return pl.DataFrame(columns)

    def _judge(
        self, method: Method, request: Request, result: SearchResult, recoded: tuple[pl.DataFrame, Ids]
    ) -> UnclaimedRelease:
        """Claim nothing; but rows that are not what the method says are refused."""
        original, (rows, own) = result.prepared, recoded
        in_order, changed = rows[own], self.columns(result.prepared, result.outcome)
        self.verify(original, result.outcome, in_order)
        return UnclaimedRelease(
            kind=method,
            rules=self,
            plan=request.plan,
            original=original,
            outcome=result.outcome,
            changed=changed,
            own=own,
            rows=rows,
            published=self._published(request.plan, original, changed, rows),
            claims=(),
            utility=self.utility(original, result.outcome, in_order),
            algorithm=result.algorithm,
            why=result.why,
            like=request.like,
        )

    def _published(
        self, plan: Plan, original: Original, changed: Mapping[str, pl.Series], rows: pl.DataFrame
    ) -> Published:
        holes = any(rows[name].null_count() for name in changed)
        missing, roles = original.table.missing or (("",) if holes else ()), original.schema.roles

        def kind(name: str) -> Any:
            if (known := self.kind_of(original, name)) is not None:
                return known
            if roles[name] not in (Role.SENSITIVE, Role.TARGET):
                return "text"
            return plan.columns[name].type or Table(frame=rows.select(name), missing=missing).column(name).kind

        columns = tuple(PublishedColumn(name=name, role=roles[name], kind=kind(name)) for name in rows.columns)
        return Published(columns=columns, rows=rows.height, missing=missing)

    def _attack(self, release: UnclaimedRelease, work: Work) -> Audit:
        """Make the attacks of the catalog; more than the plan allows is refused."""
        attack_plan = release.plan.attack
        if not attack_plan.run:
            return Audit()
        inner, chance = work.within(attack_plan.seconds), Chance(seed=release.plan.algorithm.seed)
        findings, skipped = list[Finding](), dict[str, str]()
        chosen = catalog().chosen_attacks(attack_plan.attacks, self.name)
        if not chosen:
            skipped["any attack"] = "the catalog has none on such rows"
        for place, (name, part) in enumerate(chosen.items()):
            work.advance("attack", place, len(chosen))
            attack = part.make(attack_plan.trials)
            subjects = self.subjects(release, attack)
            for ending, subject in subjects.items():
                if why := over(inner, attack_plan.seconds) or attack.fits(subject):
                    skipped[f"{name}{ending}"] = why
                else:
                    findings.append(replace(attack.run(subject, chance), attack=f"{name}{ending}"))
            if not subjects:
                skipped[name] = self.nothing_to_attack(attack)
        work.advance("attack", 1, 1)
        audit = Audit(findings=tuple(findings), skipped=skipped)
        audit.refuse(attack_plan.max_risk, attack_plan.accept)
        return audit

    def nothing_to_attack(self, attack: Any) -> str:
        """Why an attack has no subject."""
        return "there is nothing that it could be made on"

    def _manifest(self, release: UnclaimedRelease, files: Mapping[str, str]) -> dict[str, Any]:
        dropped = release.original.dropped_rows
        return {
            "claims": [],
            "recoding": {
                "algorithm": release.algorithm,
                "why": release.why,
                **self.recoding(release),
                **({"left_out": dropped} if dropped else {}),
            },
            **release.audit.stated(),
            "versions": versions(*self.packages),
        }

    def _checks(
        self, folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Table]
    ) -> Iterable[Check | Remark]:
        return unclaimed_checks(folder, manifest, tables, self.warning, self.own_checks)

    def _again(
        self, folder: Path, manifest: Mapping[str, Any], plan: Plan, source: object, work: Work
    ) -> Iterable[Check]:
        request = self.begin(Request(plan=plan, keys={}, like=source))
        original = self.prepare(request, self.method.read(request))
        return self.again(original, plan, manifest, tables_of(folder, manifest)["data"].frame)

    def _page(self, manifest: Mapping[str, Any], tables: Mapping[str, Table], work: Work) -> str:
        """A function of the manifest and the rows."""
        rows = tables["data"].frame
        common = {
            "made": str(manifest["made"]),
            "version": str(manifest["sfumato"]),
            "rows": rows.height,
            "marks": tuple(manifest["marks"]),
            "findings": tuple(map(Finding.from_json, manifest["attacks"])),
            "skipped": dict(manifest["attacks_not_made"]),
        }
        return render_unclaimed(self.facts(manifest, rows, common), work)

    def _summary(self, release: UnclaimedRelease) -> Summary:
        """What was done, how often attacks succeed, and that nothing is claimed."""
        parts = self.summarized(release)
        findings = [finding for finding in release.audit.findings if finding.rate.carried_out]
        return Summary(
            lines=(f"{self.outline}: {release.rows.height:,} rows{parts.get('details', '')}.",),
            heads=parts["heads"],
            cells=parts["cells"],
            after=(*map(self.hits, findings), *warned(release.marks), *parts.get("after", ())),
            changes=(("rows", release.original.table.rows, release.rows.height),),
        )

    def _figures(self, release: UnclaimedRelease) -> dict[str, Any]:
        return {
            "rows": release.rows.height,
            "algorithm": release.algorithm,
            "claims": [],
            **self.figures(release),
            "attacks": release.audit.to_json(),
        }


def value_counts(cells: pl.Series) -> tuple[tuple[str, int], ...]:
    """Rows per value, the most frequent first."""
    texts = cells.cast(pl.String).fill_null("").alias("value")
    counts = texts.value_counts().sort("count", "value", descending=[True, False])
    return tuple((str(value), int(count)) for value, count in counts.iter_rows())
