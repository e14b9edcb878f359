"""Parties with the same columns, or the same people, make one differentially private release."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from sfumato.algorithms.diffgen import DiffGen
from sfumato.algorithms.marginals import Marginals
from sfumato.algorithms.private_table import NoisyTable, PrivateTable
from sfumato.bundles.checks.consistency import NAMED
from sfumato.core.errors import ClaimRefuted, DataError, ParameterError, SfumatoError, listed
from sfumato.core.run_context import Work
from sfumato.counts.local_cuts import CodedRows
from sfumato.dp.events import Event, written
from sfumato.dp.noise_shares import LEAST
from sfumato.parties import common_people as people
from sfumato.parties.common_people import common_order, identifiers_of
from sfumato.parties.conversation import Conversation, Leakage, Told
from sfumato.parties.diffgen import two_parties
from sfumato.parties.diffgen.many_parties import LEAST as MANY
from sfumato.parties.diffgen.many_parties import refuse_colluding, run_many, with_coalitions
from sfumato.parties.diffgen.pair import SHARED, WHOLE, CountNoise
from sfumato.parties.diffgen.two_parties import HeldColumns
from sfumato.parties.protocols import JointProtocol, JointResult, refuse_strange
from sfumato.pipeline.joint.private_costs import smallest_part
from sfumato.pipeline.methods.method import Request, SearchResult
from sfumato.pipeline.methods.private.domains import declared_table
from sfumato.pipeline.methods.private.method import METHOD
from sfumato.pipeline.methods.private.plan import foreseen, private_algorithm, promise_of
from sfumato.pipeline.methods.private.stages import judge, recode
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.schema import Role
from sfumato.tables.table import Codes, Table

# What parties agree on before they make a private release together: a plan with declared domains, and the noise.


KEYS = ("input", "columns", "privacy", "algorithm", "output", "noise")
"""What the parameters may say: as in a plan, and how noise is shared."""
_KNOWN = {
    "input": ("missing", "on_missing"),
    "privacy": ("epsilon",),
    "noise": ("colluding",),
    "output": ("format", "escape_formulas"),
    "algorithm": ("name", "specializations", "score", "consistent", "kept", "inner", "bins", "workload", "output"),
}
ALGORITHMS = {True: ("diffgen", "marginals"), False: ("diffgen",)}
"""What three or more parties can do, and what two can."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivateAsked:
    """The terms of a joint private release, understood."""

    plan: Plan
    """The plan; its domains are declared."""
    algorithm: DiffGen | Marginals
    """The algorithm with its options."""
    empty: PrivateTable
    """The declared domains, without any row."""
    parties: int
    """How many take part."""
    colluding: int
    """How many of them may put together what they know, without epsilon being exceeded."""

    @property
    def epsilon(self) -> Fraction:
        """The whole budget."""
        epsilon: Fraction = self.algorithm.epsilon
        return epsilon


def read_private(tree: Mapping[str, Any], names: Sequence[str], *, other_keys: Sequence[str] = ()) -> PrivateAsked:
    """The plan that the parameters of a session describe; ``other_keys`` are keys that the protocol reads itself."""
    refuse_strange(tree, (*KEYS, *other_keys))
    for key, known in _KNOWN.items():
        if isinstance(tree.get(key), Mapping):
            refuse_strange(tree[key], known, f"parameters.{key}")
    noise = tree.get("noise", {})
    if not isinstance(noise, Mapping):
        raise ParameterError(f"parameters.noise must be a table such as {{ colluding = 1 }}, not {noise!r}")
    try:
        colluding = noise.get("colluding", 1)
        _refuse_noise(colluding, len(names))
        written_plan = _as_plan(tree, len(names))
        _refuse_algorithm(written_plan, len(names))
        plan = Plan.parse(written_plan)
        for name, column in plan.columns.items():
            _refuse_column(f"columns.{name}", column)
        return _understood(plan, len(names), colluding)
    except SfumatoError as error:
        raise ParameterError(f"parameters.{error}") from None


def cost_of(request: PrivateAsked) -> Event:
    """What taking part costs a person: the epsilon that was agreed on."""
    return foreseen(request.plan)


