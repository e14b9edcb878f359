"""K-Optimize: the best recoding by cuts between ordered values, for k-anonymity and other models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from sfumato.describe.hierarchy import TOP
from sfumato.ground.arguments import one_of
from sfumato.ground.errors import Infeasible
from sfumato.ground.work import BY_TIME, PACE, Work
from sfumato.group.keys import Ids
from sfumato.publish.k_optimize.best import Best
from sfumato.publish.k_optimize.cuts import Flags
from sfumato.publish.k_optimize.depth_first import Search
from sfumato.publish.k_optimize.nodes import Nodes
from sfumato.publish.k_optimize.start import finest, start
from sfumato.publish.labels import drawn_by_column, recoded_by_column
from sfumato.publish.lattice.reach import described, refuse_models, refuse_unreachable, why_nothing_fits
from sfumato.publish.problem import Outcome, Problem, Recoded

Shown = Literal["boxes", "hierarchy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KOptimize:
    """Cut each column's ordered values into intervals, the same for all rows, so that least is lost.

    Claim: every published class meets every model within the suppression limit. Where the result is proven, no other
        set of cuts loses less; else none loses less than ``lower_bound``. Sets are compared by their intervals over the
        whole table; boxes are then drawn in to the published rows, which loses no more.
    How: depth-first through the set-enumeration tree of cut points, from no cut on. A node is a head of cuts that are
        made and a tail of cuts that may be. What all of them together could gain, with what the head already loses for
        good, bounds every set below; a cut of the tail by which that cannot beat the best, or by which a model must
        fail, is dropped. The cut that parts most classes comes first. A greedy set of cuts is there from the start;
        where the tree is large, leaps from the best set to others are made between its nodes.
    Needs: models that judge classes one by one and that joining classes cannot break. Discernibility, classification
        and the metrics that add up cells have bounds of their own; others are right, but slower.
    Cost: a node takes time in the distinct cells times the columns. There are two to the number of cuts of nodes; how
        many are visited depends on the table. It can be stopped at any time.
    Source: Bayardo, Agrawal 2005. Document 004, section 6.1.3.
    """

    output: Shown = "boxes"
    """What an interval shows: its ends or its values, or the lowest hierarchy value that covers it."""

    def __post_init__(self) -> None:
        one_of("output", self.output, get_args(Shown))

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        """Find the best set of cuts, or the best so far when the limit is reached."""
        refuse_models(problem, "k-optimize")
        refuse_unreachable(problem)
        half = work.allowing(None if work.steps is None else (work.steps - work.spent) / PACE / 2)
        nodes, best = Nodes(problem, self.output, half), Best()
        start(nodes, best, half)
        nodes.work = work
        search = Search(nodes, best, work)
        search.run()
        if best.head is None:
            raise Infeasible(why_nothing_fits(problem) if search.exhausted else _too_slow(problem))
        return self._outcome(nodes, search, finest(nodes, best, work))

    def _outcome(self, nodes: Nodes, search: Search, head: Flags) -> Outcome:
        problem, cuts = nodes.problem, nodes.cuts
        groups = [cuts.intervals(head, column)[places].astype(np.int64) for column, places in enumerate(cuts.places)]
        counts = [int(cuts.part(head, column).sum()) + 1 for column in range(cuts.columns)]
        made = recoded_by_column(problem, groups, counts, self.output)
        suppressed = nodes.suppressed(head)
        if suppressed.any() and self.output == "boxes":
            made = _drawn_in(problem, made, groups, suppressed)
        found = Outcome.of(problem, made, suppressed, {}, proven=search.exhausted)
        return replace(found, effort=_effort(search, int(head.sum()), found.loss))


def _drawn_in(problem: Problem, made: Recoded, groups: Sequence[Ids], suppressed: Flags) -> Recoded:
    """The boxes over published rows only: an end that a suppressed row has would tell its value."""
    shown, counts = [], []
    for labels, keys, mine in zip(made.labels, made.keys, groups, strict=True):
        stars = np.array([label == TOP for label in labels], np.bool_)[keys]
        apart = np.where(suppressed & ~stars, mine.max() + 1, mine)
        values, ids = np.unique(apart, return_inverse=True)
        shown.append(ids.reshape(-1).astype(np.int64))
        counts.append(len(values))
    return drawn_by_column(problem, shown, counts, "boxes")


def _effort(search: Search, made: int, loss: float) -> dict[str, int | float | str]:
    """What the search did, and how far it may be from the best."""
    effort: dict[str, int | float | str] = {
        "cuts_made": made,
        "checked": search.visited,
        "pruned_by_cost": search.pruned,
        "pruned_values": search.dropped,
        "best_after": search.best.after,
        "leaps": search.leaps.made,
        "stopped": "search exhausted" if search.exhausted else BY_TIME,
    }
    bound = min(search.lower_bound, loss)
    if not search.exhausted and np.isfinite(bound):
        effort |= {"lower_bound": bound, "gap": loss - bound}
    return effort


def _too_slow(problem: Problem) -> str:
    asked = " and ".join(described(model) for model in problem.models)
    return (
        f"k-optimize found no set of cuts that meets {asked} within its limit, and ruled none out. Give it more with "
        "algorithm.seconds, allow more suppression with algorithm.max_suppressed, or use algorithm.name = 'optimal'"
    )
