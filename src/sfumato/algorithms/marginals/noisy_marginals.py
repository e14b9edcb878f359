"""Noisy marginals and their options."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import inf
from typing import Any, ClassVar, Literal, get_args

from sfumato.algorithms.marginals.choices import (
    Pair,
    measure_core,
    measure_declared,
    measure_pairs,
    measure_with_class,
    rounds_worth,
)
from sfumato.algorithms.marginals.levels import binned
from sfumato.algorithms.marginals.measuring import MeasuredParts, Measuring
from sfumato.algorithms.marginals.tree_model import fitted, rows_of
from sfumato.algorithms.private_table import Mechanisms, NoisyTable, PrivateTable
from sfumato.core.arguments import at_least, one_of
from sfumato.core.errors import ParameterError, PlanError, unknown_column
from sfumato.core.run_context import Work
from sfumato.counts.sources import Need, refuse_lacking
from sfumato.dp.accounting import budgeted, purse_of

Choosing = Literal["scores", "declared"]
ALONE = {True: Fraction(3, 20), False: Fraction(1, 3)}
"""The part of the budget for attributes alone, with a class and without."""
CORE = Fraction(3, 10)
"""The part for the core, if there is a class."""
CLASSED = Fraction(2, 5)
"""The part for further attributes with the class, if there is one; pairs get the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marginals:
    """Noisy counts of every attribute, of a few with the class and of some pairs; rows drawn from the model they make.

    Claim: the release is differentially private, with pure epsilon or with the rho of zCDP: every look at the rows is a
        private choice or a noisy count, and all that was paid for is used.
    How: every attribute is counted alone. With a class, a few that tell it best together are chosen and counted in one
        table with it, then others one after the other, by how much they still tell about it. Last, pairs that the model
        tells worst are chosen as a forest and counted together, with the class where that is worth its noise. Tables
        are averaged, labels and pairs shrunk by their noise, and all made to agree; whole rows are drawn from the
        model.
        With ``choosing = "declared"`` nothing is chosen by the rows: every attribute is counted with the class, and
        the pairs of the workload that make a forest. So three and more parties measure together, who can add up noisy
        counts but no scores.
    Needs: declared domains; no sets.
    Cost: counts of all pairs of attributes, once; as many rounds as the noise allows.
    Source: McKenna, Miklau, Sheldon 2021 (MST); McKenna, Mullins, Sheldon, Miklau 2022 (AIM); Friedman et al. 1997
        (tree-augmented naive Bayes); Morris 1983 (empirical Bayes).
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"integers"})
    """Whole counts: that one record moves a score no further than its sensitivity is proven for those."""

    epsilon: Any = None
    """The whole budget, pure; becomes an exact fraction."""
    rho: Any = None
    """The whole budget in zCDP, in place of epsilon."""
    bins: int = 64
    """Into how many labels an attribute is coarsened, at most."""
    workload: Sequence[Sequence[str]] = ()
    """Lists of columns that are looked at together: only their pairs are measured. Without one, all pairs may be."""
    choosing: Choosing = "scores"
    """Whether private scores choose what is measured, or it is declared: all with the class, and pairs by workload."""

    def __post_init__(self) -> None:
        epsilon, rho = budgeted(self.epsilon, self.rho)
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "rho", rho)
        at_least("bins", self.bins, 2)
        one_of("choosing", self.choosing, get_args(Choosing))
        given = self.workload
        if not isinstance(given, list | tuple) or not all(
            isinstance(columns, list | tuple) and columns for columns in given
        ):
            raise ParameterError(f"workload must be lists of column names such as [['age', 'sex']], not {given!r}")
        object.__setattr__(self, "workload", tuple(tuple(map(str, columns)) for columns in given))

    def __call__(self, table: PrivateTable, work: Work) -> NoisyTable:
        """The release."""
        return published(self, table, work, Mechanisms())


def published(settings: Marginals, table: PrivateTable, work: Work, mechanisms: Mechanisms) -> NoisyTable:
    """The release, with choices and noise from where they are said to come from."""
    for attribute in table.attributes:
        if attribute.kind == "set":
            raise PlanError(f"columns.{attribute.name}: marginals do not read sets; use algorithm.name = 'diffgen'")
    refuse_lacking(table.counts, Marginals.needs, "algorithm.name: marginals")
    state = Measuring(
        table=table,
        bins=tuple(binned(place, attribute, settings.bins) for place, attribute in enumerate(table.attributes)),
        purse=purse_of(settings.epsilon, settings.rho),
        mechanisms=mechanisms,
        work=work,
    )
    wanted = _wanted(settings.workload, table)
    if settings.choosing == "declared":
        measure_declared(state, wanted or ())
    else:
        _measured(state, wanted)
    model = fitted(state.levels, state.totals, state.tables, state.edges, state.core)
    keys, counts, stands = rows_of(model, work.chance.generator())
    cuts = tuple(binning.cut for binning in state.bins)
    return NoisyTable(
        columns=tuple(attribute.name for attribute in table.attributes),
        labels=tuple(cut.labels for cut in cuts),
        keys=keys,
        counts=counts,
        event=state.purse.closed("noisy marginals"),
        cut=cuts,
        steps=tuple(state.said),
        effort={
            "attributes": len(cuts),
            "in the core": len(state.core.places) if state.core else 0,
            "measured with the class": len(state.tables),
            "pairs measured": len(state.edges),
            "groups": len(counts),
            "rows that each drawn row stands for": stands,
        },
        errors=(*(level.errors for level in state.levels), *state.class_errors),
    )


def _measured(state: Measuring, wanted: Collection[Pair] | None) -> None:
    """Spend the whole budget: on attributes alone, with the class, in pairs, and what is left on them alone again."""
    whole, classes = state.purse.whole, state.kinds > 1
    state.measure_alone(whole * ALONE[classes])
    if classes:
        pairs = whole * (1 - ALONE[classes] - CORE - CLASSED)
        state.gather(state.spread(whole * CLASSED, rounds_worth(state, whole * CLASSED)), pairs)
        parts = MeasuredParts(state.table.counts.root(state.table.figures))
        measure_core(state, parts, whole * CORE)
        measure_with_class(state, parts, state.purse.left - pairs)
    else:
        state.gather(inf, state.purse.left)
    measure_pairs(state, wanted)
    if state.purse.left:
        state.measure_alone(state.purse.left)
        state.recount()


def _wanted(workload: Sequence[Sequence[str]], table: PrivateTable) -> Collection[Pair] | None:
    """The pairs of attributes, by place, that a workload looks at; None: all. The class may go with every pair."""
    places = {attribute.name: place for place, attribute in enumerate(table.attributes)}
    known = [*places, *([table.target_name] if table.target_name is not None else [])]
    for name in (name for columns in workload for name in columns):
        if name not in known:
            raise unknown_column(name, known, where="algorithm.workload")
    named = [sorted(places[name] for name in dict.fromkeys(columns) if name in places) for columns in workload]
    return {pair for group in named for pair in combinations(group, 2)} if workload else None
