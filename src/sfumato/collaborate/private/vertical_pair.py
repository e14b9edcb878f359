"""DiffGen by two parties that hold different attributes of the same people (document 003, algorithm 7.1).

Claim: both return the same release, which is epsilon-differentially private for an outsider, neighbours being one
    person more or less. Against the other party a choice among both parties' candidates costs its epsilon; for counts
    `count_noise` says what holds. Which people are common, their number and their classes both know beforehand:
    the promise against the other party is about everything else.
How: a party scores its own candidates and chooses the split points of its own numbers by itself, which costs the same
    and needs no circuit; which value is specialized is chosen by `coin_circuit` (or, as in the thesis, by
    `choice_circuit`) from both parties' scores. Leaf
    counts come out of `crossed_counts` as shares; each party adds noise to its share, and noisy shares are exchanged.
Source: document 003, sections 7.4.1 and 7.4.2. The thesis sends local weights relative to nothing, whose sum needs
    words as long as the largest exponent; here gaps to the hidden maximum are weighed inside the circuit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.events import Event
from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.exchange import Exchange, Talk
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives.crossed_counts import Crossed, count_choosing, count_crossed
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending, ready_to_receive, ready_to_send
from sfumato.collaborate.private.choice_circuit import Choosing
from sfumato.collaborate.private.coin_circuit import flipped
from sfumato.collaborate.private.count_noise import WHOLE, CountNoise, JointCounts
from sfumato.collaborate.private.held_columns import HeldColumns
from sfumato.collaborate.private.hidden_scores import Shape, own_inputs
from sfumato.collaborate.private.pair_search import PairSearch, Ready, get_ready, refuse_unfit
from sfumato.collaborate.releases.told_columns import same_values
from sfumato.ground.errors import SessionError
from sfumato.ground.work import Work
from sfumato.publish.diffgen.class_tables import Candidate
from sfumato.publish.diffgen.noisy_specializer import DiffGen, published
from sfumato.publish.diffgen.number_column import NumberColumn
from sfumato.publish.diffgen.set_column import SetColumn
from sfumato.publish.looking import Mechanisms
from sfumato.publish.looking import choose as choose_alone
from sfumato.publish.noisy_table import NoisyTable

MOST_GROUPS = 2**14
"""No specialization is a candidate that would make more leaf partitions: each costs a word for every person."""

LEAKAGE = Leakage(
    protocol="DiffGen by two parties with different attributes",
    result=(Told(to="everybody", what="the release: specializations, and noisy counts of all groups"),),
    beyond=(
        Told(to="everybody", what="who the common people are, which both must know to begin with"),
        Told(to="everybody", what="whether both parties have the same class of every common person"),
        Told(to="everybody", what="every published count less the noise that it added itself"),
    ),
    withstands="either party alone; what it learns of the other's attributes is differentially private",
    limits="a party that does not follow the protocol: it can choose its own noise or put in other values; the party "
    "with the higher number learns each choice first and may stop then; that somebody is among the common people, and "
    "their class, which both parties know; differential privacy against the other party has the epsilon that the way "
    "of noise says, which for shared noise is larger than the release's",
)


def run_vertical_pair(
    conversation: Conversation,
    asked: DiffGen,
    own: HeldColumns,
    work: Work,
    *,
    noise: CountNoise = WHOLE,
    choosing: Choosing = flipped,
    ready: Ready = get_ready,
    mechanisms: Mechanisms | None = None,
) -> NoisyTable:
    """The release of both parties' columns; each calls this with its own. ``mechanisms`` choose among own candidates.

    Both have the same people in the same order (`releases.common_order`), and the same class of each.
    """
    seat = conversation.seat
    refuse_unfit(asked, own.attributes, len(own.kinds))
    own.refuse_missing(seat.me)
    pair = ready(conversation, choosing)
    conversation.run(same_values(seat, {own.target_name or "": own.kinds}))

    def searching(**given: object) -> VerticalSearch:
        found = VerticalSearch(pair=pair, held=own, **given)  # type: ignore[arg-type]
        found.prices = replace(found.prices, most=min(found.prices.most, MOST_GROUPS))
        return found

    alone = choose_alone if mechanisms is None else mechanisms.choose
    looking = Mechanisms(choose=alone, count=JointCounts(conversation, noise, wraps=True))
    return published(asked, own.table(seat.me), work, looking, searching=searching)


@dataclass(slots=True, kw_only=True)
class VerticalSearch(PairSearch):
    """Scores are one party's own; the leaves are counted together."""

    held: HeldColumns
    """This party's columns."""

    def which(self, candidates: list[Candidate]) -> tuple[int, list[Event]]:
        """The value that is specialized."""
        owners = tuple(self.held.owners[one.column] for one in candidates)
        prices = self.whole_prices(candidates)
        mine = [at for at, owner in enumerate(owners) if owner == self.pair.me]
        scores = [int(self.score.of(self.columns[candidates[at].column].table(candidates[at]))) for at in mine]
        less = [score - prices[at] for at, score in zip(mine, scores, strict=True)]
        if len(set(owners)) == 1:
            return self._alone(owners[0], np.array(less, np.float64), len(candidates), "which value")
        return self.taken(Shape(owners=owners), own_inputs(less), "which value")

    def where(self, column: NumberColumn, value: int, what: str) -> tuple[int, list[Event]]:
        """The point where an interval would be split, which the owner of the column chooses."""
        owner = next(self.held.owners[at] for at, one in enumerate(self.columns) if one is column)
        low, high = column.spans[value]
        return self._alone(owner, self.score.of(column.tables(value)), high - low - 1, what)

    def _alone(self, owner: int, scores: NDArray[np.float64], count: int, what: str) -> tuple[int, list[Event]]:
        """A choice that one party makes by its own scores, and tells."""
        place: int | None = None
        paid: list[Event] = [self.bought(what)]
        if owner == self.pair.me:
            place, paid = self.pick(scores, what)
        return self.pair.conversation.run(told_choice(1 - self.pair.me, place, count)), paid

    def leaf_counts(self) -> NDArray[np.int64]:
        """This party's shares, modulo 2^32, of the people in each leaf partition."""
        me = self.pair.me
        groups = [self._groups(owner) for owner in (0, 1)]
        sizes = [size for _, size in groups]
        chooser = int(sizes[1] >= sizes[0])
        crossed = Crossed(
            chooser=sizes[chooser],
            counter=sizes[1 - chooser],
            kinds=self.held.kinds.astype(np.int64),
            many=len(self.held.classes),
        )
        shares = self._crossed(crossed, self._own_groups(), chooser == me)
        return np.asarray(shares[groups[chooser][0], groups[1 - chooser][0]])

    def _crossed(self, crossed: Crossed, values: NDArray[np.int64], chooses: bool) -> NDArray[np.int64]:
        """The party with more groups chooses, for which transfers may have to go the other way."""
        talk, peer = self.pair.conversation, 1 - self.pair.me
        ready = self.pair.ready
        if chooses:
            receiving = ready if isinstance(ready, Receiving) else talk.run(ready_to_receive(talk.seat, peer))
            return talk.run(count_choosing(receiving, crossed, values))
        sending = ready if isinstance(ready, Sending) else talk.run(ready_to_send(talk.seat, peer))
        return talk.run(count_crossed(sending, crossed, values))

    def _groups(self, owner: int) -> tuple[NDArray[np.int64], int]:
        """For each leaf partition, which combination of one party's labels it has, and how many there are."""
        found, size = np.zeros(self.parts.count, np.int64), 1
        for place in self._places(owner):
            column = self.columns[place]
            assert not isinstance(column, SetColumn)
            cut, label_of = column.cut()
            labels = np.array([label_of[value] for value in self.parts.keys[place].tolist()], np.int64)
            found, size = found * len(cut.labels) + labels, size * len(cut.labels)
        return found, size

    def _own_groups(self) -> NDArray[np.int64]:
        """For each person, which combination of own labels they have."""
        found = np.zeros(len(self.held.kinds), np.int64)
        for place in self._places(self.pair.me):
            column = self.columns[place]
            assert not isinstance(column, SetColumn)
            cut, _ = column.cut()
            found = found * len(cut.labels) + cut.of_code[self.held.codes[place]]
        return found

    def _places(self, owner: int) -> list[int]:
        return [place for place, one in enumerate(self.held.owners) if one == owner]


def told_choice(peer: int, place: int | None, count: int) -> Talk[int]:
    """A place that the party which chose it tells the other."""
    if place is not None:
        yield Exchange(label="choice/told", send={peer: place.to_bytes(8, "little")})
        return place
    came = yield Exchange(label="choice/told", expect={peer: 8})
    found = int.from_bytes(came[peer], "little")
    if found >= count:
        raise SessionError(f"party {peer} chose number {found} of {count} candidates")
    return found
