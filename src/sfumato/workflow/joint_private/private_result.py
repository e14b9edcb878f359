"""From what the algorithm gave all parties to a release of kind private, the same rows at every party."""

from __future__ import annotations

import hashlib

from sfumato.collaborate.joint_protocols import JointResult
from sfumato.ground.errors import ClaimRefuted
from sfumato.publish.noisy_table import NoisyTable
from sfumato.verification.consistency import NAMED
from sfumato.workflow.joint_private.private_terms import PrivateAsked
from sfumato.workflow.kinds.kind import Asked, Searched
from sfumato.workflow.kinds.private.private_budget import promise_of
from sfumato.workflow.kinds.private.private_kind import KIND
from sfumato.workflow.kinds.private.private_stages import judge, recode

SHOWN = 40
"""So many of the released rows are shown to people."""


def private_result(asked: PrivateAsked, made: NoisyTable) -> JointResult:
    """The release; what the algorithm accounted for must be the promise exactly."""
    promise = promise_of(asked.plan)
    if not promise.kept_by(made.event):
        spent = promise.spent_by(made.event)
        raise ClaimRefuted(f"{spent} of epsilon was accounted for, not {promise}; nothing was written")
    planned = Asked(plan=asked.plan, keys={})
    found = Searched(prepared=asked.empty, outcome=made, algorithm=asked.plan.algorithm.name, why=NAMED)
    rows = recode(planned, found)
    text = rows.write_csv()
    document = {"columns": rows.columns, "rows": rows.height, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    return JointResult(
        document=document,
        columns=tuple(rows.columns),
        rows=rows.head(SHOWN).rows(),
        release=judge(KIND, planned, found, rows),
    )
