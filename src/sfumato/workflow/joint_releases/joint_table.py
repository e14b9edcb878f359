"""From the rows of all parties to a release that is judged and attacked, the same at every party.

Nobody holds the original. A cut shows equal values alike, so whoever knows a person's values sees only the label of
each: everybody behind the release is stood in for by somebody with the same labels. So attacks by quasi-identifiers
work on them exactly as on the people themselves.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import polars as pl

from sfumato.collaborate.joint_protocols import JointResult
from sfumato.collaborate.releases.integrated_rows import IntegratedRows, Shown
from sfumato.data.table import Codes, Table
from sfumato.ground.errors import SessionError
from sfumato.ground.work import Work
from sfumato.publish.problem import Outcome
from sfumato.publish.problem import Recoded as RecodedCells
from sfumato.verification.consistency import NAMED
from sfumato.workflow.joint_releases.joint_plan import ReleaseAsked, own_rows
from sfumato.workflow.kinds.kind import Asked, Searched
from sfumato.workflow.kinds.table import table_attack
from sfumato.workflow.kinds.table.table_kind import KIND
from sfumato.workflow.kinds.table.table_release import TableRelease
from sfumato.workflow.kinds.table.table_stages import Recoded, judge, recoding_of

SHOWN = 40
"""So many of the released rows are shown to people."""


def shown_columns(asked: ReleaseAsked, outcome: Outcome) -> list[Shown]:
    """What every released column reads as: quasi-identifiers by the cut, the others as they are."""
    quasi = [Shown(of_code=cut.of_code, labels=cut.labels) for cut in outcome.cut or ()]
    values = [asked.domains[name].values for name in asked.beside]
    return [*quasi, *(Shown(of_code=np.arange(len(one), dtype=np.int32), labels=one) for one in values)]


def joint_release(asked: ReleaseAsked, outcome: Outcome, found: IntegratedRows, session: bytes) -> JointResult:
    """The integrated rows as a release; models that do not hold, or an attack that refutes one, end the session."""
    names, shown = (*asked.quasi, *asked.beside), shown_columns(asked, outcome)
    codes = dict(zip(names, found.shuffled(session), strict=True))
    labels = {name: one.labels for name, one in zip(names, shown, strict=True)}
    order = list(asked.plan.columns)
    rows = pl.DataFrame([_cells(name, labels[name], codes[name]) for name in order])
    made = _judged(asked, outcome, rows, _stand_ins(asked, shown, codes))
    made = replace(made, audit=table_attack.attack_release(made, Work()))
    text = rows.write_csv()
    document = {"columns": order, "rows": rows.height, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    return JointResult(document=document, columns=tuple(order), rows=rows.head(SHOWN).rows(), release=made)


def _cells(name: str, labels: tuple[str, ...], codes: Codes) -> pl.Series:
    return pl.Series(name, list(labels), dtype=pl.String).gather(codes)


def _stand_ins(asked: ReleaseAsked, shown: list[Shown], codes: dict[str, Codes]) -> Table:
    """For every released row somebody whose values have its labels: the first declared value of each."""
    columns = []
    for (name, rows), one in zip(codes.items(), shown, strict=True):
        values = asked.domains[name].values
        first = np.array([int(np.argmax(one.of_code == label)) for label in range(len(one.labels))], np.int64)
        columns.append(pl.Series(name, list(values), dtype=pl.String).gather(first[rows]))
    return Table(frame=pl.DataFrame(columns), source="the integrated rows", missing=asked.plan.input.missing)


def _judged(asked: ReleaseAsked, outcome: Outcome, rows: pl.DataFrame, people: Table) -> TableRelease:
    """Judge the rows in the same way as a verifier would; a claim that does not hold is refused."""
    prepared = own_rows(asked, people)
    if outcome.cut is None:
        raise SessionError("the search gave no cut")
    placed = replace(
        outcome,
        recoded=RecodedCells.under(prepared.problem, outcome.cut),
        suppressed=np.zeros(prepared.problem.cells.count, np.bool_),
    )
    planned = Asked(plan=asked.plan, keys={})
    found = Searched(prepared=prepared, outcome=placed, algorithm="top-down", why=NAMED)
    recoding = recoding_of(planned, prepared, placed)
    made = judge(KIND, planned, found, Recoded(recoding=recoding, rows=rows, sensitive=None))
    return replace(made, utility=made.public_utility)
