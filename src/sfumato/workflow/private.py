"""A differentially private release: from a plan with ``privacy.epsilon`` to a bundle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.budget.accountants import epsilon_of
from sfumato.budget.events import Event, Pure, exactly, to_json
from sfumato.budget.ledger import Ledger
from sfumato.bundle.manifest import SCHEMA, dump, seal
from sfumato.bundle.staging import MANIFEST, REPORT, sha256
from sfumato.data.files import rendered
from sfumato.data.frames import to_native
from sfumato.describe.roles import Role
from sfumato.ground.errors import ClaimRefuted, ParameterError, PlanError, listed
from sfumato.ground.work import Work
from sfumato.publish.cut import ColumnCut
from sfumato.publish.noisy_table import Attribute, NoisyTable, PrivateTable
from sfumato.verification.checks import Verification
from sfumato.verification.private_checks import DIFFERENTIAL, KIND, NEIGHBOURS
from sfumato.version import __version__
from sfumato.workflow.applying import Applied, Outside, applied, described, read_records, stated_rules
from sfumato.workflow.bundling import write_bundle
from sfumato.workflow.declared import declared_table
from sfumato.workflow.plan import Plan
from sfumato.workflow.private_catalog import PrivateAlgorithm, private_algorithm
from sfumato.workflow.release import versions
from sfumato.workflow.verify import verify

OBSERVED = "domains were read off the private table: this release is NOT differentially private, for studies only"
COUNT = "count"
"""The column of counts."""
MOST_ROWS = 50_000_000
"""More noisy records than this are published as counts only."""
_KEYS = ("epsilon", "domains", "ledger", "analyst")


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivateRelease:
    """Noisy rows with what they cost; writing it makes a bundle."""

    plan: Plan
    """The plan it was made by."""
    domains: Mapping[str, Any]
    """What was declared about every published column."""
    values: Mapping[str, tuple[str, ...]]
    """The declared leaves of every column, or the cells of its grid, by code."""
    outcome: NoisyTable
    """What the algorithm gave."""
    rows: pl.DataFrame
    """The released rows: single records, or groups with counts."""
    algorithm: str
    """The algorithm that made them."""
    why: str
    """Why that algorithm."""
    like: object = None
    """The frame that came in."""

    @property
    def frame(self) -> object:
        """The released rows as the same kind of frame that came in."""
        return self.rows if self.like is None else to_native(self.rows, self.like)

    @property
    def epsilon(self) -> Fraction:
        """What the release cost: exactly what the plan asked for."""
        return epsilon_of(self.outcome.event)

    @property
    def event(self) -> Event:
        """Where every part of epsilon went."""
        return self.outcome.event

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release."""
        return [OBSERVED] if self.plan.privacy.get("domains") == "observed" else []

    def write(self, folder: str | Path, *, force: bool = False) -> Verification:
        """Write the bundle: complete and verified from its bytes, or not at all."""
        return write_bundle(folder, lambda work: self.checked(work, self.report()), force=force)

    def checked(self, folder: Path, report: str = "") -> Verification:
        """Put the bundle's files into an empty folder, and verify them from their bytes."""
        data = folder / f"data.{self.plan.output_format}"
        data.write_bytes(rendered(self.rows, data.name))
        (folder / REPORT).write_text(report, encoding="utf-8")
        manifest = self.manifest(data.name, sha256(data), report=sha256(folder / REPORT))
        (folder / MANIFEST).write_text(dump(manifest), encoding="utf-8")
        return verify(folder)

    def transform(self, records: object, *, outside: Outside = "refuse") -> Applied:
        """New records in the labels of the release; values outside the domain are refused, starred or left out."""
        manifest = self.manifest("", "", report="")
        table = read_records(records, ())
        return applied(table, stated_rules(manifest), described(manifest), models=[], reading="strict", outside=outside)

    def report(self) -> str:
        """The report as one HTML page."""
        from sfumato.report.private.private_page import PrivateFacts, render

        return render(
            PrivateFacts(
                made=datetime.now(UTC).date().isoformat(),
                version=__version__,
                epsilon=self.epsilon,
                event=self.event,
                algorithm=self.algorithm,
                why=self.why,
                domains=self.domains,
                steps=self.outcome.steps,
                effort=self.outcome.effort,
                marks=tuple(self.marks),
                columns=tuple((name, _counted(self.rows, name)) for name in self.rows.columns if name != COUNT),
            )
        )

    def _recoded(self) -> dict[str, Any]:
        """The labels of each column and, where a value always reads alike, the rule for new records."""
        found: dict[str, Any] = {}
        for place, (name, labels) in enumerate(zip(self.outcome.columns, self.outcome.labels, strict=True)):
            found[name] = {"labels": dict.fromkeys(labels, 0.0)}
            cut = self.outcome.cut[place] if self.outcome.cut else None
            if cut is not None:
                found[name]["labels"] |= dict.fromkeys(cut.labels, 0.0)
                found[name]["rule"] = _rule(self.domains["columns"][name], self.values[name], cut)
        return found

    def manifest(self, data: str, digest: str, *, report: str) -> dict[str, Any]:
        """What the bundle states about itself, sealed."""
        epsilon = str(self.epsilon)
        target = self.domains.get("target")
        roles = dict.fromkeys(self.outcome.columns, "quasi") | ({target["name"]: "target"} if target else {})
        columns = [
            {"name": n, "role": roles.get(n, COUNT), "type": str(_kind(self.rows, n))} for n in self.rows.columns
        ]
        return seal(
            {
                "sfumato": __version__,
                "schema": SCHEMA,
                "kind": KIND,
                "made": datetime.now(UTC).date().isoformat(),
                "marks": self.marks,
                "data": {"file": data, "sha256": digest, "rows": self.rows.height, "columns": columns},
                "plan": self.plan.public(),
                "claims": [{"model": DIFFERENTIAL, "parameters": {"epsilon": epsilon, "neighbours": NEIGHBOURS}}],
                "domains": self.domains,
                "ledger": to_json(self.event),
                "recoding": {
                    "algorithm": self.algorithm,
                    "why": self.why,
                    "columns": self._recoded(),
                    "steps": list(self.outcome.steps),
                },
                "search": dict(self.outcome.effort),
                "attacks": [],
                "report": {"file": REPORT, "sha256": report},
                "versions": versions("numpy", "polars", "opendp"),
            }
        )


