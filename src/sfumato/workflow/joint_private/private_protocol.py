"""Parties with the same columns about different people make one private release: document 003, section 7.5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.budget.events import written
from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.joint_protocols import JointProtocol, JointResult
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.noisy.coalitions import with_coalitions
from sfumato.collaborate.noisy.many_parties import LEAST as MANY
from sfumato.collaborate.noisy.many_parties import run_many
from sfumato.collaborate.private import horizontal_pair
from sfumato.collaborate.private.count_noise import SHARED, WHOLE, CountNoise
from sfumato.data.table import Table
from sfumato.ground.errors import listed
from sfumato.ground.work import Work
from sfumato.publish.diffgen import DiffGen
from sfumato.publish.noisy_table import PrivateTable
from sfumato.workflow.joint_private.private_result import private_result
from sfumato.workflow.joint_private.private_terms import PrivateAsked, cost_of, read_private
from sfumato.workflow.kinds.private.declared import declared_table


def prepare_private(asked: PrivateAsked, table: Table) -> PrivateTable:
    """A party's own rows over the declared domains; there may be none, for a refusal would tell that."""
    return declared_table(asked.plan, replace(table, missing=asked.plan.input.missing or table.missing))


def run_private(conversation: Conversation, asked: PrivateAsked, own: PrivateTable) -> JointResult:
    """The release of all parties' rows: two choose in a circuit, more by noisy counts."""
    if asked.parties >= MANY:
        return private_result(asked, run_many(conversation, asked.algorithm, own, colluding=asked.colluding))
    assert isinstance(asked.algorithm, DiffGen)
    made = horizontal_pair.run_horizontal_pair(conversation, asked.algorithm, own, Work(), noise=pair_noise(asked))
    return private_result(asked, with_coalitions(made, asked.parties, asked.colluding))


def pair_noise(asked: PrivateAsked) -> CountNoise:
    """Two whole noises where the other party is not to learn more than anybody, else one that both share."""
    return WHOLE if asked.colluding else SHARED


def leakage_of(asked: PrivateAsked, names: Sequence[str]) -> Leakage:
    """What it tells whom, and which epsilon holds against whom."""
    parties, against = len(names), asked.colluding
    if parties < MANY:
        return replace(horizontal_pair.LEAKAGE, protocol="private-release", withstands=withstood(asked, names))
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
        withstands=withstood(asked, names),
        limits=f"{'' if against + 1 >= parties else 'more parties that work together, who know their own noise: the '}"
        f"{'' if against + 1 >= parties else 'bundle says which epsilon is left against how many; '}"
        "a party that draws no noise, or puts in other rows than it has; somebody in the tables of several parties, "
        "whom each table costs epsilon",
    )


def withstood(asked: PrivateAsked, names: Sequence[str]) -> str:
    """Against whom the agreed epsilon holds."""
    amount = f"epsilon = {written(asked.epsilon)}"
    if not asked.colluding:
        return f"readers of the release, against whom {amount} holds; not a party, which knows its share of the noise"
    who = "either party" if len(names) == 2 else f"any {asked.colluding} of {len(names)} parties together"
    who = who.replace("any 1 of", "each of").replace("parties together", "parties") if asked.colluding == 1 else who
    return f"readers of the release and {who}: against them {amount} holds for everybody in the other tables"


def given(asked: PrivateAsked, own: PrivateTable) -> str:
    """In words, what of its own table a party puts in; how many rows it has is private."""
    names = [*(one.name for one in own.attributes), *([own.target_name] if own.target_name else [])]
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
