"""DiffGen by two parties that hold different records with the same attributes (document 003, algorithm 7.4).

Claim: both return the same release, which is epsilon-differentially private for an outsider, neighbours being one
    record more or less at either party. Against the other party the choices are as private; for counts `count_noise`
    says what holds. What the parties see of each other beside the release is declared in `LEAKAGE` and nothing else.
How: each party specializes its own records; values and split points are chosen by `coin_circuit`, as one party
    chooses, or by `choice_circuit`, as the thesis does, on both parties' counts; each adds noise to its own leaf
    counts, and the noisy ones are exchanged.
Source: document 003, sections 7.5.1 to 7.5.3. Scores of all candidates are computed anew in every step, in the circuit
    that chooses: no share of a score is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.budget.events import Event
from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.private.choice_circuit import Choosing
from sfumato.collaborate.private.coin_circuit import flipped
from sfumato.collaborate.private.count_noise import WHOLE, CountNoise, JointCounts
from sfumato.collaborate.private.hidden_scores import Shape, joint_inputs
from sfumato.collaborate.private.pair_search import PairSearch, Ready, get_ready, refuse_unfit
from sfumato.ground.work import Work
from sfumato.publish.diffgen.class_tables import Candidate, Table
from sfumato.publish.diffgen.noisy_specializer import DiffGen, published
from sfumato.publish.diffgen.number_column import NumberColumn
from sfumato.publish.looking import Mechanisms
from sfumato.publish.noisy_table import NoisyTable, PrivateTable

LEAKAGE = Leakage(
    protocol="DiffGen by two parties with different records",
    result=(Told(to="everybody", what="the release: specializations, and noisy counts of all groups"),),
    beyond=(
        Told(
            to="everybody",
            what="of every count the other party's part with the noise that the other party added: the published count "
            "less its own",
        ),
    ),
    withstands="either party alone; what it learns of the other's records is differentially private",
    limits="a party that does not follow the protocol: it can choose its own noise or put in other counts; the party "
    "with the higher number learns each choice first and may stop then; differential privacy against the other party "
    "has the epsilon that the way of noise says, which for shared noise is larger than the release's",
)


def run_horizontal_pair(
    conversation: Conversation,
    asked: DiffGen,
    own: PrivateTable,
    work: Work,
    *,
    noise: CountNoise = WHOLE,
    choosing: Choosing = flipped,
    ready: Ready = get_ready,
) -> NoisyTable:
    """The release of both parties' records; each calls this with its own, over the same declared domains."""
    refuse_unfit(asked, own.attributes, own.rows)
    pair = ready(conversation, choosing)

    def searching(**given: object) -> HorizontalSearch:
        return HorizontalSearch(pair=pair, **given)  # type: ignore[arg-type]

    counting = JointCounts(conversation, noise, wraps=False)
    return published(asked, own, work, Mechanisms(count=counting), searching=searching)


@dataclass(slots=True, kw_only=True)
class HorizontalSearch(PairSearch):
    """Every choice is by scores of both parties' counts, which a circuit adds up."""

    def which(self, candidates: list[Candidate]) -> tuple[int, list[Event]]:
        """The value that is specialized."""
        prices = self.whole_prices(candidates) if self.pair.me == 0 else [0] * len(candidates)
        return self._by([self.columns[one.column].table(one) for one in candidates], prices, "which value")

    def where(self, column: NumberColumn, value: int, what: str) -> tuple[int, list[Event]]:
        """The point where an interval would be split."""
        tables = list(column.tables(value))
        return self._by(tables, [0] * len(tables), what)

    def _by(self, tables: list[Table], prices: list[int], what: str) -> tuple[int, list[Event]]:
        classes = tables[0].shape[1]
        shape = Shape(children=tuple(map(len, tables)), classes=classes)
        return self.taken(shape, joint_inputs([np.asarray(one) for one in tables], prices), what)