def _rule(domain: Mapping[str, Any], values: tuple[str, ...], cut: ColumnCut) -> dict[str, Any]:
    """How new records of a column are read; everything in it is public."""
    if domain["kind"] == "number":
        return {"type": "real", "intervals": True}
    return {"type": "text", "values": {value: cut.labels[cut.of_code[code]] for code, value in enumerate(values)}}


def private_release(plan: Plan, load: Any, *, work: Work, like: object) -> PrivateRelease:
    """Charge the budget, then read the table, then release; ``load`` reads it when it is called."""
    epsilon = _epsilon(plan)
    name, run, why = algorithm_of(plan)
    _refuse_names(plan)
    charge = _charge(plan, epsilon)
    work.advance("read", 0, 1)
    table = declared_table(plan, load())
    work.advance("read", 1, 1)
    outcome = run(table, work)
    if epsilon_of(outcome.event) != epsilon:
        raise ClaimRefuted(
            f"{name} accounted for {epsilon_of(outcome.event)} of epsilon {epsilon}; nothing was written"
        )
    if charge is not None:
        charge[0].settle(charge[1])
    made = PrivateRelease(
        plan=plan,
        domains=stated_domains(table),
        values={one.name: one.values for one in table.attributes},
        outcome=outcome,
        rows=released_rows(outcome, table, counts=plan.algorithm.options.get("output") == "counts"),
        algorithm=name,
        why=why,
        like=like,
    )
    work.advance("recode and judge", 1, 1)
    return made


def _refuse_names(plan: Plan) -> None:
    """Refuse a published column that is called like the counts, before anything is paid."""
    if COUNT in plan.columns and plan.columns[COUNT].role in (Role.QUASI, Role.TARGET):
        raise PlanError(f"columns.{COUNT}: a private release calls its counts so; rename the column")


