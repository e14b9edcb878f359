"""From a private release to what its report and the terminal show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from sfumato.budget.events import from_json, to_json
from sfumato.budget.promise import Promise
from sfumato.data.table import Table
from sfumato.ground.work import Work
from sfumato.report.base.drawn import Drawn, DrawnColumn
from sfumato.report.base.language import said
from sfumato.report.joint.session_shown import session_shown
from sfumato.report.private.private_page import UNPAID, PrivateFacts, column_pictures, ledger_lines, render
from sfumato.verification.private_checks import claimed, counts_of
from sfumato.workflow.bundling import unwritten
from sfumato.workflow.kinds.kind import Summary, warned
from sfumato.workflow.kinds.private.private_release import PrivateRelease


def public_page(manifest: Mapping[str, Any], tables: Mapping[str, Table], work: Work) -> str:
    """The report as one HTML page: a function of the manifest and the noisy rows."""
    return render(public_facts(manifest, tables), work)


def promises(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What differential privacy promises, and what it does not; nothing where it is not claimed."""
    if not claimed(manifest):
        return []
    by_people = manifest["plan"]["input"].get("unit") is not None
    one = said("one person") if by_people else said("one record")
    amount = str(Promise.of(manifest["plan"]["privacy"]))
    return [
        (
            said("Differential privacy with {amount}: what can be seen here would be about as likely without {one}.",
                 amount=amount, one=one),
            said("What is true of a whole group can still be learnt, and several releases of the same people add up."),
        )
    ]  # fmt: skip


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
        columns=tuple((name, _counted(rows, name, counts)) for name in rows.columns if name != counts),
        deviations=_deviations(manifest),
        session=session_shown(manifest.get("session")),
    )


def _deviations(manifest: Mapping[str, Any]) -> dict[str, Mapping[str, float]]:
    """How noisy the counts of labels are, by column, the class among them."""
    recoding = manifest["recoding"]
    found = {name: one["deviations"] for name, one in recoding["columns"].items() if "deviations" in one}
    return found | ({manifest["domains"]["target"]["name"]: recoding["classes"]} if "classes" in recoding else {})


def _counted(rows: pl.DataFrame, name: str, counts: str | None) -> tuple[tuple[str, int], ...]:
    """Released rows per label."""
    weights = pl.len() if counts is None else pl.col(counts).cast(pl.String).cast(pl.Int64).sum()
    found = rows.group_by(name, maintain_order=True).agg(weights.cast(pl.Int64).alias("rows of the label"))
    return tuple((str(label), int(many)) for label, many in found.iter_rows())


def drawn(made: PrivateRelease) -> Drawn:
    """What the noisy rows show of every column; it is no more than the report shows."""
    pictures = column_pictures(public_facts(*unwritten(made)), Work())
    about = "noisy; none of these rows is anybody's own"
    columns = (DrawnColumn(name=name, about=about, pictures=(one,)) for name, one in pictures)
    return Drawn(inside=False, columns=tuple(columns))


def summary(made: PrivateRelease) -> Summary:
    """Epsilon in a line, and where it went in a table."""
    lines = [line for line in ledger_lines(made.event, made.promise) if line.depth < 2]
    said = f"Differentially private with {made.promise}" if made.claims else f"Noisy by {made.promise}, no claim"
    said += f", by {made.algorithm}"
    return Summary(
        lines=(f"{said}: {made.rows.height:,} noisy rows.",),
        heads=("where the budget went", made.promise.unit),
        cells=tuple(("  " * line.depth + line.what, line.shown) for line in lines),
        after=(*warned(made.marks), *([UNPAID] if made.paid is None else [])),
        changes=(("rows", "private", made.rows.height),),
    )


def figures(made: PrivateRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": made.rows.height,
        **made.promise.to_json(),
        "algorithm": made.algorithm,
        "ledger": to_json(made.event),
        "paid": None if made.paid is None else made.paid.to_json(),
    }
