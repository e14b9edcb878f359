"""A session of exact answers: its rules, its kept state, its log."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.arguments import text
from sfumato.core.errors import BundleError, DataError, ParameterError, listed, unknown_column
from sfumato.core.input_files import read_whole
from sfumato.core.staging import write_whole
from sfumato.dp.answer_log import AnswerLog
from sfumato.dp.chain import Head
from sfumato.queries.exact.atoms import Mask, WholeValues, whole_values
from sfumato.queries.exact.auditor import REASONS, Auditor, Reason, Span
from sfumato.queries.groups import present, readable, texts_in
from sfumato.queries.questions import columns_of, holding
from sfumato.queries.sql import ExactKind, ExactQuestion, Figure, parse_exact
from sfumato.tables.frames import from_frame
from sfumato.tables.table import Table

# The rules of exact answers: which column is audited, what is public, who talks to whom.


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactRules:
    """What a log was begun with."""

    values: tuple[str, ...]
    """The audited columns: nobody's number may follow from answers."""
    public: tuple[str, ...]
    """The columns that conditions and groups may use: analysts may know them of everybody."""
    k: int = 2
    """No sum of fewer people may follow either."""
    groups: tuple[tuple[str, ...], ...] = ()
    """Analysts who talk to each other, group by group; without groups, everybody talks to everybody."""
    width: Mapping[str, Span] = field(default_factory=dict)
    """For some audited columns: bounds, and how closely nobody's value may be known."""

    def __post_init__(self) -> None:
        if not self.values:
            raise ParameterError("values must name at least one column whose numbers are audited")
        both = sorted({*self.values} & {*self.public})
        if both:
            raise ParameterError(f"public must not hold audited columns, and holds {listed(both)}")
        if self.k < 2:
            raise ParameterError(f"k must be at least 2, not {self.k}")
        names = [name for group in self.groups for name in group]
        if len(set(names)) < len(names) or not all(self.groups):
            raise ParameterError("groups must hold every analyst once, and none may be empty")
        if unknown := sorted({*self.width} - {*self.values}):
            raise ParameterError(f"width must be about audited columns, and is about {listed(unknown)}")

    def to_json(self) -> dict[str, Any]:
        """As the log holds them."""
        return {
            "values": list(self.values),
            "public": sorted(self.public),
            "k": self.k,
            "groups": [sorted(group) for group in self.groups],
            "width": {name: asdict(span) for name, span in sorted(self.width.items())},
        }

    def group_of(self, analyst: str) -> int:
        """Whose history an analyst shares."""
        if not self.groups:
            return 0
        for place, group in enumerate(self.groups):
            if analyst in group:
                return place
        raise ParameterError(f"analyst {analyst!r} is in no group; the groups hold {listed(sum(self.groups, ()))}")

    def refuse(self, question: ExactQuestion) -> None:
        """Refuse conditions on columns that are not public, and figures of columns that are not audited."""
        for name in (*question.by, *columns_of(question.where)):
            if name not in self.public:
                raise ParameterError(
                    f"{name!r} is not public: a condition on it would tell of its values. Public are "
                    f"{listed(self.public, most=30)}"
                )
        for figure in question.figures:
            if figure.column is not None and figure.column not in self.values:
                raise ParameterError(
                    f"{figure.name}: {figure.column!r} is not audited, so no exact figure is given of it. Audited are "
                    f"{listed(self.values)}"
                )


# What auditors worked out of a log, kept in a file beside it, so that a long log opens quickly.
#
# The log alone says what was told; the file only saves going through it again. It names an event of the log and its
# hash, and carries a digest under the log's own key. A file that is missing, cut off, changed, or of another log or
# version is not used, and neither is one whose event the log does not hold; the history is gone through instead.


EVERY = 100
"""The file is written anew when so many questions are not in it."""
FORM = 1
"""Files of another form, or of auditors that work in another way, are not used."""
MOST_KEPT = 2_000_000_000
"""A file has at most so many bytes; what is larger is not kept."""
State = Mapping[str, NDArray[Any]]
_DIGEST = 32
_HEAD = "head"


def state_file(log: Path) -> Path:
    """Where the file of a log lies."""
    return log.with_name(f"{log.name}.state")


def keep(log: Path, key: str, head: Head, states: Mapping[str, State]) -> None:
    """Write what auditors, each with a name, worked out up to an event; where it cannot be written there is none."""
    names = sorted(states)
    held = {f"{place}/{part}": array for place, name in enumerate(names) for part, array in states[name].items()}
    header = {"form": FORM, "names": names, **head.to_json()}
    held[_HEAD] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, **held)
    data = buffer.getvalue()
    if len(data) > MOST_KEPT:
        return
    with suppress(BundleError):
        write_whole(state_file(log), _digest(key, data) + data, private=True)


def recall(log: Path, key: str) -> tuple[Head, dict[str, dict[str, NDArray[Any]]]] | None:
    """What was kept, and up to which event; None where nothing that can be used lies there."""
    try:
        whole = read_whole(state_file(log), most=MOST_KEPT + _DIGEST)
    except OSError:
        return None
    digest, data = whole[:_DIGEST], memoryview(whole)[_DIGEST:]
    if not hmac.compare_digest(digest, _digest(key, data)):
        return None
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as held:
            header = json.loads(held[_HEAD].tobytes())
            if header.pop("form") != FORM:
                return None
            names = header.pop("names")
            states: dict[str, dict[str, NDArray[Any]]] = {name: {} for name in names}
            for part in held.files:
                if part != _HEAD:
                    place, _, what = part.partition("/")
                    states[names[int(place)]][what] = held[part]
            return Head.from_json(header), states
    except (ValueError, LookupError, zipfile.BadZipFile):
        return None


def _digest(key: str, data: bytes | memoryview) -> bytes:
    return hashlib.blake2b(data, key=hashlib.sha256(f"state {key}".encode()).digest(), digest_size=_DIGEST).digest()


# A session of exact answers: every question is decided, noted in the log and answered, in this order.


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
                for number, event in news:
                    self._replay(event)
                    self._seen = number
                lines = list(self._decided(question, sql, group))
                self._seen = note({"analyst": analyst, "sql": sql, "told": [line for line, _ in lines]})
        except BaseException:
            self._auditors, self._seen = {}, 0  # nothing of it was told: the log says what was
            raise
        if self._seen - self._kept >= EVERY:
            states = {f"{place} {column}": auditor.state() for (place, column), auditor in self._auditors.items()}
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

    def _replay(self, event: dict[str, Any]) -> None:
        """Take up what another process was told, or this one before it ended."""
        question, group = parse_exact(event["sql"]), self.rules.group_of(event["analyst"])
        lines = iter(event["told"])
        for _, mask in self._sets(event["sql"]):
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
    values = {name: whole_values(table, name) for name in rules.values}
    for name, span in rules.width.items():
        units, unit = np.sort(values[name].units), float(values[name].fraction(1))
        ends = units[: rules.k].mean() * unit, units[-rules.k :].mean() * unit
        inside = span.low <= units[0] * unit and units[-1] * unit <= span.high
        if not inside or not (span.means[0] <= ends[0] and ends[1] <= span.means[1]):
            raise DataError(
                f"{table.source}, column {name!r}: a value is outside low and high, or {rules.k} people have a mean "
                f"outside of audit.width.{name}.means; declare wider ones"
            )
    return values
