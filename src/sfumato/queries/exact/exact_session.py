"""A session of exact answers: every question is decided, noted in the log and answered, in this order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from sfumato.budget.answer_log import AnswerLog
from sfumato.data.frames import from_frame
from sfumato.data.table import Table
from sfumato.ground.arguments import text
from sfumato.ground.errors import DataError, unknown_column
from sfumato.queries.conditions import holding
from sfumato.queries.exact.auditor import REASONS, Auditor, Reason
from sfumato.queries.exact.exact_rules import ExactRules
from sfumato.queries.exact.exact_sql import ExactKind, ExactQuestion, Figure, parse_exact
from sfumato.queries.exact.kept_state import EVERY, keep, recall
from sfumato.queries.exact.person_atoms import Mask
from sfumato.queries.exact.whole_values import WholeValues, whole_values
from sfumato.queries.queryable import present, readable, texts_in


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactAnswer:
    """One figure of one group: its exact value, or why it was refused."""

    name: str
    """What it is, such as sum(income)."""
    group: tuple[str, ...]
    """The group's values of the columns behind GROUP BY."""
    people: int
    """How many people it is about: public, like the columns of the condition."""
    value: Fraction | None
    """The exact value; none for a refusal, and for a mean, minimum or maximum of nobody."""
    refused: str
    """Why it was refused; empty where it was answered."""

    def to_json(self) -> dict[str, Any]:
        """As the command line prints it."""
        return {
            "name": self.name,
            "group": list(self.group),
            "people": self.people,
            "answered": not self.refused,
            "exact": None if self.value is None else str(self.value),
            "value": None if self.value is None else float(self.value),
            "refused": self.refused or None,
        }


class ExactSession:
    """Exact answers about a table, as long as they tell of nobody."""

    def __init__(self, table: Table | Any, *, rules: ExactRules, log: AnswerLog) -> None:
        self.table = table if isinstance(table, Table) else from_frame(table)
        self.rules, self.log, self._key = rules, log, log.key
        log.refuse_rules(rules.to_json())
        log.refuse_other(self.table)
        self._values = checked_values(self.table, rules)
        self._auditors: dict[tuple[int, str], Auditor] = {}
        self._seen = self._kept = 0
        self._sets = lru_cache(maxsize=64)(self._cut)

    def ask(self, sql: str, *, analyst: str = "analyst") -> list[ExactAnswer]:
        """Answer or refuse every figure of every group, one after the other."""
        question = parse_exact(sql)
        self.rules.refuse(question)
        group = self.rules.group_of(text("analyst", analyst))
        self._recall()
        try:
            with self.log.asking(self._seen) as (news, note):
                for number, told in news:
                    self._replay(told)
                    self._seen = number
                lines = list(self._decided(question, sql, group))
                self._seen = note({"analyst": analyst, "sql": sql, "told": [line for line, _ in lines]})
        except BaseException:
            self._auditors, self._seen = {}, 0  # nothing of it was told: the log says what was
            raise
        if self._seen - self._kept >= EVERY:
            states = {f"{place} {column}": one.state() for (place, column), one in self._auditors.items()}
            keep(self.log.path, self._key, self.log.head, states)
            self._kept = self._seen
        return [answer for _, answer in lines]

    def _recall(self) -> None:
        """Begin with what was kept beside the log, where it is of this log and the log holds all of it."""
        if self._seen:
            return
        held = recall(self.log.path, self._key)
        if held is None or not self.log.holds(held[0]):
            self._kept = 0
            return
        for name, state in held[1].items():
            group, _, column = name.partition(" ")
            self._auditor(int(group), column).restore(state)
        self._seen = self._kept = held[0].event

    def _decided(self, question: ExactQuestion, sql: str, group: int) -> Iterator[tuple[list[Any], ExactAnswer]]:
        for name, mask in self._sets(sql):
            for figure in question.figures:
                auditor = None if figure.column is None else self._auditor(group, figure.column)
                reason: Reason = "" if auditor is None else auditor.decide(figure.kind, mask)
                units = None if reason else self._units(figure, mask)
                if auditor is not None and units is not None:
                    auditor.told(figure.kind, mask, units)
                yield [units, reason], self._answer(figure, name, mask, units, reason)

    def _answer(self, figure: Figure, group: Any, mask: Mask, units: int | None, reason: Reason) -> ExactAnswer:
        people = int(mask.sum())
        why = ""
        if reason:
            span = self.rules.width.get(str(figure.column))
            why = REASONS[reason].format(k=self.rules.k, width=0 if span is None else span.width)
        value = None if units is None else Fraction(units)
        if value is not None and figure.column is not None:
            value = self._values[figure.column].fraction(int(value), people if figure.kind == "mean" else 1)
        return ExactAnswer(name=figure.name, group=group, people=people, value=value, refused=why)

    def _units(self, figure: Figure, mask: Mask) -> int | None:
        """The answer in units of its column; a mean as the sum that it is made of."""
        if figure.column is None:
            return int(mask.sum())
        if figure.kind != "sum" and not mask.any():
            return None
        return units_of(figure.kind, self._values[figure.column], mask)

    def _auditor(self, group: int, column: str) -> Auditor:
        if (group, column) not in self._auditors:
            self._auditors[group, column] = Auditor(
                self.table.rows, f"{self._key} {group} {column}", k=self.rules.k, span=self.rules.width.get(column)
            )
        return self._auditors[group, column]

    def _replay(self, told: dict[str, Any]) -> None:
        """Take up what another process was told, or this one before it ended."""
        question, group = parse_exact(told["sql"]), self.rules.group_of(told["analyst"])
        lines = iter(told["told"])
        for _, mask in self._sets(told["sql"]):
            for figure in question.figures:
                units, reason = next(lines)
                if figure.column is not None and not reason and units is not None:
                    self._auditor(group, figure.column).told(figure.kind, mask, units)

    def _cut(self, sql: str) -> list[tuple[tuple[str, ...], Mask]]:
        return list(sets_of(parse_exact(sql), self.table))


