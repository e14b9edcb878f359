"""The differencing attack: two counts that differ by one person tell about this person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl

from sfumato.attacks.frame.assignment import codes_of, right, texts_of
from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.ground.arguments import at_least, text
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ParameterError, SfumatoError, unknown_column


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A question: how many records have all of these values, leaving out those that have all of some others."""

    equal: Mapping[str, str] = field(default_factory=dict)
    """Column and value; nothing means every record."""
    but_not: Mapping[str, str] = field(default_factory=dict)
    """Records with all of these values are left out; nothing leaves nobody out."""

    def sql(self) -> str:
        r"""As a condition behind WHERE; empty for every record.

        >>> Counted(equal={"ill": "HIV"}, but_not={"age": "37", "zip": "90210"}).sql()
        '"ill" = \'HIV\' AND NOT ("age" = \'37\' AND "zip" = \'90210\')'
        """
        parts = [_sql(self.equal)] if self.equal else []
        return " AND ".join([*parts, f"NOT ({_sql(self.but_not)})"] if self.but_not else parts)

    def counted(self, table: pl.DataFrame) -> int:
        """The exact answer: what an interface without any protection says."""
        chosen = np.ones(table.height, np.bool_)
        for name, value in self.equal.items():
            chosen &= (texts_of(table, name) == value).to_numpy()
        left_out = np.full(table.height, bool(self.but_not))
        for name, value in self.but_not.items():
            left_out &= (texts_of(table, name) == value).to_numpy()
        return int((chosen & ~left_out).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Differencing:
    """Somebody who may ask for counts, never for rows, knows a person's quasi-identifiers and wants a sensitive value.

    For each value the attacker asks twice: how many have it, and how many of all others have it. The difference is 1
    for their value and 0 for every other. Both counts are about many people, so a rule that refuses small counts does
    not notice. It takes two questions for each value. Noise of the size of one person, or a budget that
    ends, stops the attacker: a question that is refused is a trial that could not be carried out.

    Source: Denning, Denning and Schwartz 1979 (trackers); Dinur and Nissim 2003.
    """

    name: ClassVar[str] = "differencing"
    threat: ClassVar[str] = "attribute disclosure"

    trials: int = 200
    """At most so many people."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 1)

    def run(
        self,
        answer: Callable[[Counted], float],
        people: pl.DataFrame,
        column: str,
        chance: Chance,
        limit: Limit | None = None,
    ) -> Finding:
        """Ask about people of a register whose columns, but for the sensitive one, are what the attacker knows."""
        text("column", column)
        if column not in people.columns:
            raise unknown_column(column, people.columns, where="column")
        known = [name for name in people.columns if name != column]
        if not known:
            raise ParameterError("people must have more columns than the sensitive one")
        values = tuple(texts_of(people, column).unique().sort())
        draw = chance.generator()
        chosen = people[np.sort(draw.permutation(people.height)[: self.trials])]
        alone = chosen.join(people.group_by(known).len("alike"), on=known, how="left", maintain_order="left")["alike"]
        asked, scores, refused = 0, np.zeros((chosen.height, len(values))), 0
        for row, person in enumerate(chosen.select(pl.col(known).cast(pl.String)).iter_rows(named=True)):
            found, questions = _differences(answer, column, values, person) if alone[row] == 1 else (None, 0)
            asked += questions
            refused += found is None
            if found is not None:
                scores[row] = np.where(found == found.max(), 1.0, 0.0)
        truth = codes_of(chosen, column, values)
        frequent = np.bincount(codes_of(people, column, values), minlength=len(values))
        guess = right(np.broadcast_to(frequent.astype(np.float64), scores.shape), truth)
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="somebody's quasi-identifiers, and may ask for counts",
            does=f"find their {column} from two counts that differ by this person",
            rate=Rate(hits=float(right(scores, truth).sum()), trials=len(truth), failed=refused),
            naive=Rate(hits=float(guess.sum()), trials=len(truth)),
            limit=limit,
            figures={"questions": float(asked), "questions_for_one_person": 2.0 * len(values)},
            note="somebody who is not alone with their quasi-identifiers, or a refused question, is a failed trial",
        )


def _differences(
    answer: Callable[[Counted], float], column: str, values: tuple[str, ...], person: Mapping[str, str]
) -> tuple[np.typing.NDArray[np.float64] | None, int]:
    """For each value the count with them less the count without them; None where a question was refused."""
    found, asked = np.zeros(len(values)), 0
    for at, value in enumerate(values):
        for sign, left_out in ((1, {}), (-1, person)):
            asked += 1
            try:
                found[at] += sign * float(answer(Counted(equal={column: value}, but_not=left_out)))
            except SfumatoError:
                return None, asked
    return found, asked


def _sql(equal: Mapping[str, str]) -> str:
    quoted = (
        ('"' + name.replace('"', '""') + '"', "'" + value.replace("'", "''") + "'") for name, value in equal.items()
    )
    return " AND ".join(f"{name} = {value}" for name, value in quoted)
