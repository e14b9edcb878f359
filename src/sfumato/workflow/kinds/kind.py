"""What a kind of release is: one record of what every stage does for it.

``workflow.walk`` calls the stages; whoever has a release, a plan or a manifest asks the record, never which kind it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import polars as pl

from sfumato.attacks.frame.subject import Subject
from sfumato.data.table import Table
from sfumato.ground.errors import PlanError
from sfumato.ground.work import Work
from sfumato.report.base.drawn import Drawn
from sfumato.verification.checks import Check, Remark
from sfumato.workflow.opening_words import claims_explained

if TYPE_CHECKING:
    from sfumato.workflow.apply.applying import Applied, Outside
    from sfumato.workflow.audit import Audit
    from sfumato.workflow.exploring.counted import Counted
    from sfumato.workflow.frontier.comparison import Comparison
    from sfumato.workflow.plan.attack_plan import AttackPlan
    from sfumato.workflow.plan.plan import Plan
    from sfumato.workflow.profile.profiling import Profile
    from sfumato.workflow.released import Release

Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A plan that was looked at: everything that can be refused before a byte is read was not refused."""

    plan: Plan
    """The plan."""
    keys: Mapping[str, Any]
    """The keys of pseudonymized columns."""
    like: object = None
    """The frame that came in."""
    population: object = None
    """The population's frame, if one came in."""
    charge: Any = None
    """What was reserved in a ledger, if anything."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Searched:
    """What a search was given, and what it found."""

    prepared: Any
    """The table, described and counted."""
    outcome: Any
    """What the search found."""
    algorithm: str
    """Which algorithm."""
    why: str
    """Why that one."""
    beside: tuple[Any, ...] = ()
    """What other searches on the same table would lose, where some were made; the steward's to know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What was made, for a person at a terminal."""

    lines: tuple[str, ...]
    """What comes first."""
    heads: tuple[str, ...] = ()
    """The heads of a table."""
    cells: tuple[tuple[object, ...], ...] = ()
    """Its rows."""
    after: tuple[str, ...] = ()
    """What comes after the table."""
    changes: tuple[tuple[str, object, object], ...] = ()
    """What is counted before and after: rows, smallest groups, different values; no value of the original."""


def warned(marks: Iterable[str]) -> tuple[str, ...]:
    """Each warning as a sentence."""
    return tuple(f"Beware: {mark.rstrip('.')}." for mark in marks)


def frontier_compares_tables(plan: Plan) -> NoReturn:
    """Refuse a frontier of a kind that has no axes."""
    raise PlanError("columns: a frontier compares tables; make releases of paths and sets one by one with "
                    "`sfumato release`, whose reports tell what each of them loses")  # fmt: skip


def no_dimensions(plan: Plan, frame: object, *, order: Any, work: Work) -> NoReturn:
    """Refuse the curse of dimensionality where there are no groups of rows."""
    raise PlanError("columns: the analysis is about tables with quasi-identifiers and models that judge groups of rows")