def _as_plan(tree: Mapping[str, Any], parties: int) -> dict[str, Any]:
    """The plan's own keys; how parties choose follows from their number."""
    plan_tree = {key: tree[key] for key in KEYS if key in tree and key != "noise"}
    columns = plan_tree.get("columns")
    if isinstance(columns, Mapping):
        plan_tree["columns"] = {
            name: {key: value for key, value in column.items() if key != "unit"}
            if isinstance(column, Mapping)
            else column
            for name, column in columns.items()
        }
    algorithm = plan_tree.get("algorithm", {})
    if isinstance(algorithm, Mapping):
        name = algorithm.get("name", "diffgen")
        many: dict[str, Any] = {"choosing": "declared" if name == "marginals" else "counts"} if parties >= MANY else {}
        plan_tree["algorithm"] = {"name": name, **({"score": "max"} if name == "diffgen" else {}), **algorithm, **many}
    return plan_tree


def _refuse_noise(colluding: Any, parties: int) -> None:
    try:
        refuse_colluding(colluding, parties)
    except ParameterError as error:
        raise ParameterError(f"noise.{error}") from None


def _refuse_algorithm(tree: Mapping[str, Any], parties: int) -> None:
    privacy, algorithm = tree.get("privacy", {}), tree.get("algorithm")
    if not isinstance(privacy, Mapping) or privacy.get("epsilon") is None:
        raise ParameterError("privacy.epsilon is missing; say how much this release may cost a person")
    if not isinstance(algorithm, Mapping):
        raise ParameterError(f'algorithm must be a table such as {{ name = "diffgen" }}, not {algorithm!r}')
    name, known = algorithm["name"], ALGORITHMS[parties >= MANY]
    if name not in known:
        why = "" if parties >= MANY else "; two parties cannot add up noisy counts without telling their own"
        raise ParameterError(f"algorithm.name must be {listed(known)} for {parties} parties, not {name!r}{why}")
    if algorithm.get("score", "max") != "max":
        raise ParameterError(
            f'algorithm.score must be "max", not {algorithm["score"]!r}: parties compare sums of whole counts'
        )


def _refuse_column(where: str, column: Any) -> None:
    if column.role not in (Role.QUASI, Role.TARGET):
        raise ParameterError(f"{where}.role must be quasi or target, not {str(column.role)!r}: name what is released")
    if column.hierarchy is not None and "file" in column.hierarchy:
        raise ParameterError(f"{where}.hierarchy.file: parties agree on what the session file says; write the tree")
    if column.domain_from not in ("declared", "public"):
        raise ParameterError(f"{where}.domain_from: parties must know the domain beforehand; declare it")
    if column.outside == "refuse":
        raise ParameterError(f'{where}.outside: a refusal would tell the others of one value; use "clamp" or "drop"')
    if column.type == "set":
        raise ParameterError(f"{where}.type: parts of sets are tested one by one, which parties cannot do together")


def _understood(plan: Plan, parties: int, colluding: int) -> PrivateAsked:
    """Whatever would be refused of every table is refused here, on a table without rows."""
    none = pl.DataFrame(schema=dict.fromkeys(plan.columns, pl.String))
    empty = declared_table(plan, Table(frame=none, source="no rows", missing=plan.input.missing))
    _, algorithm, _ = private_algorithm(plan)
    least = smallest_part(algorithm, empty)
    if least < LEAST:
        raise ParameterError(
            f"privacy.epsilon is too small for so many columns: a count would cost {written(least)}, and shares of "
            f"noise are drawn from {written(LEAST)} on; use fewer columns or more epsilon"
        )
    return PrivateAsked(plan=plan, algorithm=algorithm, empty=empty, parties=parties, colluding=colluding)


# From what the algorithm gave all parties to a release of kind private, the same rows at every party.


SHOWN = 40
"""So many of the released rows are shown to people."""


