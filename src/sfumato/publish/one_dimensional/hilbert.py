"""One-dimensional l-diversity: groups of different sensitive values from neighbours on a space-filling curve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

import numpy as np

from sfumato.ground.arguments import one_of
from sfumato.ground.work import Work
from sfumato.group.keys import Ids
from sfumato.publish.labels import Output, recoded
from sfumato.publish.lattice.reach import refuse_unreachable
from sfumato.publish.one_dimensional.buckets import (
    Places,
    different,
    eligible,
    fewest_different,
    group_size,
    refuse_other_models,
    sensitive_column,
)
from sfumato.publish.one_dimensional.curves import hilbert, idistance
from sfumato.publish.one_dimensional.runs import Runs, grouped, passing
from sfumato.publish.order import ranks
from sfumato.publish.problem import Grain, Outcome, Problem

Curve = Literal["hilbert", "idistance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OneDimensional:
    """Put rows on a space-filling curve, and group neighbours with different sensitive values.

    Claim: every group meets the requirement, and groups are found whenever the table as one group meets it. Where the
        table allows it no sensitive value is twice in a group, so none is more frequent there than 1/l.
    How: values are numbered by size or by a walk through their taxonomy; a Hilbert curve or distances to reference
        points put rows on a line; each group takes the first rows on the line with different values, and those values
        that are so frequent that every group to come must have one. Where a value is too frequent for groups of
        different values, a group is the shortest run of neighbours that passes.
    Needs: models of one sensitive column that joining groups keeps, and that judge a group by its own values.
    Cost: a sort of the rows and one step per group.
    Source: Ghinita, Karras, Kalnis, Mamoulis 2007; document 004, section 6.1.2.
    """

    grain: ClassVar[Grain] = "rows"

    curve: Curve = "hilbert"
    """How rows are put on a line."""
    output: Output = "hierarchy"
    """What a group shows: hierarchy values, boxes or means."""

    def __post_init__(self) -> None:
        one_of("curve", self.curve, get_args(Curve))
        one_of("output", self.output, get_args(Output))

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        """Group the rows along the line."""
        refuse_unreachable(replace(problem, limit=0))
        groups, count = self._groups(problem, work)
        made = recoded(problem, groups, count, self.output)
        effort = {"groups": count, "smallest_group": int(np.bincount(groups).min()), "curve": self.curve}
        return Outcome.of(problem, made, np.zeros(problem.cells.count, np.bool_), effort)

    def _groups(self, problem: Problem, work: Work) -> tuple[Ids, int]:
        """Groups of different values where such groups meet the models, else runs of neighbours."""
        column = sensitive_column(problem, "hilbert")
        refuse_other_models(problem, "hilbert")
        places = self._places(problem)
        if column is None:
            return _neighbours(places, group_size(problem, None, "hilbert"))
        size = fewest_different(problem, column)
        if size is not None and eligible(problem, column, size):
            groups, count = different(problem, column, places, size, work)
            if passing(problem, grouped(problem, column, groups, count)).all():
                return groups, count
        return Runs(problem, column, np.argsort(places, kind="stable")).cut(work)

    def _places(self, problem: Problem) -> Places:
        points = np.array([ranks(problem, c)[codes] for c, codes in enumerate(problem.cells.keys)], np.int64).reshape(
            problem.cells.keys.shape
        )
        most = points.max(axis=1, keepdims=True, initial=1)
        bits = max(int(points.max(initial=1)).bit_length(), 1)
        if self.curve == "idistance":
            return idistance(points)
        return hilbert((points * ((1 << bits) - 1)) // np.maximum(most, 1))


def _neighbours(places: Places, size: int) -> tuple[Ids, int]:
    """Groups of so many rows in a row along the line; the last one takes the remainder."""
    order = np.argsort(places, kind="stable")
    count = max(len(places) // size, 1)
    groups = np.empty(len(places), np.int64)
    groups[order] = np.minimum(np.arange(len(places)) // size, count - 1)
    return groups, count