def _same_release(*bundle: Any) -> Iterable[Check]:
    from sfumato.workflow.remaking import same_release

    return same_release(*bundle)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of release. A release is made, then asked; ``Any`` stands for what only the kind itself looks into."""

    name: str
    """As the catalog's parts and the manifest name it."""
    solved_as: str | None = None
    """The kind whose algorithms make it, where that is another one."""
    attacked_as: str = "table"
    """The kind whose attacks are made on its bundles."""
    planned: bool = True
    """Whether a plan makes it; its manifest then states the plan."""
    options: tuple[str, ...] = ()
    """The keys of [algorithm] that every plan of this kind may have, beside those of every plan."""
    needs: tuple[tuple[str, str], ...] = ()
    """Modules of extras without which no release can be made, each with what needs it."""
    check: Callable[[Plan], None]
    """Refuse what a plan cannot say, as far as that needs no table and no file."""
    begin: Callable[[Asked], Asked] = lambda asked: asked
    """Refuse what can be refused before the table is read, and pay for what must be paid before."""
    read: Callable[[Asked], Any]
    """The table, from a frame or from the file that the plan names."""
    counted: Callable[[Plan, Table], Counted] | None = None
    """A table under a plan, for pages that look at it before anything is released; None: there is nothing to see."""
    prepare: Callable[[Asked, Any], Any]
    """Describe the columns, and count."""
    notes: Callable[[Any], Iterable[str]] = lambda prepared: ()
    """What a steward should know about the table before anything is searched."""
    search: Callable[[Asked, Any, Work], Searched]
    """Find what the columns are to read as."""
    recode: Callable[[Asked, Searched], Any]
    """The rows as they are to be published."""
    judge: Callable[[Kind, Asked, Searched, Any], Release]
    """What the rows meet and what they lost; a claim that does not hold is a fault of the search and is refused."""
    attack: Callable[[Any, Work], Audit]
    """What adversaries can do with a release; more than the plan allows is refused."""
    files: Callable[[Any], dict[str, pl.DataFrame]]
    """The tables that a bundle holds, by the stem of their file; the data come first."""
    manifest: Callable[[Any, Mapping[str, str]], dict[str, Any]]
    """What a manifest states beside what every manifest states; the data files come with their digests."""
    checks: Callable[[Path, Manifest, Mapping[str, Table]], Iterable[Check | Remark]]
    """What is looked at when a bundle is verified: given its folder, its manifest and its tables."""
    again: Callable[[Path, Manifest, Plan, object, Work], Iterable[Check]] = _same_release
    """What the steward finds who makes a bundle again: given folder, manifest, plan and original."""
    subject: Callable[..., Subject]
    """A bundle as an attacker finds it: given folder, manifest, original, and by name control and plan."""
    alone: Callable[[Path, Manifest, AttackPlan, Work], Audit] | None = None
    """What adversaries can do with a bundle, where its own bytes are enough to know; None: the original is needed."""
    beside: Callable[..., Audit] | None = None
    """Attacks of its own on a bundle, beside its original: given folder, manifest and original, and by name control,
    earlier, asked, work and chance; None: those that ``subject`` is made for."""
    ending: str | None = None
    """How its data file ends where that is no table but a document a line; None: as the plan's format."""
    apply: Callable[[Manifest, object, Outside], Applied]
    """New records under the recoding that a manifest states."""
    public_page: Callable[[Manifest, Mapping[str, Table], Work], str]
    """The report of a bundle as one HTML page, made from its manifest and its tables and from nothing else."""
    done: Callable[[Manifest], str]
    """What was done to the data, in a sentence or two of the report's first paragraph."""
    promises: Callable[[Manifest], Iterable[tuple[str, str]]] = claims_explained
    """In words: what each promise means, and what it leaves open."""
    inside_page: Callable[[Any, Work], str] | None = None
    """The steward's own report, with the original's figures; None where a release has none."""
    summary: Callable[[Any], Summary]
    """What was made, for people."""
    drawn: Callable[[Any], Drawn] = lambda made: Drawn()
    """Its pictures, for pages beside the report; none where a release has no more than its report."""
    figures: Callable[[Any], dict[str, Any]]
    """What was made, for programs."""
    draft: Callable[[Profile], list[str]] | None = None
    """The [privacy] and [algorithm] of a drafted plan, line by line; None: no plan is drafted for this kind."""
    comparison: Callable[[Plan], Comparison] = frontier_compares_tables
    """How releases of this kind are compared by a frontier."""
    dimensions: Callable[..., Any] = no_dimensions
    """What every further quasi-identifier costs."""

    @property
    def solves(self) -> str:
        """What algorithms of the catalog must solve to make it."""
        return self.solved_as or self.name

    def __repr__(self) -> str:
        return f"Kind({self.name})"
