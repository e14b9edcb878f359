"""The main job: a plan and a table become a verified release."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version as version_of
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.bundle.claims import Claim
from sfumato.bundle.manifest import SCHEMA, dump, seal
from sfumato.bundle.published import Published
from sfumato.bundle.recoding import Recoding
from sfumato.bundle.staging import MANIFEST, REPORT, sha256, write_whole
from sfumato.data.files import rendered
from sfumato.data.frames import from_frame, to_native
from sfumato.describe.domains import ObservedDomain
from sfumato.ground.errors import PlanError
from sfumato.group.classes import Classes
from sfumato.publish.cut import ColumnCut
from sfumato.publish.problem import Outcome
from sfumato.publish.trail import Trail
from sfumato.utility.classification import Errors
from sfumato.utility.learners import Learner
from sfumato.verification.checks import Verification
from sfumato.verification.evidence import required
from sfumato.verification.judging import smallest
from sfumato.version import __version__
from sfumato.workflow.applying import Applied, Outside, applied, no_rule
from sfumato.workflow.bundling import write_bundle
from sfumato.workflow.catalog import catalog
from sfumato.workflow.plan import Plan
from sfumato.workflow.prepare import Prepared
from sfumato.workflow.rules import Rule, rule_at
from sfumato.workflow.studying import classification
from sfumato.workflow.verify import verify

if TYPE_CHECKING:
    from sfumato.workflow.audit import Audit

SEEDED = "made with a fixed seed: for studies only, not for publication"


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """Released rows with what they were found to meet; writing it makes a bundle."""

    plan: Plan
    """The plan it was made by."""
    prepared: Prepared
    """The original, counted."""
    outcome: Outcome
    """What the search found."""
    recoding: Recoding
    """How rows were changed."""
    rows: pl.DataFrame
    """The released rows."""
    published: Published
    """What a verifier must know to read them."""
    classes: Classes
    """Their equivalence classes."""
    claims: tuple[Claim, ...]
    """What they meet."""
    utility: Mapping[str, float]
    """What they lost."""
    algorithm: str
    """The algorithm that found them."""
    why: str
    """Why that algorithm."""
    sensitive: pl.DataFrame | None = None
    """The sensitive values by group, where they are published apart."""
    like: object = None
    """The frame that came in."""

    @property
    def frame(self) -> object:
        """The released rows as the same kind of frame that came in."""
        return self.rows if self.like is None else to_native(self.rows, self.like)

    @property
    def levels(self) -> dict[str, int] | None:
        """The level of each quasi-identifier, where every column has one."""
        if self.outcome.levels is None:
            return None
        return dict(zip(self.prepared.schema.quasi, self.outcome.levels, strict=True))

    @property
    def smallest_class(self) -> dict[str, int]:
        """K under both readings of unknown cells."""
        return smallest(required(self.classes, self.published))

    @property
    def suppressed_rows(self) -> int:
        """How many rows were suppressed."""
        return int(self.recoding.suppressed.sum())

    @cached_property
    def risk(self) -> dict[str, Any]:
        """Re-identification risks of the released rows."""
        return catalog().risk(required(self.classes, self.published))

    @cached_property
    def audit(self) -> Audit:
        """What the attacks found; a release that gives away more than the plan allows is refused here."""
        from sfumato.workflow.audit import release_audit

        return release_audit(self)

    @property
    def format(self) -> str:
        """The file format of the data file."""
        return self.plan.output_format

    @property
    def trail(self) -> Trail | None:
        """The steps by which it was found, where each of them is a table of its own; not all of it may be public."""
        return self.outcome.trail

    @property
    def public_trail(self) -> Trail | None:
        """The trail where it tells no more than the release: coarser tables of the same rows can be made from it."""
        trail = self.outcome.trail
        return trail if trail is not None and trail.direction == "down" and not self.suppressed_rows else None

    @cached_property
    def rules(self) -> dict[str, Rule] | None:
        """How each quasi-identifier of new records is to be read, where a value always reads alike."""
        cut: tuple[ColumnCut | int, ...] | None = self.outcome.cut or self.outcome.levels
        if cut is None or self.outcome.buckets is not None:
            return None
        found = {}
        for name, part in zip(self.prepared.problem.cells.quasi, cut, strict=True):
            labels = self.classes.labels[self.classes.quasi.index(name)]
            domain = ObservedDomain.of(self.prepared.columns[name])
            tree = self.plan.columns[name].hierarchy or {"kind": "flat"}
            found[name] = rule_at(tree, self.plan.folder, domain, labels, part)
        return found

    def transform(self, records: object, *, outside: Outside = "refuse") -> Applied:
        """New records under the same recoding; values outside the domain are refused, starred or left out."""
        if self.rules is None:
            raise no_rule(self.algorithm)
        models = [(one.model, one.parameters) for one in self.claims]
        table = from_frame(records, missing=self.published.missing)
        reading = self.prepared.problem.reading
        return applied(table, self.rules, self.published, models=models, reading=reading, outside=outside)

    def classification(self, learner: Learner = "tree", *, train: NDArray[np.bool_] | None = None) -> Errors:
        """How well a learner tells the target: from original values, without quasi-identifiers, from the release.

        ``train`` marks the rows of the prepared table to learn from; a random two thirds where nothing is said.
        """
        return classification(self.prepared, self.outcome, learner, train)

    def write(self, folder: str | Path, *, force: bool = False) -> Verification:
        """Write the bundle: complete and verified from its bytes, or not at all."""
        refuse_key_inside(self.plan, Path(folder))
        return write_bundle(folder, lambda work: self.checked(work, self.report(inside=False)), force=force)

    def checked(self, folder: Path, report: str = "") -> Verification:
        """Put the bundle's files into an empty folder, and verify them from their bytes.

        Without a report this is a trial: as strict as a bundle that is handed out, and sooner done.
        """
        data = folder / f"data.{self.format}"
        data.write_bytes(rendered(as_written(self.rows, data.name, self.published.missing), data.name))
        apart = folder / f"sensitive.{self.format}"
        if self.sensitive is not None:
            apart.write_bytes(rendered(as_written(self.sensitive, apart.name, self.published.missing), apart.name))
        (folder / REPORT).write_text(report, encoding="utf-8")
        files = [path for path in (data, apart) if path.exists()]
        manifest = self.manifest({path.name: sha256(path) for path in files}, report=sha256(folder / REPORT))
        (folder / MANIFEST).write_text(dump(manifest), encoding="utf-8")
        return verify(folder)

    def write_inside(self, path: str | Path) -> None:
        """Write the steward's own report; it shows the original's figures and must not be published."""
        write_whole(Path(path), self.report(inside=True))

    def report(self, *, inside: bool) -> str:
        """The report as one HTML page; the inside one shows the original's figures and must not be published."""
        from sfumato.report.table.table_page import render
        from sfumato.workflow.facts import facts

        return render(facts(self, inside=inside))

    def manifest(self, files: Mapping[str, str], *, report: str) -> dict[str, Any]:
        """What the bundle states about itself, sealed; ``files`` are the data files' names and digests."""
        (data, digest), *apart = files.items()
        shown = {"file": data, "sha256": digest, **self.published.to_json()}
        if apart:
            shown["apart"] = {**shown["apart"], "file": apart[0][0], "sha256": apart[0][1]}
        removed = self.recoding.rows == "remove"
        rows = self.prepared.table.rows
        return seal(
            {
                "sfumato": __version__,
                "schema": SCHEMA,
                "made": datetime.now(UTC).date().isoformat(),
                "marks": [SEEDED] if self.plan.algorithm.seed is not None else [],
                "data": shown,
                "plan": self.plan.public(),
                "claims": [one.to_json() for one in self.claims],
                "smallest_class": self.smallest_class,
                "recoding": {"algorithm": self.algorithm, "why": self.why, "columns": _labels(self)},
                "suppression": {
                    "rows": self.suppressed_rows,
                    "of": rows if removed else self.published.rows,
                    "how": self.recoding.rows,
                    "limit": self.plan.algorithm.max_suppressed,
                },
                "utility": dict(self.utility),
                "risk": self.risk,
                "search": {**self.outcome.effort, "proven_optimal": self.outcome.proven},
                "trail": None if self.public_trail is None else asdict(self.public_trail),
                "attacks": self.audit.to_json(),
                "attacks_not_made": dict(self.audit.skipped),
                "report": {"file": REPORT, "sha256": report},
                "versions": versions("numpy", "polars", "scipy"),
            }
        )


