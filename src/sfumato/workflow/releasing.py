"""One door for every kind of release: the plan says which it is."""

from __future__ import annotations

from sfumato.ground.work import Work
from sfumato.workflow.item_making import item_release
from sfumato.workflow.item_release import ItemRelease
from sfumato.workflow.making import release as make
from sfumato.workflow.plan import Plan
from sfumato.workflow.private import PrivateRelease, private_release
from sfumato.workflow.querying import rows_or_none
from sfumato.workflow.release import Release


def release(
    plan: Plan, frame: object = None, *, work: Work | None = None, population: object = None
) -> Release | PrivateRelease | ItemRelease:
    """Make a release of a frame, or of the file that the plan names.

    With ``privacy.epsilon`` it is a private one; with columns of paths or sets, one of what somebody may know of them.
    """
    if "epsilon" not in plan.privacy and plan.itemized:
        return item_release(plan, frame, work=work)
    if "epsilon" not in plan.privacy:
        return make(plan, frame, work=work, population=population)
    return private_release(plan, lambda: rows_or_none(plan, frame), work=work or Work(), like=frame)
