"""Parties with the same columns about different people make one release: document 003, section 5.4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.algorithms.top_down.validity import demands
from sfumato.core.errors import listed
from sfumato.core.run_context import Work
from sfumato.counts.local_cuts import CodedColumn, CodedRows, JointCells
from sfumato.parties import secure_sum
from sfumato.parties.conversation import Conversation, Leakage, Told
from sfumato.parties.protocols import JointProtocol, JointResult
from sfumato.parties.releases.hidden_gains import share_of
from sfumato.parties.releases.integrated_rows import integrated
from sfumato.parties.releases.two_parties import OpenedNumbers, TwoPartySource
from sfumato.parties.summed_counts import SummedNumbers, SummedSource
from sfumato.pipeline.joint.release import (
    DeclaredTable,
    ReleaseAsked,
    joint_release,
    own_rows,
    read_release,
    shown_columns,
)
from sfumato.pipeline.methods.table.problem import Prepared


def released_codes(request: ReleaseAsked, own: Prepared) -> CodedRows:
    """A party's own rows by the codes of every released column."""
    source = own.source
    if not isinstance(source, DeclaredTable):
        raise TypeError("joint releases are made of rows over declared domains")
    columns = [
        CodedColumn(codes=source.coded(source.domain(name)).codes, size=len(request.domains[name].values))
        for name in (*request.quasi, *request.beside)
    ]
    return CodedRows(columns=tuple(columns), counted={"": np.zeros(source.rows, np.int32)})


def run_release(conversation: Conversation, request: ReleaseAsked, own: Prepared) -> JointResult:
    """The release of all parties' rows.

    Claim: the cut is the one that top-down specialization finds in the union of all rows, and the rows are those of the
    union under it, the same at every party.
    """
    held, two = JointCells(cells=own.problem.cells), conversation.seat.count == 2
    sums = OpenedNumbers(conversation) if two else SummedNumbers(conversation)
    counts = TwoPartySource(conversation, held) if two else SummedSource(sums, held)
    outcome = request.search.over(request.problem, counts, Work())
    rows = integrated(SummedSource(sums, released_codes(request, own)), shown_columns(request, outcome))
    return joint_release(request, outcome, rows, conversation.seat.session)


TWO = Leakage(
    protocol="release",
    result=(Told(to="everybody", what="the release: the rows of both parties together, and so the other party's rows "
                 "as the release shows them"),),
    beyond=(
        Told(to="everybody", what="which labels were tried and refused, and by which choice of columns; no count"),
        Told(to="everybody", what="which label was the best at each step, and where an interval that could be split is "
             "best split, also where that was refused; or that it holds a single number"),
        Told(to="everybody", what='with splits = "valid", which half of such an interval has fewer rows'),
    ),
    withstands="either party alone, for all that is finer than the release",
    limits="what the release minus one's own rows tells: with two parties that is the other's part, which alone need "
    "not meet the models; a party that does not follow the protocol",
)  # fmt: skip
"""What two parties learn."""


def leakage_of(request: ReleaseAsked, names: Sequence[str]) -> Leakage:
    """What it tells whom."""
    if len(names) == 2:
        return TWO
    by = f" of every value of {request.target}" if request.score == "gain" else ""
    watched = listed(request.watched, most=20)
    shares = f", and how many of these have each watched value of {watched}" if watched else ""
    return Leakage(
        protocol="release",
        result=(
            Told(to="everybody", what="the release: the rows of all parties together, and not whose they are"),
        ),
        beyond=(
            Told(to="everybody", what=f"how many rows{by} all parties have together, by every declared value of each "
                 f"quasi-identifier"),
            Told(to="everybody", what="for every label that was tried, also those that were refused: how many rows all "
                 f"parties have together in every group with a label below it{shares}"),
        ),
        withstands=secure_sum.LEAKAGE.withstands,
        limits="parties that work together: all but one subtract their own counts and learn those of the one that is "
        "left; small sums on the way, which may be about one person; a party that puts in other rows than it has",
    )  # fmt: skip


def given(request: ReleaseAsked, own: Prepared) -> str:
    """In words, what of its own table a party puts in."""
    return f"counts of {own.rows:,} rows, by {listed([*request.quasi, *request.beside], most=20)}"


def _read(tree: Mapping[str, Any], names: Sequence[str]) -> ReleaseAsked:
    request = read_release(tree)
    if len(names) == 2:
        _refuse_for_two(request)
    return request


def _refuse_for_two(request: ReleaseAsked) -> None:
    """Refuse what two parties cannot search without learning each other's counts."""
    for model in request.problem.models:
        for demand in demands(model, request.problem.cells, request.problem.reading) or ():
            share_of(demand.limit)


RELEASE = JointProtocol(
    name="release",
    about="One release of all parties' rows, by top-down specialization over counts that they add up.",
    least=2,
    read=_read,
    leakage=leakage_of,
    prepare=own_rows,
    given=given,
    run=run_release,
)
