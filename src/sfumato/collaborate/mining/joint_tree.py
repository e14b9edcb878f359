"""One decision tree of all parties' records: C4.5 asks for counts, and the parties add theirs up."""

from __future__ import annotations

from typing import Any

from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives import secure_sum
from sfumato.collaborate.summed_cuts import SummedNumbers, SummedSource, refuse_outside
from sfumato.mine.counted_bayes import Whole
from sfumato.mine.node_rows import CountedRows
from sfumato.mine.record_cuts import record_cuts
from sfumato.mine.records import Records
from sfumato.mine.tree_document import TreeDocument
from sfumato.mine.tree_learning import TreeLearner

LEAKAGE = Leakage(
    protocol="decision tree",
    result=(Told(to="everybody", what="the tree with the class counts of its leaves"),),
    beyond=(
        Told(to="everybody", what="for every node that was open, the class counts of every value of every column"),
        Told(to="everybody", what="the nodes that were grown and pruned again, with their counts"),
    ),
    withstands=secure_sum.LEAKAGE.withstands,
    limits="small counts in the tree or on the way to it, which may be about one person: a joint result is not private "
    "by itself",
)


def joint_tree(sums: SummedNumbers, records: Records, learner: TreeLearner) -> TreeDocument:
    """The tree that the learner would learn from all parties' records in one table; numbers by their declared grid.

    Claim: equal to the tree of the union of all records, and the same at every party.
    """
    source = SummedSource(sums, record_cuts(records))
    limit = sums.conversation.seat.count * sums.conversation.max_records
    return learner.over(
        _Bounded(source, limit, attributes=records.attributes, target=records.target, classes=records.classes)
    )


class _Bounded(CountedRows):
    """Rows of which there are no more than all parties may have: each takes memory."""

    def __init__(self, source: SummedSource, limit: int, **columns: Any) -> None:
        super().__init__(source, **columns)
        self._limit = limit

    def total(self) -> Whole:
        """The classes of all records."""
        counts = super().total()
        refuse_outside(counts.sum(keepdims=True), 0, self._limit)
        return counts
