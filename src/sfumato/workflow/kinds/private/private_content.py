"""From a private release to what its report and the terminal show."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import polars as pl

from sfumato.budget.events import to_json
from sfumato.ground.work import Work
from sfumato.report.private.private_page import PrivateFacts, ledger_lines, render
from sfumato.verification.private_checks import COUNT
from sfumato.version import __version__
from sfumato.workflow.kinds.kind import Summary
from sfumato.workflow.kinds.private.private_release import PrivateRelease


def page(made: PrivateRelease, inside: bool, work: Work) -> str:
    """The report as one HTML page; there is no inside one."""
    return render(private_facts(made), work)


def private_facts(made: PrivateRelease) -> PrivateFacts:
    """Everything the report of a private release shows."""
    return PrivateFacts(
        made=datetime.now(UTC).date().isoformat(),
        version=__version__,
        epsilon=made.epsilon,
        event=made.event,
        algorithm=made.algorithm,
        why=made.why,
        domains=made.domains,
        steps=made.outcome.steps,
        effort=made.outcome.effort,
        marks=tuple(made.marks),
        columns=tuple((name, _counted(made.rows, name)) for name in made.rows.columns if name != COUNT),
    )


def _counted(rows: pl.DataFrame, name: str) -> tuple[tuple[str, int], ...]:
    """Released rows per label."""
    weights = pl.col(COUNT).sum() if COUNT in rows.columns else pl.len()
    found = rows.group_by(name, maintain_order=True).agg(weights.cast(pl.Int64).alias("rows of the label"))
    return tuple((str(label), int(many)) for label, many in found.iter_rows())


def summary(made: PrivateRelease) -> Summary:
    """Epsilon in a line, and where it went in a table."""
    lines = [line for line in ledger_lines(made.event) if line.depth < 2]
    epsilon = f"Differentially private with epsilon = {made.epsilon}, by {made.algorithm}"
    return Summary(
        lines=(f"{epsilon}: {made.rows.height:,} noisy rows.",),
        heads=("where epsilon went", "epsilon"),
        cells=tuple(("  " * line.depth + line.what, str(line.epsilon)) for line in lines),
        after=tuple(f"Beware: {mark}." for mark in made.marks),
        changes=(("rows", "private", made.rows.height),),
    )


def figures(made: PrivateRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": made.rows.height,
        "epsilon": str(made.epsilon),
        "algorithm": made.algorithm,
        "ledger": to_json(made.event),
    }
