"""Differentially private tables as a method: report, attacked bundle, preview and summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from msgspec import structs

from sfumato.attacks.labels import coverage_of
from sfumato.attacks.subject import Coverage, Subject
from sfumato.bundles.checks.private import claimed, counts_of, private_checks
from sfumato.bundles.verify import read_released
from sfumato.core.errors import BundleError, SfumatoError, unknown_column
from sfumato.core.run_context import Work
from sfumato.dp.accounting import Promise
from sfumato.dp.events import from_json, to_json
from sfumato.pipeline.methods.method import Audit, Counted, Method, Summary, warned
from sfumato.pipeline.methods.private import plan as private_plan
from sfumato.pipeline.methods.private import stages
from sfumato.pipeline.methods.private.domains import declared, prepared
from sfumato.pipeline.methods.private.plan import private_algorithm, searches
from sfumato.pipeline.methods.private.stages import PrivateRelease
from sfumato.pipeline.methods.schema import fitting
from sfumato.pipeline.methods.supports import Supports
from sfumato.pipeline.plan.columns import OTHER
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import unwritten
from sfumato.reports.language import translated
from sfumato.reports.pages import session_shown
from sfumato.reports.private import UNPAID, PrivateFacts, column_pictures, ledger_lines, render
from sfumato.reports.svg import Drawn, DrawnColumn
from sfumato.tables.hierarchy import TOP
from sfumato.tables.table import Column, Table

if TYPE_CHECKING:
    from sfumato.pipeline.frontier.axes import Comparison


# From a private release to what its report and the terminal show.


def public_page(manifest: Mapping[str, Any], tables: Mapping[str, Table], work: Work) -> str:
    """The report as one HTML page: a function of the manifest and the noisy rows."""
    return render(public_facts(manifest, tables), work)


def promises(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What differential privacy promises, and what it does not; nothing where it is not claimed."""
    if not claimed(manifest):
        return []
    by_people = manifest["plan"]["input"].get("unit") is not None
    person = translated("one person") if by_people else translated("one record")
    amount = str(Promise.of(manifest["plan"]["privacy"]))
    return [
        (
            translated(
                "Differential privacy with {amount}: what can be seen here would be about as likely without {one}.",
                amount=amount,
                one=person,
            ),
            translated(
                "What is true of a whole group can still be learnt, and several releases of the same people add up."
            ),
        )
    ]


def public_facts(manifest: Mapping[str, Any], tables: Mapping[str, Table]) -> PrivateFacts:
    """Everything that the report of a private bundle shows."""
    rows, counts = tables["data"].frame, counts_of(manifest)
    return PrivateFacts(
        made=manifest["made"],
        version=manifest["sfumato"],
        promise=Promise.of(manifest["plan"]["privacy"]),
        claimed=claimed(manifest),
        unit=manifest["plan"]["input"].get("unit"),
        event=from_json(manifest["ledger"]),
        algorithm=manifest["recoding"]["algorithm"],
        why=manifest["recoding"]["why"],
        domains=manifest["domains"],
        known_by={name: str(spec.get("domain_from", "declared")) for name, spec in manifest["plan"]["columns"].items()},
        steps=tuple(manifest["recoding"]["steps"]),
        effort=manifest["search"],
        marks=tuple(manifest["marks"]),
        paid=manifest.get("paid") is not None,
        columns=tuple((name, _rows_per_label(rows, name, counts)) for name in rows.columns if name != counts),
        deviations=_deviations(manifest),
        session=session_shown(manifest.get("session")),
    )


def _deviations(manifest: Mapping[str, Any]) -> dict[str, Mapping[str, float]]:
    """How noisy the counts of labels are, by column, the class among them."""
    recoding = manifest["recoding"]
    deviations = {name: column["deviations"] for name, column in recoding["columns"].items() if "deviations" in column}
    return deviations | ({manifest["domains"]["target"]["name"]: recoding["classes"]} if "classes" in recoding else {})


