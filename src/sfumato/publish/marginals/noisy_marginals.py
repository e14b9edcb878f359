"""Noisy marginals and their options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from sfumato.budget.events import exactly
from sfumato.budget.purse import Purse
from sfumato.ground.arguments import at_least, one_of
from sfumato.ground.errors import ParameterError, PlanError
from sfumato.ground.work import Work
from sfumato.group.needs import Need, refuse_lacking
from sfumato.publish.marginals.binnings import binnings, whole
from sfumato.publish.marginals.marginal_noise import Mechanisms
from sfumato.publish.marginals.marginal_search import Search, shares
from sfumato.publish.marginals.measured_parts import MeasuredParts
from sfumato.publish.marginals.model import Measured, Model, fitted
from sfumato.publish.marginals.rows import rows_of
from sfumato.publish.noisy_table import NoisyTable, PrivateTable

Structure = Literal["tree", "naive"]
LEAST = Fraction(1, 10**9)
"""No smaller epsilon: noise in the counts would not fit their numbers."""
AUTO = 6
"""How many attributes are measured at most, if there is a class and nobody said how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marginals:
    """Noisy counts of a few attributes with the class, and rows that are drawn from the model they make.

    Claim: the release is epsilon-differentially private: every look at the rows is a private choice or a noisy count.
    How: each step chooses, by noisy scores, the attribute (and how coarsely it is shown) that helps most to tell the
        class beside those already measured, then the one of these that it depends on most, if any, and measures both
        with the class by discrete Laplace noise. Tables are made to agree; rows are drawn from the tree model. Without
        a class the pairs that depend on each other most are measured.
    Needs: declared domains; no sets.
    Cost: about steps x candidates counts of the distinct rows; candidates are all attributes in all their binnings.
    Source: Zhang et al. 2014 (PrivBayes); McKenna, Miklau, Sheldon 2021 (MST); Friedman et al. 1997 (tree-augmented
        naive Bayes).
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"integers"})
    """Whole counts: that one record moves a score no further than its sensitivity is proven for those."""

    epsilon: Any
    """The whole budget; becomes an exact fraction."""
    attributes: int | Literal["auto"] = "auto"
    """How many attributes are kept; auto: as many of at most six as tell the class best, or all without a class."""
    bins: int = 32
    """Into how many values an attribute is coarsened, at most."""
    structure: Structure = "tree"
    """Whether an attribute may depend on another one (tree), or on the class only (naive)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exactly("epsilon", self.epsilon))
        if self.epsilon < LEAST:
            raise ParameterError(f"epsilon must be at least {float(LEAST):g}, not {float(self.epsilon):g}")
        if self.attributes != "auto":
            at_least("attributes", self.attributes, 1)
        at_least("bins", self.bins, 2)
        one_of("structure", self.structure, get_args(Structure))

    def __call__(self, table: PrivateTable, work: Work) -> NoisyTable:
        """The release."""
        return published(self, table, work, Mechanisms())


def published(asked: Marginals, table: PrivateTable, work: Work, mechanisms: Mechanisms) -> NoisyTable:
    """The release, with choices and noise from where they are said to come from."""
    for one in table.attributes:
        if one.kind == "set":
            raise PlanError(f"columns.{one.name}: marginals do not read sets; use algorithm.name = 'diffgen'")
    refuse_lacking(table.counts, Marginals.needs, "algorithm.name: marginals")
    search = _searched(asked, table, work, mechanisms)
    kept = search.kept[: search.shortest()] if search.kept else []
    model = fitted(kept) if kept else _classes_only(search)
    return _drawn(table, search, kept, model, work)


def _searched(asked: Marginals, table: PrivateTable, work: Work, mechanisms: Mechanisms) -> Search:
    """All steps taken."""
    found = [binnings(place, one, asked.bins) for place, one in enumerate(table.attributes)]
    open_, classes = sum(map(bool, found)), len(table.classes) > 1
    most = (AUTO if classes else open_) if asked.attributes == "auto" else asked.attributes
    steps = min(most, open_)
    search = Search(
        table=table,
        parts=MeasuredParts(table.counts.root(table.figures)),
        candidates=tuple(bins for one in found for bins in one),
        purse=Purse(whole=asked.epsilon),
        shares=shares(
            asked.epsilon,
            max(steps, 1),
            classes=classes,
            tree=asked.structure == "tree",
            auto=asked.attributes == "auto",
        ),
        mechanisms=mechanisms,
    )
    for step in range(steps):
        search.step()
        work.advance("measure", step + 1, steps)
    return search


def _classes_only(search: Search) -> Model:
    """Where no attribute has two values: the classes alone, for the whole budget."""
    noisy = search.mechanisms.count(search.parts.total, search.purse.left, "rows of every class")
    search.purse.pay(noisy.event)
    return Model(totals=np.maximum(noisy.values.astype(np.float64), 0.0), parents=(), shares=(), margins=())


def _drawn(table: PrivateTable, search: Search, kept: Sequence[Measured], model: Model, work: Work) -> NoisyTable:
    """Rows from the model; attributes that were not kept read ``*``."""
    found, counts, stands = rows_of(model, [one.bins.size for one in kept], work.chance.generator())
    cuts = [whole(one) for one in table.attributes]
    keys = np.zeros((len(cuts), len(counts)), np.int32)
    for one, codes in zip(kept, found, strict=True):
        cuts[one.bins.place] = one.bins.cut
        keys[one.bins.place] = codes
    return NoisyTable(
        columns=tuple(one.name for one in table.attributes),
        labels=tuple(cut.labels for cut in cuts),
        keys=keys,
        counts=counts,
        event=search.purse.closed("noisy marginals"),
        cut=tuple(cuts),
        steps=tuple(_step_words(one, search) for one in search.kept),
        effort={
            "attributes measured": len(search.kept),
            "attributes kept": len(kept),
            "groups": len(counts),
            "epsilon of one choice": str(search.shares.choice),
            "epsilon of one marginal": str(search.shares.marginal),
            "scale of the noise of a count": search.kept[-1].scale if kept else float(1 / search.purse.whole),
            "rows that each drawn row stands for": stands,
        },
    )


def _step_words(one: Measured, search: Search) -> str:
    """A step in words."""
    others = [] if one.parent < 0 else [search.kept[one.parent].bins.attribute.name]
    others += [search.table.target_name or "the class"] if len(search.table.classes) > 1 else []
    beside = f", measured with {' and '.join(others)}" if others else ""
    return f"{one.bins.attribute.name} in {one.bins.size} values{beside}"