def refuse_key_inside(plan: Plan, folder: Path) -> None:
    """Refuse to write a bundle around the key of its pseudonyms."""
    for name, column in plan.columns.items():
        if column.pseudonym is not None:
            key = plan.folder / column.pseudonym["key_file"]
            if folder.resolve() in key.resolve().parents:
                raise PlanError(f"columns.{name}.pseudonym.key_file: the key must not lie inside the bundle {folder}")


def as_written(rows: pl.DataFrame, file: str, missing: Sequence[str]) -> pl.DataFrame:
    """The rows as their file has them: a text file has no nulls, so the missing marker is written."""
    holes = [name for name in rows.columns if rows[name].null_count()]
    if not file.endswith(".csv") or not holes:
        return rows
    return rows.with_columns(pl.col(holes).cast(pl.String).fill_null(missing[0]))


def _labels(made: Release) -> dict[str, Any]:
    """Per quasi-identifier, the labels that the release shows; their sizes where the domain is public anyway."""
    problem = made.prepared.problem
    found = made.outcome.recoding(problem)
    shown: dict[str, Any] = {}
    for place, (name, hierarchy) in enumerate(zip(problem.cells.quasi, problem.hierarchies, strict=True)):
        released = set(made.classes.labels[made.classes.quasi.index(name)])
        used = [i for i, label in enumerate(found.labels[place]) if label in released]
        ruler, labels = found.rulers[place], found.labels[place]
        here: dict[str, Any] = {"of": hierarchy.height, "labels": {labels[i]: float(ruler.steps[i]) for i in used}}
        if made.outcome.levels is not None:
            here["level"] = made.outcome.levels[place]
        if found.forms and found.forms[place] != "levels":
            here["form"] = found.forms[place]
        if made.rules is not None:
            here["rule"] = made.rules[name].to_json()
        if hierarchy.declared is not None:
            here["sizes"] = {labels[i]: float(ruler.sizes[i]) for i in used}
            here |= {"total": hierarchy.total, "continuous": hierarchy.continuous}
        shown[name] = here
    return shown


def versions(*names: str) -> dict[str, str]:
    """The versions of Python and of the packages that a release was made with."""
    return {"python": platform.python_version()} | {name: version_of(name) for name in names}
