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


def vertical_leakage(asked: VerticalAsked, names: Sequence[str]) -> Leakage:
    """The release; who is common; which labels of the release each of one's own people has."""
    people = common_people.leakage_of(names)
    told = [
        Told(to="everybody", what=f"the {name} of every common person, from {names[asked.owner(name)]}")
        for name in asked.told
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
            *told,
            *(
                Told(to="everybody", what=f"whether all parties have the same {name} of every common person")
                for name in asked.shared
            ),
            Told(to="everybody", what="in which order labels were taken, and whose each of them was"),
        ),
        withstands="any parties that work together, for what the others' values are below the labels of the release",
        limits="what the labels tell about a known person, which the models do not bound: they bound whoever sees the "
        f"release alone; {people.limits}"
        + (f"; {listed(asked.shared, most=20)} must be known to every party beforehand" if asked.shared else ""),
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
        asked = self.release
        gain = (asked.target,) if asked.score == "gain" and asked.target is not None else ()
        return tuple(name for name in asked.beside if name in (*asked.watched, *gain))

    @property
    def keeper(self) -> int | None:
        """The party that keeps its columns beside the quasi-identifiers to itself, if any can."""
        left = [name for name in self.release.beside if name not in (*self.counted, *self.shared)]
        return self.owner(left[0]) if left else None

    @property
    def told(self) -> tuple[str, ...]:
        """The columns whose holder tells everybody the value of each common person."""
        beside = [name for name in self.release.beside if name not in self.shared]
        return tuple(name for name in beside if name in self.counted or self.owner(name) != self.keeper)

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
    asked = read_release(tree, beside=KEYS)
    if asked.plan.input.on_missing == "drop":
        raise ParameterError("parameters.input.on_missing: a person must have a value in every column of every party")
    identifier = tree.get("identifier")
    if not isinstance(identifier, str) or not identifier or identifier in asked.plan.columns:
        raise ParameterError(
            f"parameters.identifier must name the column that names people; it is not released: {identifier!r}"
        )
    shared = _texts(tree.get("shared", []), "parameters.shared")
    for name in shared:
        if name not in asked.beside:
            raise ParameterError(f"parameters.shared: {name!r} is no sensitive or target column of parameters.columns")
    holds = _holds(tree.get("holds"), names, [name for name in asked.plan.columns if name not in shared])
    return VerticalAsked(
        release=asked, identifier=identifier, names=tuple(names), holds=holds, shared=tuple(sorted(shared))
    )


def _holds(tree: Any, names: Sequence[str], columns: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    if not isinstance(tree, Mapping) or sorted(tree) != sorted(names):
        raise ParameterError(f"parameters.holds must say for each of {listed(names)} which columns it has")
    found = tuple(_texts(tree[name], f"parameters.holds.{name}") for name in names)
    every = [name for one in found for name in one]
    for party, one in zip(names, found, strict=True):
        if not one:
            raise ParameterError(f"parameters.holds.{party} must name at least one column that this party alone has")
    for name in columns:
        if every.count(name) != 1:
            raise ParameterError(
                f"parameters.holds: {name!r} must be one party's, and not {every.count(name)} parties'"
            )
    strange = [name for name in every if name not in columns]
    if strange:
        raise ParameterError(f"parameters.holds: {strange[0]!r} is not one of parameters.columns, or is shared")
    return found


def _texts(said: Any, where: str) -> tuple[str, ...]:
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        raise ParameterError(f"{where} must be a list of columns, not {said!r}")
    return tuple(said)


def prepare_vertical(asked: VerticalAsked, table: Table) -> VerticalRows:
    """A party's own people; which party it is shows in the columns that it has."""
    if not table.rows:
        raise DataError(f"{table.source} has no rows; a release needs some")
    mine = [one for one in asked.holds if one and all(name in table.names for name in one)]
    have = mine[0] if mine else ()
    known = (*(name for one in mine for name in one), *asked.shared)
    if not have or not all(name in table.names for name in asked.shared):
        wanted = [f"{name}: {listed(one, most=20)}" for name, one in zip(asked.names, asked.holds, strict=True)]
        raise DataError(
            f"{table.source} has {listed(table.names, most=20)}, which are no party's columns"
            f"{f' with the shared {listed(asked.shared)}' if asked.shared else ''}; {'; '.join(wanted)}"
        )
    identifiers = identifiers_of(table, asked.identifier)
    domains = {name: asked.release.domains[name] for name in known}
    source = declared_rows(asked.plan, table, domains)
    return VerticalRows(
        identifiers=identifiers, codes={name: source.coded(source.domain(name)).codes for name in domains}
    )


def run_vertical(conversation: Conversation, asked: VerticalAsked, own: VerticalRows) -> JointResult:
    """The release of the common people.

    Claim: the cut is the one that top-down specialization finds in the joined table, and the rows are those of the
    joined table under it, the same at every party.
    """
    seat, release = conversation.seat, asked.release
    missing = [name for name in (*asked.holds[seat.me], *asked.shared) if name not in own.codes]
    if missing:
        raise DataError(f"this party's table lacks {listed(missing)}, which parameters.holds gives it")
    rows = common_order(conversation, own.identifiers)
    beside = _known_beside(conversation, asked, own, rows)
    source = VerticalSource(
        conversation,
        owners=[asked.owner(name) for name in release.quasi],
        own={place: own.codes[name][rows] for place, name in enumerate(release.quasi) if asked.owner(name) == seat.me},
        sizes=[len(release.domains[name].values) for name in release.quasi],
        counted=beside,
        rows=len(rows),
    )
    outcome = release.search.over(release.problem, source, Work())
    found = _integrated(conversation, asked, outcome, source, beside, own, rows)
    return joint_release(release, outcome, found, seat.session)


def _known_beside(conversation: Conversation, asked: VerticalAsked, own: VerticalRows, rows: Rows) -> dict[str, Codes]:
    """The columns beside the quasi-identifiers that everybody has or is told."""
    seat, found = conversation.seat, {name: own.codes[name][rows] for name in asked.shared}
    conversation.run(same_values(seat, found))
    for name in asked.told:
        holder, values = asked.owner(name), len(asked.release.domains[name].values)
        mine = own.codes[name][rows] if holder == seat.me else None
        found[name] = conversation.run(told_values(seat, holder, mine, len(rows), values))
    return found


def _integrated(
    conversation: Conversation,
    asked: VerticalAsked,
    outcome: Outcome,
    source: VerticalSource,
    beside: Mapping[str, Codes],
    own: VerticalRows,
    rows: Rows,
) -> IntegratedRows:
    """The rows of the common people under the cut; where a party keeps a column, that party counts them."""
    shown, keeper, seat = shown_columns(asked.release, outcome), asked.keeper, conversation.seat
    sizes = [len(one.labels) for one in shown]
    if keeper is not None and keeper != seat.me:
        return conversation.run(kept_counts(seat, keeper, None, sizes, len(rows)))
    known = {**beside, **{name: own.codes[name][rows] for name in asked.kept}}
    more = [
        CodedColumn(codes=known[name], size=len(asked.release.domains[name].values)) for name in asked.release.beside
    ]
    held = CodedRows(columns=(*source.columns, *more), counted={"": np.zeros(len(rows), np.int32)})
    found = integrated(held, shown)
    return found if keeper is None else conversation.run(kept_counts(seat, keeper, found, sizes, len(rows)))


def _given(asked: VerticalAsked, own: VerticalRows) -> str:
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
