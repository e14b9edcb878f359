"""What a plan says about a stream: refused where a stream cannot do it, and told apart where it must not change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.describe.roles import Role
from sfumato.ground.errors import PlanError
from sfumato.publish.condensation.condense import Condense
from sfumato.stream.first_look import Wanted
from sfumato.workflow.kinds import kind_of
from sfumato.workflow.kinds.condensed import owns
from sfumato.workflow.kinds.condensed.condensed_plan import PUBLISHED, algorithm_of
from sfumato.workflow.plan.date_plan import refuse_dates
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.plan.stream_plan import StreamPlan


def stream_of(plan: Plan) -> StreamPlan:
    """How the stream is cut: as the plan says, or as a plan that says nothing."""
    return plan.stream or StreamPlan()


def checked(plan: Plan) -> Condense:
    """The options of the condensation; what a stream cannot do is refused by its key."""
    if not owns(plan):
        raise PlanError(
            f"a stream is condensed, and this plan asks for a {kind_of(plan).name} release; set "
            'privacy.indistinguishable_groups and algorithm.name = "condense"'
        )
    condense, stream = algorithm_of(plan), stream_of(plan)
    if condense.output != "rows":
        raise PlanError("algorithm.output: a stream draws rows; remove the key, or release a table")
    if plan.attack.max_risk is not None or plan.attack.control is not None:
        raise PlanError(
            "attack: a stream keeps no original that could be attacked; remove max_risk and control, and run "
            "`sfumato attack BATCH --original DATA` where the originals are"
        )
    if plan.input.encoding.lower() not in ("utf-8", "utf8"):
        raise PlanError(f"input.encoding: a stream is read as utf-8, not {plan.input.encoding}; convert it on the way")
    refuse_dates(plan.columns, "a stream")
    if stream.batch < 2 * condense.k:
        raise PlanError(
            f"stream.batch must be at least 2k = {2 * condense.k}, not {stream.batch}: no group would be full"
        )
    return condense


def wanted(plan: Plan, condense: Condense) -> Wanted:
    """What lines are read, and how."""
    published = {name: column.type for name, column in plan.columns.items() if column.role in PUBLISHED}
    targets = [name for name, column in plan.columns.items() if column.role is Role.TARGET]
    one = plan.input
    return Wanted(
        published=published,
        named=tuple(plan.columns),
        delimiter=one.delimiter,
        quote=one.quote,
        trim=one.trim,
        header=one.header,
        names=one.names,
        missing=one.missing,
        drop=one.on_missing == "drop",
        classes=targets[0] if condense.per_class else None,
    )


def most_anchors(plan: Plan, condense: Condense) -> int:
    """How many groups stay when they are empty."""
    stream = stream_of(plan)
    return stream.anchors or max(stream.batch // (2 * condense.k), 1)


def lasting(plan: Plan) -> dict[str, Any]:
    """What must stay the same as long as a stream runs, as JSON has it."""
    stream, one = stream_of(plan), plan.input
    told = {
        **plan.public(),
        "stream": {"batch": stream.batch, "block": stream.block, "anchors": stream.anchors},
        "lines": {
            "delimiter": one.delimiter, "quote": one.quote, "header": one.header, "names": one.names, "trim": one.trim,
        },
        "output": {"format": plan.output_format, "escape_formulas": plan.escape_formulas},
        "seed": plan.algorithm.seed,
    }  # fmt: skip
    kept: dict[str, Any] = json.loads(json.dumps(told))
    return kept


def refuse_other_plan(before: Mapping[str, Any], plan: Plan, folder: Path) -> None:
    """Refuse a plan that says something else than the one that the stream began with."""
    path = _differs(before, lasting(plan), "")
    if path is not None:
        raise PlanError(
            f"{path} is not what it was when this stream began, and batches of one stream have one plan; put it back, "
            f"or begin a new stream with another output than {folder}"
        )


def _differs(before: Any, now: Any, path: str) -> str | None:
    """The first key at which two trees differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            found = _differs(before.get(key), now.get(key), f"{path}.{key}" if path else key)
            if found is not None:
                return found
        return None
    return None if before == now else path
