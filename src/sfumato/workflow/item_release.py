"""A release of paths, sets and mixed records: from a plan with such columns to a bundle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.bundle.claims import Claim
from sfumato.bundle.manifest import SCHEMA, dump, seal
from sfumato.bundle.staging import MANIFEST, REPORT, sha256, write_whole
from sfumato.data.files import rendered
from sfumato.data.frames import to_native
from sfumato.publish.items.item_problem import ItemOutcome
from sfumato.utility.item_utility import FrequentSets, QueryError
from sfumato.verification.checks import Verification
from sfumato.verification.item_checks import KIND, LOCAL
from sfumato.version import __version__
from sfumato.workflow.bundling import write_bundle
from sfumato.workflow.item_columns import RecodedColumn, recoded
from sfumato.workflow.item_prepare import ItemPrepared
from sfumato.workflow.item_table import item_marks
from sfumato.workflow.plan import Plan
from sfumato.workflow.release import SEEDED, as_written, refuse_key_inside, versions
from sfumato.workflow.verify import verify

if TYPE_CHECKING:
    from sfumato.workflow.audit import Audit

QUERY_COUNT = 300
"""How many random count queries of each size are asked."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemRelease:
    """Released records with what they were found to meet; writing it makes a bundle."""

    plan: Plan
    """The plan it was made by."""
    prepared: ItemPrepared
    """The original, encoded."""
    outcome: ItemOutcome
    """What the search found."""
    rows: pl.DataFrame
    """The released rows."""
    claims: tuple[Claim, ...]
    """What they meet."""
    frequent: FrequentSets
    """The maximal frequent sets of the original, and what became of them."""
    queries: tuple[QueryError, ...]
    """How far answers to random count queries are off."""
    utility: Mapping[str, float]
    """What was lost, in figures."""
    algorithm: str
    """The algorithm that found them."""
    why: str
    """Why that algorithm."""
    like: object = None
    """The frame that came in."""

    @property
    def frame(self) -> object:
        """The released rows as the same kind of frame that came in."""
        return self.rows if self.like is None else to_native(self.rows, self.like)

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release."""
        seeded = [SEEDED] if self.plan.algorithm.seed is not None else []
        return [*seeded, *([LOCAL] if len(self.outcome.stripped) else []), *item_marks(self.plan)]

    @cached_property
    def recoded(self) -> tuple[RecodedColumn, ...]:
        """What became of each quasi-identifier."""
        return tuple(recoded(self.prepared, self.outcome, space) for space in self.prepared.problem.spaces)

    @cached_property
    def audit(self) -> Audit:
        """What the attacks found; a release that gives away more than the plan allows is refused here."""
        from sfumato.workflow.item_audit import item_audit

        return item_audit(self)

    def write(self, folder: str | Path, *, force: bool = False) -> Verification:
        """Write the bundle: complete and verified from its bytes, or not at all."""
        refuse_key_inside(self.plan, Path(folder))
        return write_bundle(folder, lambda work: self.checked(work, self.report(inside=False)), force=force)

    def checked(self, folder: Path, report: str = "") -> Verification:
        """Put the bundle's files into an empty folder, and verify them from their bytes."""
        data = folder / f"data.{self.plan.output_format}"
        data.write_bytes(rendered(as_written(self.rows, data.name, self.prepared.table.missing), data.name))
        (folder / REPORT).write_text(report, encoding="utf-8")
        manifest = self.manifest(data.name, sha256(data), report=sha256(folder / REPORT))
        (folder / MANIFEST).write_text(dump(manifest), encoding="utf-8")
        return verify(folder)

    def write_inside(self, path: str | Path) -> None:
        """Write the steward's own report; it shows the original's figures and must not be published."""
        write_whole(Path(path), self.report(inside=True))

    def report(self, *, inside: bool) -> str:
        """The report as one HTML page; the inside one shows the original's figures and must not be published."""
        from sfumato.report.items.item_page import render
        from sfumato.workflow.item_facts import item_facts

        return render(item_facts(self, inside=inside))

    def manifest(self, data: str, digest: str, *, report: str) -> dict[str, Any]:
        """What the bundle states about itself, sealed."""
        columns = [_published(self.plan, self.prepared, name) for name in self.rows.columns]
        missing = list(self.prepared.table.missing)
        return seal(
            {
                "sfumato": __version__,
                "schema": SCHEMA,
                "kind": KIND,
                "made": datetime.now(UTC).date().isoformat(),
                "marks": self.marks,
                "data": {
                    "file": data,
                    "sha256": digest,
                    "rows": self.rows.height,
                    "columns": columns,
                    "missing": missing,
                },
                "plan": self.plan.public(),
                "claims": [one.to_json() for one in self.claims],
                "recoding": {
                    "algorithm": self.algorithm,
                    "why": self.why,
                    "columns": {one.name: _without_name(asdict(one)) for one in self.recoded},
                },
                "utility": dict(self.utility),
                "search": dict(self.outcome.effort),
                "attacks": self.audit.to_json(),
                "attacks_not_made": dict(self.audit.skipped),
                "report": {"file": REPORT, "sha256": report},
                "versions": versions("numpy", "numba", "polars"),
            }
        )


def _published(plan: Plan, prepared: ItemPrepared, name: str) -> dict[str, Any]:
    column = plan.columns[name]
    found: dict[str, Any] = {"name": name, "role": str(column.role), "type": "text"}
    if name in prepared.items:
        found |= {"type": column.type, "separator": column.separator}
        if column.type == "trajectory":
            found["mark"] = column.mark
    return found


def _without_name(column: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in column.items() if key != "name"}
