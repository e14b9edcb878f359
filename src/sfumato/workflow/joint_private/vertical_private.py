"""Two parties with different columns about the same people make one private release: document 003, section 7.4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.budget.events import Event
from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.joint_protocols import JointProtocol, JointResult
from sfumato.collaborate.leakage import Leakage
from sfumato.collaborate.mining.common_people import identifiers_of
from sfumato.collaborate.noisy.coalitions import with_coalitions
from sfumato.collaborate.private import vertical_pair
from sfumato.collaborate.private.held_columns import HeldColumns
from sfumato.collaborate.releases import common_order as people
from sfumato.collaborate.releases.common_order import common_order
from sfumato.data.table import Codes, Table
from sfumato.ground.errors import DataError, ParameterError, listed
from sfumato.ground.work import Work
from sfumato.group.coded_rows import CodedRows
from sfumato.publish.diffgen import DiffGen
from sfumato.workflow.joint_private.private_protocol import pair_noise, withstood
from sfumato.workflow.joint_private.private_result import private_result
from sfumato.workflow.joint_private.private_terms import PrivateAsked, cost_of, read_private
from sfumato.workflow.kinds.private.declared import declared_table
from sfumato.workflow.plan.plan import Plan

KEYS = ("identifier", "holds")


@dataclass(frozen=True, kw_only=True, eq=False)
class VerticalPrivate:
    """The terms, and who holds which column."""

    terms: PrivateAsked
    """The plan and the noise."""
    identifier: str
    """The column that names people, at both parties."""
    names: tuple[str, ...]
    """The parties."""
    holds: tuple[tuple[str, ...], ...]
    """The columns that each party alone has; the class both have."""

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.terms.plan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OwnPeople:
    """A party's own people and columns, looked at before anything is sent."""

    identifiers: list[str]
    """Whom the rows are about."""
    codes: Mapping[str, Codes]
    """The declared codes of each of its columns."""
    kinds: Codes
    """The class of everybody."""


def read_vertical(tree: Mapping[str, Any], names: Sequence[str]) -> VerticalPrivate:
    """The plan, the identifier, and who holds what."""
    terms = read_private(tree, names, beside=KEYS)
    if terms.plan.input.on_missing == "drop":
        raise ParameterError("parameters.input.on_missing: a person must have a value in every column of both parties")
    identifier = tree.get("identifier")
    if not isinstance(identifier, str) or not identifier or identifier in terms.plan.columns:
        raise ParameterError(
            f"parameters.identifier must name the column that names people; it is not released: {identifier!r}"
        )
    holds = tree.get("holds")
    columns = [one.name for one in terms.empty.attributes]
    if not isinstance(holds, Mapping) or sorted(holds) != sorted(names):
        raise ParameterError(f"parameters.holds must say for each of {listed(names)} which columns it has")
    found = tuple(tuple(map(str, holds[name])) if isinstance(holds[name], list) else () for name in names)
    every = [name for one in found for name in one]
    if sorted(every) != sorted(columns) or not all(found):
        raise ParameterError(
            f"parameters.holds must give each of {listed(columns, most=20)} to one party, and each party one of them "
            f"at least; the class {terms.empty.target_name or ''!r} is known to both"
        )
    return VerticalPrivate(terms=terms, identifier=identifier, names=tuple(names), holds=found)


def prepare_vertical(asked: VerticalPrivate, table: Table) -> OwnPeople:
    """A party's own people; which party it is shows in the columns that it has."""
    mine = next((one for one in asked.holds if all(name in table.names for name in one)), None)
    if mine is None:
        wanted = [f"{name}: {listed(one, most=20)}" for name, one in zip(asked.names, asked.holds, strict=True)]
        raise DataError(f"{table.source} has no party's columns; {'; '.join(wanted)}")
    target = asked.terms.empty.target_name
    kept = {name: one for name, one in asked.plan.columns.items() if name in mine or name == target}
    read = replace(table, missing=asked.plan.input.missing or table.missing)
    own = declared_table(replace(asked.plan, columns=kept), read).counts
    if not isinstance(own, CodedRows) or own.rows != table.rows:
        raise DataError(
            f"{table.source}: some rows have a value outside the declared domains; whoever is left out here would be "
            "told to the other party. Declare an other value, or clamp numbers"
        )
    return OwnPeople(
        identifiers=identifiers_of(table, asked.identifier),
        codes={name: one.codes for name, one in zip([n for n in kept if n != target], own.columns, strict=True)},
        kinds=own.counted[target or ""],
    )


def run_vertical(conversation: Conversation, asked: VerticalPrivate, own: OwnPeople) -> JointResult:
    """The release of the common people."""
    seat, terms = conversation.seat, asked.terms
    missing = [name for name in asked.holds[seat.me] if name not in own.codes]
    if missing:
        raise DataError(f"this party's table lacks {listed(missing)}, which parameters.holds gives it")
    assert isinstance(terms.algorithm, DiffGen)
    rows = common_order(conversation, own.identifiers)
    names = [one.name for one in terms.empty.attributes]
    mine = asked.holds[seat.me]
    held = HeldColumns(
        attributes=terms.empty.attributes,
        owners=tuple(0 if name in asked.holds[0] else 1 for name in names),
        codes={place: own.codes[name][rows] for place, name in enumerate(names) if name in mine},
        classes=terms.empty.classes,
        kinds=np.asarray(own.kinds[rows], np.int32),
        target_name=terms.empty.target_name,
    )
    made = vertical_pair.run_vertical_pair(conversation, terms.algorithm, held, Work(), noise=pair_noise(terms))
    return private_result(terms, with_coalitions(made, terms.parties, terms.colluding))


def leakage_of(asked: VerticalPrivate, names: Sequence[str]) -> Leakage:
    """What it tells whom: the release, who the common people are, and what two noises leave."""
    common, pair = people.leakage_of(names), vertical_pair.LEAKAGE
    return Leakage(
        protocol="vertical-private-release",
        result=pair.result,
        beyond=(*common.result, *common.beyond, *pair.beyond),
        withstands=withstood(asked.terms, names),
        limits=f"{pair.limits}; {common.limits}",
    )


def _given(asked: VerticalPrivate, own: OwnPeople) -> str:
    return f"{listed(list(own.codes), most=20)} of the people in your table, by counts with your own noise"


def _cost(asked: VerticalPrivate) -> Event:
    return cost_of(asked.terms)


VERTICAL_PRIVATE = JointProtocol(
    name="vertical-private-release",
    about="One differentially private release of the people whom both parties have, with the columns of both.",
    least=2,
    most=2,
    read=read_vertical,
    leakage=leakage_of,
    prepare=prepare_vertical,
    given=_given,
    run=run_vertical,
    cost=_cost,
)
