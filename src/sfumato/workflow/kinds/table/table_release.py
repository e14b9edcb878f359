"""A release of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.frame.moved_dates import Shifts
from sfumato.bundle.published import Published
from sfumato.bundle.recoding import Recoding
from sfumato.data.frames import from_frame
from sfumato.data.table import Table
from sfumato.group.classes import Classes
from sfumato.group.near_unique import NearUnique, asked_size
from sfumato.publish.cut import ColumnCut
from sfumato.publish.problem import Outcome
from sfumato.publish.trail import Trail
from sfumato.utility.classification import Errors
from sfumato.utility.learners import Learner
from sfumato.verification.evidence import required
from sfumato.verification.judging import smallest
from sfumato.verification.near_unique_remarks import near_unique_released
from sfumato.workflow.apply.rules import Rule, rule_at
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.engine_input import is_spark
from sfumato.workflow.kinds.table.preparing import Prepared
from sfumato.workflow.released import Release

if TYPE_CHECKING:
    from sfumato.engines.engine_source import EngineSource
    from sfumato.report.table.sample_facts import SampleFacts
    from sfumato.report.table.table_facts import ReportFacts, SearchFacts
    from sfumato.workflow.apply.applying import Applied, Outside
    from sfumato.workflow.kinds.table.parted_rows import ReleasedParts


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableRelease(Release):
    """Released rows whose groups meet models."""

    prepared: Prepared
    """The original, counted."""
    outcome: Outcome
    """What the search found."""
    recoding: Recoding
    """How rows were changed."""
    published: Published
    """What a verifier must know to read them."""
    classes: Classes
    """Their equivalence classes."""
    sensitive: pl.DataFrame | None = None
    """The sensitive values by group, where they are published apart."""
    parts: ReleasedParts | None = None
    """The released rows, where they stay in files; ``rows`` has only their columns then."""
    beside: tuple[SearchFacts, ...] = ()
    """What other searches would lose, where ``auto`` made some; the steward's to know."""
    session: Mapping[str, Any] | None = None
    """Who made it together, and what each of them learnt, where several parties did."""

    @property
    def levels(self) -> dict[str, int] | None:
        """The level of each quasi-identifier, where every column has one."""
        if self.outcome.levels is None:
            return None
        bases = [hierarchy.base for hierarchy in self.prepared.problem.hierarchies]
        whole = [base + level for base, level in zip(bases, self.outcome.levels, strict=True)]
        return dict(zip(self.prepared.schema.quasi, whole, strict=True))

    @property
    def smallest_class(self) -> dict[str, int]:
        """K under both readings of unknown cells."""
        return smallest(required(self.classes, self.published))

    @property
    def suppressed_rows(self) -> int:
        """How many rows were suppressed."""
        return self.recoding.suppressed_rows

    @property
    def suppressed_people(self) -> int | None:
        """How many people lost a row, where people are counted."""
        people = self.prepared.problem.cells.people
        return None if people is None else people.within(self.outcome.suppressed)

    @cached_property
    def near_unique(self) -> tuple[NearUnique, ...]:
        """The released columns that nearly single people out, as anybody can count in the released rows."""
        k = asked_size(one.parameters for one in self.claims)
        return near_unique_released(self.released, self.published.schema.roles, k)

    @property
    def height(self) -> int:
        """How many released rows there are."""
        return self.published.rows

    @property
    def released(self) -> Table | EngineSource:
        """The released rows as a verifier has them: in memory, or counted where they are."""
        if self.parts is not None:
            return self.parts.source
        return Table(frame=self.rows, missing=self.published.missing, source="the release")

    @property
    def frame(self) -> object:
        """The released rows as the same kind of frame that came in; a lazy one where they stay in files."""
        if self.parts is not None:
            return self.parts.frame(self.like)
        if is_spark(self.like):
            return self.like.sparkSession.createDataFrame(self.rows.to_arrow())  # type: ignore[attr-defined]
        return super().frame

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release."""
        return [*super().marks, *(one.told for one in self.near_unique)]

    @cached_property
    def shifts(self) -> Shifts | None:
        """Moved dates of people in the release, and what an attacker may know of the true ones."""
        from sfumato.workflow.dating import shifts_of
        from sfumato.workflow.kinds.table.table_subject import kept

        source = self.prepared.source
        return shifts_of(self.plan, lambda names: source.texts(names, kept(self)), source.missing)

    @property
    def warnings(self) -> list[str]:
        """How far moved dates can be moved back, where that is easier than by guessing."""
        from sfumato.workflow.dating import shift_warnings

        return shift_warnings(self.shifts)

    @property
    def effort(self) -> Mapping[str, int | float | str]:
        """What the search did."""
        return self.outcome.effort

    @cached_property
    def risk(self) -> dict[str, Any]:
        """Re-identification risks of the released rows."""
        return catalog().risk(required(self.classes, self.published))

    @cached_property
    def sample(self) -> SampleFacts | None:
        """Risks and losses by sampling weights, where the plan names a weight; the steward's to know."""
        if self.plan.input.weight is None:
            return None
        from sfumato.workflow.kinds.table.sample_figures import sample_figures

        return sample_figures(self)

    @property
    def trail(self) -> Trail | None:
        """The steps by which it was found, where each of them is a table of its own; not all of it may be public."""
        return self.outcome.trail

    @cached_property
    def stated_columns(self) -> dict[str, Any]:
        """Per quasi-identifier, what may be told about its labels."""
        from sfumato.workflow.kinds.table.public_figures import recoded_columns

        return recoded_columns(self)

    @cached_property
    def public_utility(self) -> dict[str, float]:
        """What was lost, as far as released rows and declared facts tell it; ``utility`` is exact and the steward's."""
        from sfumato.workflow.kinds.table.public_figures import public_utility

        return public_utility(self)

    @cached_property
    def exact_facts(self) -> ReportFacts:
        """What the steward's report shows."""
        from sfumato.workflow.kinds.table.table_content import exact_facts

        return exact_facts(self)

    @property
    def public_trail(self) -> Trail | None:
        """The trail where it tells no more than the release: coarser tables of the same rows can be made from it."""
        trail = self.outcome.trail
        if trail is None or trail.direction != "down" or self.suppressed_rows:
            return None
        return trail if self.plan.metric in self.public_utility else trail.without_loss()

    @cached_property
    def rules(self) -> dict[str, Rule] | None:
        """How each quasi-identifier of new records is to be read, where a value always reads alike."""
        cut: tuple[ColumnCut | int, ...] | None = self.outcome.cut or self.outcome.levels
        if cut is None or self.outcome.buckets is not None:
            return None
        found = {}
        for name, part in zip(self.prepared.problem.cells.quasi, cut, strict=True):
            labels = self.classes.labels[self.classes.quasi.index(name)]
            based = self.prepared.based.get(name)
            domain = self.prepared.public.domains[name]
            tree = self.plan.columns[name].hierarchy or {"kind": "flat"}
            found[name] = rule_at(tree, self.plan.folder, domain, labels, part, based)
        return found

    def parts_into(self, folder: Path) -> dict[str, Any] | None:
        """Put the rows into a bundle where they are many files; what its manifest states about them, or None."""
        return None if self.parts is None else self.parts.put_into(folder)

    def transform(self, records: object, *, outside: Outside = "refuse") -> Applied:
        """New records under the same recoding; values outside the domain are refused, starred or left out."""
        from sfumato.workflow.apply.applying import applied, no_rule
        from sfumato.workflow.dating import planned_dates

        if self.rules is None:
            raise no_rule(self.algorithm)
        models = [(one.model, one.parameters) for one in self.claims]
        table = planned_dates(from_frame(records, missing=self.published.missing), self.plan)
        reading = self.prepared.problem.reading
        return applied(table, self.rules, self.published, models=models, reading=reading, outside=outside)

    def classification(self, learner: Learner = "tree", *, train: NDArray[np.bool_] | None = None) -> Errors:
        """How well a learner tells the target: from original values, without quasi-identifiers, from the release.

        ``train`` marks the rows of the prepared table to learn from; a random two thirds by default.
        """
        from sfumato.workflow.kinds.table.table_study import classification

        return classification(self.prepared, self.outcome, learner, train)
