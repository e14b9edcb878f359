"""Anatomy: quasi-identifiers stay as they are, and sensitive values are published apart, by group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sfumato.ground.errors import PlanError
from sfumato.ground.work import Work
from sfumato.models.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity, SimpleLDiversity
from sfumato.publish.lattice.reach import described, refuse_unreachable
from sfumato.publish.one_dimensional.buckets import different, group_size, sensitive_column
from sfumato.publish.problem import Grain, Outcome, Problem, Recoded

_DIVERSITIES = (DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity, SimpleLDiversity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Anatomy:
    """Publish two tables: rows with a group number, and each group's sensitive values.

    Claim: every group meets the l-diversity asked for; who finds a row learns its group's values and their counts,
        not which one is the row's.
    How: each group takes one row of each of several values, drawn at random; values that are so frequent that every
        group to come must have one come first.
    Needs: l-diversities of the one sensitive column; no value more frequent than 1/l in the table, tested first,
        except for distinct l-diversity, which lets a group have a value twice.
    Does not protect against: finding a row (quasi-identifiers are published unchanged, so there is no k-anonymity);
        learning that somebody is in the table.
    Cost: a sort of the rows and one step per group.
    Source: Xiao, Tao 2006; document 003, section 2.1.2.
    """

    grain: ClassVar[Grain] = "rows"

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        """Group the rows; no quasi-identifier is changed."""
        for model in problem.models:
            if not isinstance(model, _DIVERSITIES):
                raise PlanError(
                    f"algorithm.name: anatomy publishes quasi-identifiers unchanged and meets l-diversity only, not "
                    f"{described(model)}; use mondrian, local or optimal"
                )
        refuse_unreachable(replace(problem, limit=0))
        column = sensitive_column(problem, "anatomy") or ""
        size = group_size(problem, column, "anatomy")
        drawn = work.chance.generator().permutation(problem.cells.count)
        buckets, count = different(problem, column, drawn, size, work)
        levels = (0,) * len(problem.hierarchies)
        suppressed = np.zeros(problem.cells.count, np.bool_)
        return Outcome(
            levels=levels,
            suppressed=suppressed,
            loss=problem.metric.loss(Recoded.at(problem, levels).view(problem, suppressed)).value,
            proven=True,
            buckets=buckets,
            effort={"groups": count, "smallest_group": size},
        )