def _rows_per_label(rows: pl.DataFrame, name: str, counts: str | None) -> tuple[tuple[str, int], ...]:
    """Released rows per label."""
    weights = pl.len() if counts is None else pl.col(counts).cast(pl.String).cast(pl.Int64).sum()
    row_counts = rows.group_by(name, maintain_order=True).agg(weights.cast(pl.Int64).alias("rows of the label"))
    return tuple((str(label), int(many)) for label, many in row_counts.iter_rows())


def drawn(release: PrivateRelease) -> Drawn:
    """What the noisy rows show of every column; it is no more than the report shows."""
    pictures = column_pictures(public_facts(*unwritten(release)), Work())
    about = "noisy; none of these rows is anybody's own"
    columns = (DrawnColumn(name=name, about=about, pictures=(picture,)) for name, picture in pictures)
    return Drawn(inside=False, columns=tuple(columns))


def summary(release: PrivateRelease) -> Summary:
    """Epsilon in a line, and where it went in a table."""
    lines = [line for line in ledger_lines(release.event, release.promise) if line.depth < 2]
    headline = (
        f"Differentially private with {release.promise}" if release.claims else f"Noisy by {release.promise}, no claim"
    )
    headline += f", by {release.algorithm}"
    return Summary(
        lines=(f"{headline}: {release.rows.height:,} noisy rows.",),
        heads=("where the budget went", release.promise.unit),
        cells=tuple(("  " * line.depth + line.what, line.shown) for line in lines),
        after=(*warned(release.marks), *([UNPAID] if release.paid is None else [])),
        changes=(("rows", "private", release.rows.height),),
    )


def figures(release: PrivateRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": release.rows.height,
        **release.promise.to_json(),
        "algorithm": release.algorithm,
        "ledger": to_json(release.event),
        "paid": None if release.paid is None else release.paid.to_json(),
    }


# A differentially private bundle as an attacker finds it: noisy rows over declared domains.


MOST_ROWS = 2_000_000
"""Counts that add up to more rows than this are not written out one by one."""


def private_subject(
    folder: Path, manifest: Mapping[str, Any], original: Table, *, control: Table | None, plan: object
) -> Subject:
    """The released rows, one for each count, with what their labels cover by the declared trees."""
    rows = _records(read_released(folder / str(manifest["data"]["file"]), manifest).frame, counts_of(manifest))
    roles = {str(column["name"]): str(column["role"]) for column in manifest["data"]["columns"]}
    quasi = tuple(name for name, role in roles.items() if role == "quasi")
    target = tuple(name for name, role in roles.items() if role == "target")
    domains = manifest["domains"]["columns"]
    sets = [name for name in quasi if domains[name]["kind"] == "set"]
    if sets:
        raise BundleError(f"{folder}: {sets[0]!r} holds sets, which no attack on private bundles reads")
    columns = {}
    for name in (*quasi, *target):
        if name not in original.names:
            raise unknown_column(name, original.names, where="--original")
        columns[name] = original.column(name)
    for name in columns:
        if control is not None and name not in control.names:
            raise unknown_column(name, control.names, where="the control file")
    released_cells = rows.select([pl.col(name).cast(pl.String).fill_null("") for name in (*quasi, *target)])
    return Subject(
        release=released_cells,
        quasi=quasi,
        sensitive=target,
        beside=target,
        coverage={name: _coverage(released_cells[name], columns[name], domains[name], control) for name in quasi},
        people=pl.DataFrame([column.texts for column in columns.values()]),
        control=None if control is None else pl.DataFrame([control.column(name).texts for name in columns]),
        claims=(),
        synthetic=True,
        algorithm=str(manifest["recoding"]["algorithm"]),
        numeric=frozenset(name for name in quasi if domains[name]["kind"] == "number"),
    )


def _records(rows: pl.DataFrame, name: str | None) -> pl.DataFrame:
    """A row for each count, where a column counts."""
    if name is None:
        return rows
    counts = rows[name].cast(pl.String).cast(pl.Int64).to_numpy()
    if counts.sum() > MOST_ROWS:
        raise BundleError(f"the counts add up to {counts.sum():,} rows, more than the {MOST_ROWS:,} that are attacked")
    return rows.drop(name)[np.repeat(np.arange(rows.height), np.maximum(counts, 0))]


