"""What a vertical release tells whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.algorithms.problem import Outcome
from sfumato.core.errors import DataError, ParameterError, listed
from sfumato.core.run_context import Work
from sfumato.counts.local_cuts import CodedColumn, CodedRows
from sfumato.parties import common_people
from sfumato.parties.common_people import Rows, common_order, identifiers_of
from sfumato.parties.conversation import Conversation, Leakage, Told
from sfumato.parties.protocols import JointProtocol, JointResult
from sfumato.parties.releases.integrated_rows import IntegratedRows, integrated, kept_counts, same_values, told_values
from sfumato.parties.releases.vertical import VerticalSource
from sfumato.pipeline.joint.release import ReleaseAsked, declared_rows, joint_release, read_release, shown_columns
from sfumato.tables.table import Codes, Table


def vertical_leakage(request: VerticalAsked, names: Sequence[str]) -> Leakage:
    """The release; who is common; which labels of the release each of one's own people has."""
    people = common_people.leakage_of(names)
    disclosures = [
        Told(to="everybody", what=f"the {name} of every common person, from {names[request.owner(name)]}")
        for name in request.told
    ]
    return Leakage(
        protocol="vertical-release",
        result=(
            Told(to="everybody", what="the release: the common people with the columns of all parties, generalized"),
            *people.result,
        ),
        beyond=(
            *people.beyond,
            Told(
                to="everybody",
                what="for each of its own common people, the labels that the release shows of the other parties' "
                "quasi-identifiers: no finer than the release, but linked to the person",
            ),
            *disclosures,
            *(
                Told(to="everybody", what=f"whether all parties have the same {name} of every common person")
                for name in request.shared
            ),
            Told(to="everybody", what="in which order labels were taken, and whose each of them was"),
        ),
        withstands="any parties that work together, for what the others' values are below the labels of the release",
        limits="what the labels tell about a known person, which the models do not bound: they bound whoever sees the "
        f"release alone; {people.limits}"
        + (f"; {listed(request.shared, most=20)} must be known to every party beforehand" if request.shared else ""),
    )


# Parties with different columns about the same people make one release: document 003, section 5.3.


KEYS = ("identifier", "holds", "shared")


@dataclass(frozen=True, kw_only=True, eq=False)
class VerticalAsked:
    """The plan of a vertical release, and who holds which of its columns."""

    release: ReleaseAsked
    """The plan."""
    identifier: str
    """The column that names people, at every party."""
    names: tuple[str, ...]
    """The parties."""
    holds: tuple[tuple[str, ...], ...]
    """The columns that each party alone has."""
    shared: tuple[str, ...] = ()
    """The columns beside the quasi-identifiers that every party has anyway."""

    @property
    def plan(self) -> Any:
        """The plan."""
        return self.release.plan

    def owner(self, name: str) -> int:
        """Whose a column is."""
        return next(number for number, columns in enumerate(self.holds) if name in columns)

    @property
    def counted(self) -> tuple[str, ...]:
        """The columns that everybody must know while it is searched: the class of gain, and what models watch."""
        request = self.release
        gain = (request.target,) if request.score == "gain" and request.target is not None else ()
        return tuple(name for name in request.beside if name in (*request.watched, *gain))

    @property
    def keeper(self) -> int | None:
        """The party that keeps its columns beside the quasi-identifiers to itself, if any can."""
        left = [name for name in self.release.beside if name not in (*self.counted, *self.shared)]
        return self.owner(left[0]) if left else None

    @property
    def told(self) -> tuple[str, ...]:
        """The columns whose holder tells everybody the value of each common person."""
        other_columns = [name for name in self.release.beside if name not in self.shared]
        return tuple(name for name in other_columns if name in self.counted or self.owner(name) != self.keeper)

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns of which the keeper tells only how often they occur in the release."""
        return tuple(name for name in self.release.beside if name not in (*self.shared, *self.told))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VerticalRows:
    """A party's own people and columns, looked at before anything is sent."""

    identifiers: list[str]
    """Whom the rows are about."""
    codes: Mapping[str, Codes]
    """The declared codes of each column that this party has."""


def read_vertical(tree: Mapping[str, Any], names: Sequence[str]) -> VerticalAsked:
    """The plan, the identifier, and who holds what."""
    request = read_release(tree, other_keys=KEYS)
    if request.plan.input.on_missing == "drop":
        raise ParameterError("parameters.input.on_missing: a person must have a value in every column of every party")
    identifier = tree.get("identifier")
    if not isinstance(identifier, str) or not identifier or identifier in request.plan.columns:
        raise ParameterError(
            f"parameters.identifier must name the column that names people; it is not released: {identifier!r}"
        )
    shared = _texts(tree.get("shared", []), "parameters.shared")
    for name in shared:
        if name not in request.beside:
            raise ParameterError(f"parameters.shared: {name!r} is no sensitive or target column of parameters.columns")
    holds = _holds(tree.get("holds"), names, [name for name in request.plan.columns if name not in shared])
    return VerticalAsked(
        release=request, identifier=identifier, names=tuple(names), holds=holds, shared=tuple(sorted(shared))
    )


