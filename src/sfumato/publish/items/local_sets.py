"""k^m-anonymity by local recoding, as a plan names it."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.ground.arguments import at_least
from sfumato.ground.errors import PlanError
from sfumato.ground.work import Work
from sfumato.models.km_anonymity import KMAnonymity
from sfumato.publish.items.item_algorithms import positive_support
from sfumato.publish.items.item_problem import ItemOutcome, ItemProblem
from sfumato.publish.items.item_space import refuse_untreed
from sfumato.publish.items.local_parts import locally

PARTS = 32
"""Where the plan does not say how small a part may be, about so many parts are possible."""
TIMES_K = 4
"""And a part has at least so many times k records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSets:
    """Sets of items by local recoding: an item may be shown as itself in one record and coarser in another.

    Claim: whoever knows at most m items of a person finds at least k records whose labels cover them, or none where an
        item of theirs was left out; with ``parts = 0`` no more is lost than by ``sets`` with ``by = "generalization"``.
    How: records are sorted so that similar ones are neighbours, and cut into parts; each part is made k^m-anonymous on
        its own, by the apriori-based algorithm. Records of one part that do without rare items stay as they are,
        though others must show theirs coarser.
    Cost: one run of the apriori-based algorithm over all records for every size of parts that is tried.
    Source: Terrovitis, Mamoulis, Kalnis 2011 (LRA).
    """

    parts: int = 0
    """How many parts of equal size; 0 halves the records as often as it pays."""
    smallest: int = 0
    """With ``parts = 0``, how many records a part has at least; 0 means 4 k, and a 32nd of the records."""
    support: float = 0.01
    """What is frequent in the report: a share of the records below 1, or a number of records."""

    def __post_init__(self) -> None:
        at_least("parts", self.parts, 0)
        at_least("smallest", self.smallest, 0)
        positive_support(self.support)

    def __call__(self, problem: ItemProblem, work: Work) -> ItemOutcome:
        """Search."""
        for space in problem.spaces:
            refuse_untreed(space, "local-sets")
        k, rows = _largest_k(problem), problem.transactions.rows
        if k > rows:
            raise PlanError(f"privacy.km.k: {k} records are asked for, and there are {rows}; at most {rows} would do")
        if self.parts * k > rows:
            raise PlanError(
                f"algorithm.parts: {self.parts} parts of {rows} records have fewer than k = {k} each; at most "
                f"{rows // k} would do"
            )
        smallest = max(self.smallest, k) if self.smallest else max(TIMES_K * k, -(-rows // PARTS))
        return locally(problem, work, parts=self.parts, smallest=smallest)


def _largest_k(problem: ItemProblem) -> int:
    """The largest k that is asked for; other models are refused."""
    asked = []
    for model in problem.models:
        if not isinstance(model, KMAnonymity):
            raise PlanError(
                f"algorithm.name: local-sets goes with km only; {model.name} needs one recoding for all records, as "
                "algorithm.name = 'sets' gives it"
            )
        asked.append(model.k)
    return max(asked, default=1)
