"""What a plan says about a stream, and one batch of it as a condensed release."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.algorithms.condensation import Condense
from sfumato.bundles.checks.condensed import STREAMED, groups_claim, warning
from sfumato.bundles.columns import Published, PublishedColumn
from sfumato.bundles.manifest.document import seal
from sfumato.bundles.signatures import Signer, sign
from sfumato.core.errors import ClaimRefuted, PlanError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods import method_of
from sfumato.pipeline.methods.condensed.release import (
    CONDENSE,
    PUBLISHED,
    DrawnRelease,
    NumberColumn,
    algorithm_of,
    why,
)
from sfumato.pipeline.methods.method import Audit
from sfumato.pipeline.plan.columns import refuse_dates
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.plan.sections import StreamPlan
from sfumato.pipeline.release import verify_written, write_data, write_manifest, write_report
from sfumato.streaming.condenser import DrawnBatch
from sfumato.streaming.records import Reading, Wanted
from sfumato.tables.schema import Role

# What a plan says about a stream: refused where a stream cannot do it, and told apart where it must not change.


def stream_of(plan: Plan) -> StreamPlan:
    """How the stream is cut: as the plan says, or as a plan that says nothing."""
    return plan.stream or StreamPlan()


def checked(plan: Plan) -> Condense:
    """The options of the condensation; what a stream cannot do is refused by its key."""
    if method_of(plan).name != "condensed":
        raise PlanError(
            f"a stream is condensed, and this plan asks for a {method_of(plan).name} release; set "
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
    input_plan = plan.input
    return Wanted(
        published=published,
        named=tuple(plan.columns),
        delimiter=input_plan.delimiter,
        quote=input_plan.quote,
        trim=input_plan.trim,
        header=input_plan.header,
        names=input_plan.names,
        missing=input_plan.missing,
        drop=input_plan.on_missing == "drop",
        classes=targets[0] if condense.per_class else None,
    )


def most_anchors(plan: Plan, condense: Condense) -> int:
    """How many groups stay when they are empty."""
    stream = stream_of(plan)
    return stream.anchors or max(stream.batch // (2 * condense.k), 1)


def lasting(plan: Plan) -> dict[str, Any]:
    """What must stay the same as long as a stream runs, as JSON has it."""
    stream, input_plan = stream_of(plan), plan.input
    settings = {
        **plan.public(),
        "stream": {"batch": stream.batch, "block": stream.block, "anchors": stream.anchors},
        "lines": {
            "delimiter": input_plan.delimiter,
            "quote": input_plan.quote,
            "header": input_plan.header,
            "names": input_plan.names,
            "trim": input_plan.trim,
        },
        "output": {"format": plan.output_format, "escape_formulas": plan.escape_formulas},
        "seed": plan.algorithm.seed,
    }
    kept: dict[str, Any] = json.loads(json.dumps(settings))
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
            difference = _differs(before.get(key), now.get(key), f"{path}.{key}" if path else key)
            if difference is not None:
                return difference
        return None
    return None if before == now else path


# One batch of a stream as a release of the kind condensed, written into a folder as a whole and verified bundle.


_NO_ORIGINAL = "a stream keeps no original; whoever has the originals makes it with `sfumato attack`"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StreamBatch(DrawnRelease):
    """Records drawn from the groups that were full when a batch ended."""

    reading: Reading
    """What the columns are."""
    found: tuple[tuple[int, int], ...]
    """The sizes of groups, with how many groups have each."""
    dropped: int
    """Records that were left out since the batch before."""
    place: dict[str, Any]
    """Which batch of which stream."""

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """The sizes of groups, with how many groups have each."""
        return list(self.found)

    @property
    def numbers(self) -> frozenset[str]:
        """The columns of numbers."""
        return frozenset(column.name for column in self.reading.drawn)

    @property
    def left_out(self) -> int:
        """Records that were left out since the batch before."""
        return self.dropped

    @property
    def beside(self) -> dict[str, Any]:
        """Its place in the stream."""
        return {"stream": self.place}

    @property
    def marks(self) -> list[str]:
        """The warnings of drawn rows, and that of a stream after the first."""
        first = warning(self.condense.output)
        return [first, STREAMED, *(message for message in super().marks if message != first)]


def made_batch(
    plan: Plan, reading: Reading, drawn: DrawnBatch, *, dropped: int, place: dict[str, Any], chance: Chance
) -> StreamBatch:
    """The release of a batch: rows in random order, with the claim about the groups that they were drawn from."""
    rows = _rows(plan, reading, drawn, chance.generator())
    columns = tuple(
        PublishedColumn(
            name=column.name, role=plan.columns[column.name].role, kind=column.kind if column.drawn else "text"
        )
        for column in reading.columns
    )
    claim = groups_claim(algorithm_of(plan).k, drawn.sizes)
    if not claim.holds:
        raise ClaimRefuted(f"a group of {int(claim.reached)} records was drawn, fewer than asked; nothing was written")
    attack_plan = plan.attack
    chosen = catalog().chosen_attacks(attack_plan.attacks, "condensed") if attack_plan.run else {}
    skipped = dict.fromkeys(chosen, _NO_ORIGINAL)
    return StreamBatch(
        kind=method_of(plan),
        plan=plan,
        rows=rows,
        claims=(claim,),
        utility={},
        algorithm=CONDENSE,
        why=why(plan),
        audit=Audit(skipped=skipped),
        published=Published(columns=columns, rows=rows.height, missing=reading.missing),
        reading=reading,
        found=drawn.sizes,
        dropped=dropped,
        place=place,
    )


def _rows(plan: Plan, reading: Reading, drawn: DrawnBatch, draw: np.random.Generator) -> pl.DataFrame:
    bounds = algorithm_of(plan).bounds
    cells = dict(drawn.words)
    for drawn_column, numbers in zip(reading.drawn, drawn.numbers.T, strict=True):
        column = NumberColumn(name=drawn_column.name, kind=drawn_column.kind, decimals=drawn_column.decimals)
        cells[drawn_column.name] = column.cells(np.ascontiguousarray(numbers), draw, bounds.get(drawn_column.name))
    frame = pl.DataFrame([cells[column.name] for column in reading.columns])
    return frame[draw.permutation(frame.height)]


def write_batch(batch: StreamBatch, folder: Path, signer: Signer | None, work: Work) -> str:
    """Write the bundle into an empty folder and verify it from its bytes; the seal of its manifest is returned."""
    body = write_data(batch, folder)
    read_back = write_report(batch.kind, folder, body, work)
    write_manifest(folder, body)
    if signer is not None:
        sign(folder, signer)
    checked = verify_written(folder, read_back, card=None if signer is None else signer.card)
    if (wrong := checked.wrong) is not None:
        raise ClaimRefuted(f"the batch was not published: {wrong.what} does not hold ({wrong.detail})")
    return str(seal(body)["sha256"])