def _holds(tree: Any, names: Sequence[str], columns: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    if not isinstance(tree, Mapping) or sorted(tree) != sorted(names):
        raise ParameterError(f"parameters.holds must say for each of {listed(names)} which columns it has")
    holdings = tuple(_texts(tree[name], f"parameters.holds.{name}") for name in names)
    every = [name for holding in holdings for name in holding]
    for party, holding in zip(names, holdings, strict=True):
        if not holding:
            raise ParameterError(f"parameters.holds.{party} must name at least one column that this party alone has")
    for name in columns:
        if every.count(name) != 1:
            raise ParameterError(
                f"parameters.holds: {name!r} must be one party's, and not {every.count(name)} parties'"
            )
    strange = [name for name in every if name not in columns]
    if strange:
        raise ParameterError(f"parameters.holds: {strange[0]!r} is not one of parameters.columns, or is shared")
    return holdings


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ParameterError(f"{where} must be a list of columns, not {value!r}")
    return tuple(value)


def prepare_vertical(request: VerticalAsked, table: Table) -> VerticalRows:
    """A party's own people; which party it is shows in the columns that it has."""
    if not table.rows:
        raise DataError(f"{table.source} has no rows; a release needs some")
    mine = [holding for holding in request.holds if holding and all(name in table.names for name in holding)]
    have = mine[0] if mine else ()
    known = (*(name for holding in mine for name in holding), *request.shared)
    if not have or not all(name in table.names for name in request.shared):
        wanted = [
            f"{name}: {listed(holding, most=20)}" for name, holding in zip(request.names, request.holds, strict=True)
        ]
        raise DataError(
            f"{table.source} has {listed(table.names, most=20)}, which are no party's columns"
            f"{f' with the shared {listed(request.shared)}' if request.shared else ''}; {'; '.join(wanted)}"
        )
    identifiers = identifiers_of(table, request.identifier)
    domains = {name: request.release.domains[name] for name in known}
    source = declared_rows(request.plan, table, domains)
    return VerticalRows(
        identifiers=identifiers, codes={name: source.coded(source.domain(name)).codes for name in domains}
    )


def run_vertical(conversation: Conversation, request: VerticalAsked, own: VerticalRows) -> JointResult:
    """The release of the common people.

    Claim: the cut is the one that top-down specialization finds in the joined table, and the rows are those of the
    joined table under it, the same at every party.
    """
    seat, release = conversation.seat, request.release
    missing = [name for name in (*request.holds[seat.me], *request.shared) if name not in own.codes]
    if missing:
        raise DataError(f"this party's table lacks {listed(missing)}, which parameters.holds gives it")
    rows = common_order(conversation, own.identifiers)
    other_codes = _known_beside(conversation, request, own, rows)
    source = VerticalSource(
        conversation,
        owners=[request.owner(name) for name in release.quasi],
        own={
            place: own.codes[name][rows] for place, name in enumerate(release.quasi) if request.owner(name) == seat.me
        },
        sizes=[len(release.domains[name].values) for name in release.quasi],
        counted=other_codes,
        rows=len(rows),
    )
    outcome = release.search.over(release.problem, source, Work())
    integrated_rows = _integrated(conversation, request, outcome, source, other_codes, own, rows)
    return joint_release(release, outcome, integrated_rows, seat.session)


def _known_beside(
    conversation: Conversation, request: VerticalAsked, own: VerticalRows, rows: Rows
) -> dict[str, Codes]:
    """The columns beside the quasi-identifiers that everybody has or is told."""
    seat, codes = conversation.seat, {name: own.codes[name][rows] for name in request.shared}
    conversation.run(same_values(seat, codes))
    for name in request.told:
        holder, values = request.owner(name), len(request.release.domains[name].values)
        mine = own.codes[name][rows] if holder == seat.me else None
        codes[name] = conversation.run(told_values(seat, holder, mine, len(rows), values))
    return codes


def _integrated(
    conversation: Conversation,
    request: VerticalAsked,
    outcome: Outcome,
    source: VerticalSource,
    other_codes: Mapping[str, Codes],
    own: VerticalRows,
    rows: Rows,
) -> IntegratedRows:
    """The rows of the common people under the cut; where a party keeps a column, that party counts them."""
    recodings, keeper, seat = shown_columns(request.release, outcome), request.keeper, conversation.seat
    sizes = [len(recoding.labels) for recoding in recodings]
    if keeper is not None and keeper != seat.me:
        return conversation.run(kept_counts(seat, keeper, None, sizes, len(rows)))
    known = {**other_codes, **{name: own.codes[name][rows] for name in request.kept}}
    more = [
        CodedColumn(codes=known[name], size=len(request.release.domains[name].values))
        for name in request.release.beside
    ]
    held = CodedRows(columns=(*source.columns, *more), counted={"": np.zeros(len(rows), np.int32)})
    integrated_rows = integrated(held, recodings)
    return (
        integrated_rows
        if keeper is None
        else conversation.run(kept_counts(seat, keeper, integrated_rows, sizes, len(rows)))
    )


def _given(request: VerticalAsked, own: VerticalRows) -> str:
    return f"{listed(list(own.codes), most=20)} of {len(own.identifiers):,} people"


VERTICAL_RELEASE = JointProtocol(
    name="vertical-release",
    about="One release of the people whom all parties have, with the columns of all of them, by top-down "
    "specialization.",
    least=2,
    read=read_vertical,
    leakage=vertical_leakage,
    prepare=prepare_vertical,
    given=_given,
    run=run_vertical,
)
