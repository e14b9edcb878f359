"""The tour on bundled data: release, verify, attack, report."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import polars as pl

from sfumato.attacks.homogeneity import Homogeneity
from sfumato.attacks.linkage import Links, link
from sfumato.bundles.files import refuse_existing, refuse_page
from sfumato.core.claims import titled
from sfumato.core.errors import BundleError
from sfumato.core.run_context import Work
from sfumato.core.staging import write_whole
from sfumato.pipeline.methods.table.release import TableRelease
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import release
from sfumato.tables.datasets.synthetic_patients import patients
from sfumato.tables.files import rendered

PLAN = """\
# The tour's plan: a hospital's patients, published for research.
[input]
path = "patients.csv"

[columns.name]
role = "identifier"

[columns.birth_date]
role = "quasi"
type = "date"
hierarchy = { kind = "dates", levels = ["month", "year", "decade"] }

[columns.postal_code]
role = "quasi"
type = "text"
hierarchy = { kind = "mask", from = "right" }

[columns.sex]
role = "quasi"
hierarchy = { kind = "flat" }

[columns.job]
role = "quasi"
hierarchy = { bundled = "patients/job" }

[columns.diagnosis]
role = "sensitive"

[privacy]
k_anonymity = 5
l_diversity = { kind = "entropy", l = 3 }

[utility]
metric = "loss"

[algorithm]
max_suppressed = 0.05
"""
KNOWN = ("birth_date", "postal_code", "sex")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tour:
    """What the tour saw."""

    rows: int
    """Patients."""
    promised: tuple[str, ...]
    """What the plan asks for."""
    checks: int
    """Checks that verification made."""
    found_before: int
    """Patients found with certainty in the original."""
    found_after: int
    """Patients found with certainty in the release."""
    chance_before: float
    """The adversary's best chance in the original."""
    chance_after: float
    """The adversary's best chance in the release."""
    told: float
    """How often somebody who knows all quasi-identifiers of a patient tells the diagnosis from the release."""
    guessed: float
    """How often without it."""

    def to_json(self) -> dict[str, Any]:
        """As the command line prints it."""
        return asdict(self)


def tour(folder: Path, work: Work, *, rows: int = 30_000) -> Tour:
    """Write the tour's files and take it."""
    table = patients(rows, seed=20)
    bundle = folder / "release"
    _refuse_others(folder)
    write_whole(folder / "plan.toml", PLAN)
    write_whole(folder / "patients.csv", rendered(table, "patients.csv"))
    table_release = cast("TableRelease", release(Plan.parse(tomllib.loads(PLAN), folder=folder), work=work))
    checked = table_release.write(bundle, force=True, inside=folder / "inside.html", work=work)
    before = link(table, table, KNOWN)
    after = _attacked(table_release, table)
    tells = next(finding for finding in table_release.audit.findings if finding.attack == Homogeneity.name)
    return Tour(
        rows=rows,
        promised=tuple(titled(claim.model, claim.parameters) for claim in table_release.claims),
        checks=len(checked.checks),
        found_before=int(before.certain.sum()),
        found_after=int(after.certain.sum()),
        chance_before=float(before.confidence.max()),
        chance_after=float(after.confidence.max()),
        told=tells.rate.value,
        guessed=tells.naive.value,
    )


def _refuse_others(folder: Path) -> None:
    """Refuse to write over files that an earlier tour did not make; its plan tells a tour's folder."""
    plan = folder / "plan.toml"
    taken = [name for name in ("plan.toml", "patients.csv") if (folder / name).exists()]
    if taken and not (plan.is_file() and plan.read_bytes() == PLAN.encode()):
        raise BundleError(f"{folder / taken[0]} exists and is not the tour's; name another folder with -o")
    refuse_existing(folder / "release", force=True)
    refuse_page(folder / "inside.html", force=True)


def _attacked(table_release: TableRelease, register: pl.DataFrame) -> Links:
    """The adversary rewrites the register by what the released labels say, and joins."""
    problem = table_release.prepared.problem
    reading = {}
    for name, hierarchy, number in zip(
        problem.cells.quasi, problem.hierarchies, table_release.outcome.levels or (), strict=True
    ):
        level = hierarchy.levels[number]
        values = hierarchy.levels[0].labels
        reading[name] = {value: level.labels[level.parent[code]] for code, value in enumerate(values)}
    return link(table_release.rows, register, KNOWN, reading=reading)
