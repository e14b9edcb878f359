"""One batch of a stream as a release of the kind condensed, written into a folder as a whole and verified bundle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.bundle.manifest import seal
from sfumato.bundle.published import Published, PublishedColumn
from sfumato.bundle.signatures import Signer, sign
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ClaimRefuted
from sfumato.ground.work import Work
from sfumato.stream.condenser import DrawnBatch
from sfumato.stream.record_cells import Reading
from sfumato.verification.condensed_checks import STREAMED, groups_claim, warning
from sfumato.workflow.attacking import chosen_attacks
from sfumato.workflow.audit import Audit
from sfumato.workflow.bundling import write_data, write_manifest, write_report
from sfumato.workflow.checking import verify_written
from sfumato.workflow.kinds import kind_of
from sfumato.workflow.kinds.condensed import CONDENSE
from sfumato.workflow.kinds.condensed.condensed_plan import algorithm_of, why
from sfumato.workflow.kinds.condensed.condensed_release import DrawnRelease
from sfumato.workflow.kinds.condensed.condensed_table import NumberColumn
from sfumato.workflow.plan.plan import Plan

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
        return frozenset(one.name for one in self.reading.drawn)

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
        return [first, STREAMED, *(one for one in super().marks if one != first)]


def made_batch(
    plan: Plan, reading: Reading, drawn: DrawnBatch, *, dropped: int, place: dict[str, Any], chance: Chance
) -> StreamBatch:
    """The release of a batch: rows in random order, with the claim about the groups that they were drawn from."""
    rows = _rows(plan, reading, drawn, chance.generator())
    columns = tuple(
        PublishedColumn(name=one.name, role=plan.columns[one.name].role, kind=one.kind if one.drawn else "text")
        for one in reading.columns
    )
    claim = groups_claim(algorithm_of(plan).k, drawn.sizes)
    if not claim.holds:
        raise ClaimRefuted(f"a group of {int(claim.reached)} records was drawn, fewer than asked; nothing was written")
    asked = plan.attack
    skipped = dict.fromkeys(chosen_attacks(asked.attacks, "condensed"), _NO_ORIGINAL) if asked.run else {}
    return StreamBatch(
        kind=kind_of(plan),
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
    for one, numbers in zip(reading.drawn, drawn.numbers.T, strict=True):
        column = NumberColumn(name=one.name, kind=one.kind, decimals=one.decimals)
        cells[one.name] = column.cells(np.ascontiguousarray(numbers), draw, bounds.get(one.name))
    frame = pl.DataFrame([cells[one.name] for one in reading.columns])
    return frame[draw.permutation(frame.height)]


def write_batch(made: StreamBatch, folder: Path, signer: Signer | None, work: Work) -> str:
    """Write the bundle into an empty folder and verify it from its bytes; the seal of its manifest is returned."""
    body = write_data(made, folder)
    read_back = write_report(made.kind, folder, body, work)
    write_manifest(folder, body)
    if signer is not None:
        sign(folder, signer)
    checked = verify_written(folder, read_back, card=None if signer is None else signer.card)
    if (wrong := checked.wrong) is not None:
        raise ClaimRefuted(f"the batch was not published: {wrong.what} does not hold ({wrong.detail})")
    return str(seal(body)["sha256"])