def algorithm_of(plan: Plan) -> tuple[str, PrivateAlgorithm, str]:
    """The plan's algorithm with its options and its epsilon, and why."""
    sets = any(column.type == "set" for column in plan.columns.values())
    return private_algorithm(plan.algorithm.name, _epsilon(plan), plan.algorithm.options, sets=sets)


def _epsilon(plan: Plan) -> Fraction:
    others = [key for key in plan.privacy if key not in _KEYS]
    if others:
        raise PlanError(
            f"privacy.{others[0]}: a differentially private release meets its epsilon and nothing else; "
            f"here are {listed(_KEYS)} only"
        )
    if plan.privacy.get("domains", "declared") not in ("declared", "observed"):
        raise PlanError(f"privacy.domains must be declared or observed, not {plan.privacy['domains']!r}")
    if plan.algorithm.seed is not None:
        raise PlanError("algorithm.seed: whoever knows the seed can take the noise away; a private release has none")
    try:
        return exactly("privacy.epsilon", plan.privacy["epsilon"])
    except ParameterError as error:
        raise PlanError(str(error)) from None


def _charge(plan: Plan, epsilon: Fraction) -> tuple[Ledger, int] | None:
    """Reserve the cost in the plan's ledger, before the data is touched."""
    if "ledger" not in plan.privacy:
        return None
    ledger = Ledger(plan.folder / str(plan.privacy["ledger"]))
    analyst = str(plan.privacy.get("analyst", "release"))
    return ledger, ledger.reserve(analyst, Pure(epsilon=epsilon, what="release"), what="release")


def stated_domains(table: PrivateTable) -> dict[str, Any]:
    """What was declared, as the manifest has it."""
    found: dict[str, Any] = {"columns": {one.name: _domain(one) for one in table.attributes}}
    if table.target_name is not None:
        found["target"] = {"name": table.target_name, "values": list(table.classes)}
    return found


def _domain(one: Attribute) -> dict[str, Any]:
    if one.tree is None:
        return {"kind": one.kind, "low": one.low, "high": one.high, "grid": one.grid}
    tree = one.tree
    nodes = [[label, int(above)] for label, above in zip(tree.labels, tree.parent, strict=True)]
    return {"kind": one.kind, "nodes": nodes}


def released_rows(found: NoisyTable, table: PrivateTable, *, counts: bool) -> pl.DataFrame:
    """Groups with their counts, or a record for each count; groups without rows are left out of records only."""
    groups, classes = np.nonzero(found.counts) if not counts else np.indices(found.counts.shape).reshape(2, -1)
    many = found.counts[groups, classes]
    if not counts and int(many.sum()) > MOST_ROWS:
        raise ParameterError(
            f"epsilon must be larger for single records: the noisy counts add up to {int(many.sum()):,} rows; or "
            "publish counts with algorithm.output = 'counts'"
        )
    if not counts:
        groups, classes = np.repeat(groups, many), np.repeat(classes, many)
    cells = [
        pl.Series(name, list(labels), dtype=pl.String).gather(keys[groups])
        for name, labels, keys in zip(found.columns, found.labels, found.keys, strict=True)
    ]
    if table.target_name is not None:
        cells.append(pl.Series(table.target_name, list(table.classes), dtype=pl.String).gather(classes))
    return pl.DataFrame([*cells, *([pl.Series(COUNT, many)] if counts else [])])


def _kind(rows: pl.DataFrame, name: str) -> str:
    return "integer" if rows[name].dtype.is_integer() else "text"


def _counted(rows: pl.DataFrame, name: str) -> tuple[tuple[str, int], ...]:
    """Released rows per label."""
    weights = pl.col(COUNT).sum() if COUNT in rows.columns else pl.len()
    found = rows.group_by(name, maintain_order=True).agg(weights.cast(pl.Int64).alias("rows of the label"))
    return tuple((str(label), int(many)) for label, many in found.iter_rows())