def _coverage(cells: pl.Series, column: Column, domain: Mapping[str, Any], control: Table | None) -> Coverage:
    """What labels cover: numbers by their intervals, the rest by the declared tree."""
    labels = cells.unique().sort().to_list()
    theirs = () if control is None else control.column(column.name).values
    values = tuple(dict.fromkeys((*column.values, *theirs)))
    coverage = coverage_of(labels, values)
    if domain["kind"] == "number":
        return coverage
    below = _leaves(domain["nodes"])
    place = {value: code for code, value in enumerate(values)}
    for row, label in enumerate(coverage.labels):
        for leaf in below.get(label, ()) if label != TOP else ():
            if leaf in place:
                coverage.covers[row, place[leaf]] = True
    return coverage


def _leaves(nodes: list[list[Any]]) -> dict[str, set[str]]:
    """The leaves under every node of a declared tree, by name."""
    inner = {int(above) for _, above in nodes}
    leaves: dict[str, set[str]] = {}
    for number, (label, above) in enumerate(nodes):
        if number in inner:
            continue
        up, passed = int(above), 0
        while up >= 0:
            leaves.setdefault(str(nodes[up][0]), set()).add(str(label))
            up, passed = int(nodes[up][1]), passed + 1
            if passed > len(nodes):
                raise BundleError(f"the tree of the manifest runs in a circle above {str(label)!r}")
    return leaves


# A table under a plan with noise: whether every domain is declared, and which algorithms fit.


class CountedNoise(Counted):
    """Rows over declared domains; no count of them is shown."""

    def __init__(self, plan: Plan, table: Table) -> None:
        """The rows are looked at when somebody asks whether they fit."""
        super().__init__(plan)
        self.table = table

    def unreachable(self) -> str | None:
        """What a release would refuse, before it pays: a column without a domain, a role that noise does not cover."""
        try:
            columns = {
                name: structs.replace(self.plan.columns[name], hierarchy=None, type=None, values=(OTHER,), within=(),
                                      domain_from="declared")
                for name in searches(self.plan)
            }  # fmt: skip
            privacy = {key: value for key, value in self.plan.privacy.items() if key != "discovery"}
            declared(replace(self.plan, columns={**self.plan.columns, **columns}, privacy=privacy), self.table)
        except SfumatoError as error:
            return str(error)
        return None

    def fitting(self) -> dict[str, Any]:
        """Both algorithms, unless the promise is not theirs."""
        name, _, why = private_algorithm(
            replace(self.plan, algorithm=structs.replace(self.plan.algorithm, name="auto", options={}))
        )
        return fitting(self.plan, "private", lambda plan, work: private_algorithm(plan), name, why)


# Differentially private tables as a kind of release.


def _comparison(plan: Plan) -> Comparison:
    from sfumato.pipeline.methods.private.comparison import PrivateComparison

    return PrivateComparison()


def _preview(plan: Plan, table: Table) -> Counted:

    return CountedNoise(plan, table)


METHOD = Method(
    name="private",
    supports=Supports(
        title="a private release",
        unit=True,
        population=True,
        suppression=True,
        itemized=True,
        control=True,
        earlier=True,
    ),
    needs=(("opendp", "a differentially private release"),),
    options=("output",),
    check=private_plan.check,
    begin=stages.begin,
    counted=_preview,
    read=stages.read,
    prepare=lambda request, rows: prepared(request.plan, *rows),
    notes=lambda ready: ready.notes,
    search=stages.search,
    recode=stages.recode,
    judge=stages.judge,
    # What attackers find would be read off the private table: no epsilon covers it.
    attack=lambda release, work: Audit(),
    manifest=stages.manifest,
    checks=private_checks,
    again=stages.same_domains,
    subject=private_subject,
    apply=stages.apply_labels,
    public_page=public_page,
    done=lambda manifest: translated(
        "The released rows were made from noisy counts of the table: none of them is anybody's own."
    ),
    promises=promises,
    summary=summary,
    drawn=drawn,
    figures=figures,
    comparison=_comparison,
)