def private_result(request: PrivateAsked, noisy_table: NoisyTable) -> JointResult:
    """The release; what the algorithm accounted for must be the promise exactly."""
    promise = promise_of(request.plan)
    if not promise.kept_by(noisy_table.event):
        spent = promise.spent_by(noisy_table.event)
        raise ClaimRefuted(f"{spent} of epsilon was accounted for, not {promise}; nothing was written")
    planned = Request(plan=request.plan, keys={})
    result = SearchResult(prepared=request.empty, outcome=noisy_table, algorithm=request.plan.algorithm.name, why=NAMED)
    rows = recode(planned, result)
    text = rows.write_csv()
    document = {"columns": rows.columns, "rows": rows.height, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    return JointResult(
        document=document,
        columns=tuple(rows.columns),
        rows=rows.head(SHOWN).rows(),
        release=judge(METHOD, planned, result, rows),
    )


# Parties with the same columns about different people make one private release: document 003, section 7.5.


def prepare_private(request: PrivateAsked, table: Table) -> PrivateTable:
    """A party's own rows over the declared domains; there may be none, for a refusal would tell that."""
    return declared_table(request.plan, replace(table, missing=request.plan.input.missing or table.missing))


def run_private(conversation: Conversation, request: PrivateAsked, own: PrivateTable) -> JointResult:
    """The release of all parties' rows: two choose in a circuit, more by noisy counts."""
    if request.parties >= MANY:
        return private_result(request, run_many(conversation, request.algorithm, own, colluding=request.colluding))
    assert isinstance(request.algorithm, DiffGen)
    noisy_table = two_parties.run_horizontal_pair(
        conversation, request.algorithm, own, Work(), noise=pair_noise(request)
    )
    return private_result(request, with_coalitions(noisy_table, request.parties, request.colluding))


def pair_noise(request: PrivateAsked) -> CountNoise:
    """Two whole noises where the other party is not to learn more than anybody, else one that both share."""
    return WHOLE if request.colluding else SHARED


def leakage_of(request: PrivateAsked, names: Sequence[str]) -> Leakage:
    """What it tells whom, and which epsilon holds against whom."""
    parties, against = len(names), request.colluding
    if parties < MANY:
        return replace(two_parties.HORIZONTAL_LEAKAGE, protocol="private-release", withstands=withstood(request, names))
    return Leakage(
        protocol="private-release",
        result=(Told(to="everybody", what="the release: noisy counts of groups of all parties' rows together"),),
        beyond=(
            Told(
                to="everybody",
                what="the noisy counts that the release was computed from; whatever follows from them is covered by "
                "the same epsilon",
            ),
        ),
        withstands=withstood(request, names),
        limits=f"{'' if against + 1 >= parties else 'more parties that work together, who know their own noise: the '}"
        f"{'' if against + 1 >= parties else 'bundle says which epsilon is left against how many; '}"
        "a party that draws no noise, or puts in other rows than it has; somebody in the tables of several parties, "
        "whom each table costs epsilon",
    )


def withstood(request: PrivateAsked, names: Sequence[str]) -> str:
    """Against whom the agreed epsilon holds."""
    amount = f"epsilon = {written(request.epsilon)}"
    if not request.colluding:
        return f"readers of the release, against whom {amount} holds; not a party, which knows its share of the noise"
    who = "either party" if len(names) == 2 else f"any {request.colluding} of {len(names)} parties together"
    who = who.replace("any 1 of", "each of").replace("parties together", "parties") if request.colluding == 1 else who
    return f"readers of the release and {who}: against them {amount} holds for everybody in the other tables"


def given(request: PrivateAsked, own: PrivateTable) -> str:
    """In words, what of its own table a party puts in; how many rows it has is private."""
    names = [*(attribute.name for attribute in own.attributes), *([own.target_name] if own.target_name else [])]
    return f"counts of your rows by {listed(names, most=20)}, to each of which your own noise is added"


PRIVATE_RELEASE = JointProtocol(
    name="private-release",
    about="One differentially private release of all parties' rows, with noise to which every party adds its share.",
    least=2,
    read=read_private,
    leakage=leakage_of,
    prepare=prepare_private,
    given=given,
    run=run_private,
    cost=cost_of,
)


# Two parties with different columns about the same people make one private release: document 003, section 7.4.


VERTICAL_KEYS = ("identifier", "holds")


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
    terms = read_private(tree, names, other_keys=VERTICAL_KEYS)
    if terms.plan.input.on_missing == "drop":
        raise ParameterError("parameters.input.on_missing: a person must have a value in every column of both parties")
    identifier = tree.get("identifier")
    if not isinstance(identifier, str) or not identifier or identifier in terms.plan.columns:
        raise ParameterError(
            f"parameters.identifier must name the column that names people; it is not released: {identifier!r}"
        )
    holds = tree.get("holds")
    columns = [attribute.name for attribute in terms.empty.attributes]
    if not isinstance(holds, Mapping) or sorted(holds) != sorted(names):
        raise ParameterError(f"parameters.holds must say for each of {listed(names)} which columns it has")
    holdings = tuple(tuple(map(str, holds[name])) if isinstance(holds[name], list) else () for name in names)
    every = [name for holding in holdings for name in holding]
    if sorted(every) != sorted(columns) or not all(holdings):
        raise ParameterError(
            f"parameters.holds must give each of {listed(columns, most=20)} to one party, and each party one of them "
            f"at least; the class {terms.empty.target_name or ''!r} is known to both"
        )
    return VerticalPrivate(terms=terms, identifier=identifier, names=tuple(names), holds=holdings)


def prepare_vertical(request: VerticalPrivate, table: Table) -> OwnPeople:
    """A party's own people; which party it is shows in the columns that it has."""
    mine = next((holding for holding in request.holds if all(name in table.names for name in holding)), None)
    if mine is None:
        wanted = [
            f"{name}: {listed(holding, most=20)}" for name, holding in zip(request.names, request.holds, strict=True)
        ]
        raise DataError(f"{table.source} has no party's columns; {'; '.join(wanted)}")
    target = request.terms.empty.target_name
    kept = {name: column for name, column in request.plan.columns.items() if name in mine or name == target}
    read = replace(table, missing=request.plan.input.missing or table.missing)
    own = declared_table(replace(request.plan, columns=kept), read).counts
    if not isinstance(own, CodedRows) or own.rows != table.rows:
        raise DataError(
            f"{table.source}: some rows have a value outside the declared domains; whoever is left out here would be "
            "told to the other party. Declare an other value, or clamp numbers"
        )
    return OwnPeople(
        identifiers=identifiers_of(table, request.identifier),
        codes={name: column.codes for name, column in zip([n for n in kept if n != target], own.columns, strict=True)},
        kinds=own.counted[target or ""],
    )


def run_vertical(conversation: Conversation, request: VerticalPrivate, own: OwnPeople) -> JointResult:
    """The release of the common people."""
    seat, terms = conversation.seat, request.terms
    missing = [name for name in request.holds[seat.me] if name not in own.codes]
    if missing:
        raise DataError(f"this party's table lacks {listed(missing)}, which parameters.holds gives it")
    assert isinstance(terms.algorithm, DiffGen)
    rows = common_order(conversation, own.identifiers)
    names = [attribute.name for attribute in terms.empty.attributes]
    mine = request.holds[seat.me]
    held = HeldColumns(
        attributes=terms.empty.attributes,
        owners=tuple(0 if name in request.holds[0] else 1 for name in names),
        codes={place: own.codes[name][rows] for place, name in enumerate(names) if name in mine},
        classes=terms.empty.classes,
        kinds=np.asarray(own.kinds[rows], np.int32),
        target_name=terms.empty.target_name,
    )
    noisy_table = two_parties.run_vertical_pair(conversation, terms.algorithm, held, Work(), noise=pair_noise(terms))
    return private_result(terms, with_coalitions(noisy_table, terms.parties, terms.colluding))


def vertical_leakage_of(request: VerticalPrivate, names: Sequence[str]) -> Leakage:
    """What it tells whom: the release, who the common people are, and what two noises leave."""
    common, pair = people.leakage_of(names), two_parties.VERTICAL_LEAKAGE
    return Leakage(
        protocol="vertical-private-release",
        result=pair.result,
        beyond=(*common.result, *common.beyond, *pair.beyond),
        withstands=withstood(request.terms, names),
        limits=f"{pair.limits}; {common.limits}",
    )


def _given(request: VerticalPrivate, own: OwnPeople) -> str:
    return f"{listed(list(own.codes), most=20)} of the people in your table, by counts with your own noise"


def _cost(request: VerticalPrivate) -> Event:
    return cost_of(request.terms)


VERTICAL_PRIVATE = JointProtocol(
    name="vertical-private-release",
    about="One differentially private release of the people whom both parties have, with the columns of both.",
    least=2,
    most=2,
    read=read_vertical,
    leakage=vertical_leakage_of,
    prepare=prepare_vertical,
    given=_given,
    run=run_vertical,
    cost=_cost,
)