def units_of(kind: ExactKind, column: WholeValues, mask: Mask) -> int:
    """A figure of a column, in its units; a mean as the sum that it is made of."""
    if kind == "minimum":
        return column.smallest(mask)
    return column.largest(mask) if kind == "maximum" else column.total(mask)


def sets_of(question: ExactQuestion, table: Table) -> Iterator[tuple[tuple[str, ...], Mask]]:
    """The people of every group: those who meet the condition and have the group's values, which some row has."""
    chosen = holding(question.where, table)
    if not question.by:
        yield (), chosen
        return
    columns = [texts_in(present(table, name)).fill_null("") for name in question.by]
    frame = pl.DataFrame({str(place): cells for place, cells in enumerate(columns)})
    for group in frame.unique().sort(*frame.columns).rows():
        mask = chosen.copy()
        for cells, value in zip(columns, group, strict=True):
            mask &= (cells == value).to_numpy()
        yield group, mask


def checked_values(table: Table, rules: ExactRules) -> dict[str, WholeValues]:
    """The audited columns, and a refusal where the table is not as the rules say."""
    for name in rules.public:
        if name not in table.names:
            raise unknown_column(name, table.names, where="audit.public")
        if not readable(table.frame.schema[name]):
            raise DataError(f"{table.source}, column {name!r}: {table.frame.schema[name]} cannot be asked about")
    found = {name: whole_values(table, name) for name in rules.values}
    for name, span in rules.width.items():
        units, unit = np.sort(found[name].units), float(found[name].fraction(1))
        ends = units[: rules.k].mean() * unit, units[-rules.k :].mean() * unit
        inside = span.low <= units[0] * unit and units[-1] * unit <= span.high
        if not inside or not (span.means[0] <= ends[0] and ends[1] <= span.means[1]):
            raise DataError(
                f"{table.source}, column {name!r}: a value is outside low and high, or {rules.k} people have a mean "
                f"outside of audit.width.{name}.means; declare wider ones"
            )
    return found
