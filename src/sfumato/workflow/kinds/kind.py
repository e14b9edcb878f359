"""What a kind of release is: one object that says which plans are its own and what every stage does for it.

``workflow.walk`` calls the stages; whoever has a release, a plan or a manifest asks the object and never which it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import polars as pl

from sfumato.attacks.frame.subject import Subject
from sfumato.data.table import Table
from sfumato.ground.errors import PlanError
from sfumato.ground.work import Work
from sfumato.verification.checks import Check

if TYPE_CHECKING:
    from sfumato.workflow.apply.applying import Applied, Outside
    from sfumato.workflow.audit import Audit
    from sfumato.workflow.frontier.comparison import Comparison
    from sfumato.workflow.plan.plan import Plan
    from sfumato.workflow.profile.profiling import Profile
    from sfumato.workflow.released import Release


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


class Kind(ABC):
    """One kind of release."""

    name: ClassVar[str]
    """As the catalog's parts name it."""
    stated: ClassVar[str | None]
    """As the manifest names it; None: a manifest of this kind says nothing."""
    inside: ClassVar[bool] = True
    """Whether the steward gets a report of their own, with the original's figures."""

    # which plans

    @abstractmethod
    def owns(self, plan: Plan) -> bool:
        """Whether a plan asks for this kind of release."""

    @abstractmethod
    def check(self, plan: Plan) -> None:
        """Refuse what a plan cannot say, as far as that needs no table and no file."""

    # the stages of a release, in the order of the walk

    @abstractmethod
    def begin(self, asked: Asked) -> Asked:
        """Refuse what can be refused before the table is read, and pay for what must be paid before."""

    @abstractmethod
    def read(self, asked: Asked) -> Any:
        """The table, from a frame or from the file that the plan names."""

    @abstractmethod
    def prepare(self, asked: Asked, rows: Any) -> Any:
        """Describe the columns and count."""

    @abstractmethod
    def search(self, asked: Asked, prepared: Any, work: Work) -> Searched:
        """Find what the columns are to read as."""

    @abstractmethod
    def recode(self, asked: Asked, found: Searched) -> Any:
        """The rows as they are to be published."""

    @abstractmethod
    def judge(self, asked: Asked, found: Searched, recoded: Any) -> Release:
        """What the recoded rows meet and what they lost; a claim that does not hold is a fault and is refused."""

    @abstractmethod
    def attack(self, made: Release, work: Work) -> Audit:
        """What adversaries can do with it; more than the plan allows is refused."""

    # the bundle

    @abstractmethod
    def files(self, made: Release) -> dict[str, pl.DataFrame]:
        """The tables that the bundle holds, by the stem of their file; the data come first."""

    @abstractmethod
    def manifest(self, made: Release, files: Mapping[str, str]) -> dict[str, Any]:
        """What the manifest of this kind states beside what every manifest states; files come with their digests."""

    @abstractmethod
    def checks(self, folder: Path, manifest: Mapping[str, Any], data: Path) -> Iterable[Check]:
        """What is looked at when a bundle of this kind is verified, from its bytes."""

    @abstractmethod
    def subject(
        self, folder: Path, manifest: Mapping[str, Any], original: Table, *, control: Table | None, plan: Plan | None
    ) -> Subject:
        """A bundle as an attacker finds it, with its original."""

    @abstractmethod
    def apply(self, manifest: Mapping[str, Any], records: object, outside: Outside) -> Applied:
        """New records under the recoding that a manifest states."""

    # the faces

    @abstractmethod
    def page(self, made: Release, *, inside: bool, work: Work) -> str:
        """The report as one HTML page."""

    @abstractmethod
    def summary(self, made: Release) -> Summary:
        """What was made, for people."""

    @abstractmethod
    def figures(self, made: Release) -> dict[str, Any]:
        """What was made, for programs."""

    # what only some kinds can do

    def draft(self, found: Profile) -> list[str]:
        """The [privacy] and [algorithm] of a drafted plan, line by line."""
        self.cannot(f"no plan is drafted for a release of kind {self.name}")

    def comparison(self, plan: Plan) -> Comparison:
        """How releases of this kind are compared by a frontier."""
        self.cannot("a frontier compares tables; make such releases one by one with `sfumato release`")

    def dimensions(self, plan: Plan, frame: object, *, order: Any, work: Work) -> Any:
        """What every further quasi-identifier costs."""
        self.cannot("the analysis is about tables with quasi-identifiers and models that judge groups of rows")

    def cannot(self, why: str) -> NoReturn:
        """Refuse what this kind has not."""
        raise PlanError(f"columns: {why}")
