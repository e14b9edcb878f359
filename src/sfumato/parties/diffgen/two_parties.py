"""DiffGen by two parties on horizontally or vertically partitioned records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.diffgen.columns import Candidate, NumberColumn, SetColumn, Table
from sfumato.algorithms.diffgen.noisy_specializer import DiffGen, published
from sfumato.algorithms.private_table import Attribute, Mechanisms, NoisyTable, PrivateTable
from sfumato.algorithms.private_table import choose as choose_alone
from sfumato.core.errors import DataError, ParameterError, SessionError
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.counts.keys import Ids
from sfumato.counts.sources import Divided, Division, Figure, Groups, Need, Numbers
from sfumato.dp.events import Event
from sfumato.parties.conversation import Conversation, Exchange, Leakage, Talk, Told
from sfumato.parties.diffgen.pair import WHOLE, CountNoise, JointCounts, PairSearch, Ready, get_ready, refuse_unfit
from sfumato.parties.diffgen.selection import Choosing, Shape, flipped, joint_inputs, own_inputs
from sfumato.parties.oblivious_transfer import Receiving, Sending, ready_to_receive, ready_to_send
from sfumato.parties.releases.integrated_rows import same_values
from sfumato.parties.scalar_product import Crossed, count_choosing, count_crossed
from sfumato.tables.table import Codes

# DiffGen by two parties that hold different records with the same attributes (document 003, algorithm 7.4).
#
# Claim: both return the same release, which is epsilon-differentially private for an outsider, neighbours being one
#     record more or less at either party. Against the other party the choices are as private; for counts `count_noise`
#     says what holds. What the parties see of each other beside the release is declared in `LEAKAGE` and nothing else.
# How: each party specializes its own records; values and split points are chosen by `coin_circuit`, as one party
#     chooses, or by `choice_circuit`, as the thesis does, on both parties' counts; each adds noise to its own leaf
#     counts, and the noisy ones are exchanged.
# Source: document 003, sections 7.5.1 to 7.5.3. Scores of all candidates are computed anew in every step, in the
#     circuit that chooses: no share of a score is kept.


HORIZONTAL_LEAKAGE = Leakage(
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
    settings: DiffGen,
    own: PrivateTable,
    work: Work,
    *,
    noise: CountNoise = WHOLE,
    choosing: Choosing = flipped,
    ready: Ready = get_ready,
) -> NoisyTable:
    """The release of both parties' records; each calls this with its own, over the same declared domains."""
    refuse_unfit(settings, own.attributes, own.rows)
    pair = ready(conversation, choosing)

    def searching(**given: object) -> HorizontalSearch:
        return HorizontalSearch(pair=pair, **given)  # type: ignore[arg-type]

    counting = JointCounts(conversation, noise, wraps=False)
    return published(settings, own, work, Mechanisms(count=counting), searching=searching)


@dataclass(slots=True, kw_only=True)
class HorizontalSearch(PairSearch):
    """Every choice is by scores of both parties' counts, which a circuit adds up."""

    def which(self, candidates: list[Candidate]) -> tuple[int, list[Event]]:
        """The value that is specialized."""
        prices = self.whole_prices(candidates) if self.pair.me == 0 else [0] * len(candidates)
        return self._by(
            [self.columns[candidate.column].table(candidate) for candidate in candidates], prices, "which value"
        )

    def where(self, column: NumberColumn, value: int, what: str) -> tuple[int, list[Event]]:
        """The point where an interval would be split."""
        tables = list(column.tables(value))
        return self._by(tables, [0] * len(tables), what)

    def _by(self, tables: list[Table], prices: list[int], what: str) -> tuple[int, list[Event]]:
        classes = tables[0].shape[1]
        shape = Shape(children=tuple(map(len, tables)), classes=classes)
        return self.taken(shape, joint_inputs([np.asarray(table) for table in tables], prices), what)


# One party's columns of the common people, and what is declared of the other's: a source that never counts pairs.
#
# A search is told a party's own counts and zeros for the other's columns. Leaf partitions are named but not followed:
# whose row is in which of them nobody knows; their counts come from `crossed_counts` in the end.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class HeldColumns(Brief):
    """What one of two parties has about people whom both have, in the same order at both."""

    attributes: tuple[Attribute, ...]
    """The predictors of both parties: declared."""
    owners: tuple[int, ...]
    """For each of them, whose it is: the party's number."""
    codes: Mapping[int, Codes]
    """By its place, the values of each of this party's own: private."""
    classes: tuple[str, ...]
    """The declared values of the class; one value where there is no class."""
    kinds: Codes
    """The class of every person, which both parties know."""
    target_name: str | None = None
    """The class column."""

    def __post_init__(self) -> None:
        if len(self.owners) != len(self.attributes) or any(owner not in (0, 1) for owner in self.owners):
            raise ParameterError("owners must say of each attribute whether party 0 or party 1 has it")
        for place, codes in self.codes.items():
            if len(codes) != len(self.kinds):
                name = self.attributes[place].name
                raise DataError(f"column {name!r} has {len(codes):,} values of {len(self.kinds):,} common people")

    def refuse_missing(self, me: int) -> None:
        """Refuse columns that this party should hold and does not, or the other way round."""
        mine = {place for place, owner in enumerate(self.owners) if owner == me}
        for place in sorted(mine ^ set(self.codes)):
            problem = "is missing" if place in mine else "is the other party's"
            raise ParameterError(
                f"column {self.attributes[place].name!r} {problem}; party {me} has its own and no others"
            )

    def table(self, me: int) -> PrivateTable:
        """The same as a search sees it."""
        return PrivateTable(
            attributes=self.attributes, classes=self.classes, counts=_Held(self, me), target_name=self.target_name
        )


class _Held:
    """A source of one party's own counts."""

    gives: ClassVar[frozenset[Need]] = frozenset({"integers"})
    """Whole numbers."""

    def __init__(self, held: HeldColumns, me: int) -> None:
        self._held, self._me = held, me

    def root(self, figures: Sequence[Figure]) -> _NamedCuts:
        """A walk that follows nobody; the figures are the classes."""
        return _NamedCuts(self._held, self._me)


class _NamedCuts:
    """Counts of whole columns; partitions are named only."""

    def __init__(self, held: HeldColumns, me: int) -> None:
        self._held, self._me, self._classes = held, me, len(held.classes)

    def total(self) -> Numbers:
        """This party's share of the people of each class: both know them, so one has them and the other none."""
        counts = np.bincount(self._held.kinds, minlength=self._classes)
        return counts if self._me == 0 else np.zeros_like(counts)

    def histogram(self, division: Division, groups: Groups | None = None) -> Numbers:
        """One x children x classes: of own columns; zeros of the other's."""
        counts = np.zeros((1, division.children, self._classes), np.int64)
        codes = self._held.codes.get(division.column)
        if codes is not None:
            np.add.at(counts[0], (division.child_of[codes], self._held.kinds), 1)
        return counts

    def refine(self, division: Division) -> Divided:
        """Nothing is followed, so no part has anybody."""
        none = np.empty(0, np.int64)
        return Divided(division=division, owner=none, child=none, counts=np.zeros((0, self._classes), np.int64))

    def apply(self, divided: Divided, places: Ids) -> None:
        """Nothing is followed."""


# DiffGen by two parties that hold different attributes of the same people (document 003, algorithm 7.1).
#
# Claim: both return the same release, which is epsilon-differentially private for an outsider, neighbours being one
#     person more or less. Against the other party a choice among both parties' candidates costs its epsilon; for counts
#     `count_noise` says what holds. Which people are common, their number and their classes both know beforehand:
#     the promise against the other party is about everything else.
# How: a party scores its own candidates and chooses the split points of its own numbers by itself, which costs the same
#     and needs no circuit; which value is specialized is chosen by `coin_circuit` (or, as in the thesis, by
#     `choice_circuit`) from both parties' scores. Leaf
#     counts come out of `crossed_counts` as shares; each party adds noise to its share, and noisy shares are exchanged.
# Source: document 003, sections 7.4.1 and 7.4.2. The thesis sends local weights relative to nothing, whose sum needs
#     words as long as the largest exponent; here gaps to the hidden maximum are weighed inside the circuit.


MOST_GROUPS = 2**14
"""No specialization is a candidate that would make more leaf partitions: each costs a word for every person."""

VERTICAL_LEAKAGE = Leakage(
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
    settings: DiffGen,
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
    refuse_unfit(settings, own.attributes, len(own.kinds))
    own.refuse_missing(seat.me)
    pair = ready(conversation, choosing)
    conversation.run(same_values(seat, {own.target_name or "": own.kinds}))

    def searching(**given: object) -> VerticalSearch:
        search = VerticalSearch(pair=pair, held=own, **given)  # type: ignore[arg-type]
        search.prices = replace(search.prices, most=min(search.prices.most, MOST_GROUPS))
        return search

    alone = choose_alone if mechanisms is None else mechanisms.choose
    looking = Mechanisms(choose=alone, count=JointCounts(conversation, noise, wraps=True))
    return published(settings, own.table(seat.me), work, looking, searching=searching)


@dataclass(slots=True, kw_only=True)
class VerticalSearch(PairSearch):
    """Scores are one party's own; the leaves are counted together."""

    held: HeldColumns
    """This party's columns."""

    def which(self, candidates: list[Candidate]) -> tuple[int, list[Event]]:
        """The value that is specialized."""
        owners = tuple(self.held.owners[candidate.column] for candidate in candidates)
        prices = self.whole_prices(candidates)
        mine = [at for at, owner in enumerate(owners) if owner == self.pair.me]
        scores = [int(self.score.of(self.columns[candidates[at].column].table(candidates[at]))) for at in mine]
        less = [score - prices[at] for at, score in zip(mine, scores, strict=True)]
        if len(set(owners)) == 1:
            return self._alone(owners[0], np.array(less, np.float64), len(candidates), "which value")
        return self.taken(Shape(owners=owners), own_inputs(less), "which value")

    def where(self, column: NumberColumn, value: int, what: str) -> tuple[int, list[Event]]:
        """The point where an interval would be split, which the owner of the column chooses."""
        owner = next(self.held.owners[at] for at, candidate in enumerate(self.columns) if candidate is column)
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
        groups, size = np.zeros(self.parts.count, np.int64), 1
        for place in self._places(owner):
            column = self.columns[place]
            assert not isinstance(column, SetColumn)
            cut, label_of = column.cut()
            labels = np.array([label_of[value] for value in self.parts.keys[place].tolist()], np.int64)
            groups, size = groups * len(cut.labels) + labels, size * len(cut.labels)
        return groups, size

    def _own_groups(self) -> NDArray[np.int64]:
        """For each person, which combination of own labels they have."""
        groups = np.zeros(len(self.held.kinds), np.int64)
        for place in self._places(self.pair.me):
            column = self.columns[place]
            assert not isinstance(column, SetColumn)
            cut, _ = column.cut()
            groups = groups * len(cut.labels) + cut.of_code[self.held.codes[place]]
        return groups

    def _places(self, owner: int) -> list[int]:
        return [place for place, holder in enumerate(self.held.owners) if holder == owner]


def told_choice(peer: int, place: int | None, count: int) -> Talk[int]:
    """A place that the party which chose it tells the other."""
    if place is not None:
        yield Exchange(label="choice/told", send={peer: place.to_bytes(8, "little")})
        return place
    came = yield Exchange(label="choice/told", expect={peer: 8})
    index = int.from_bytes(came[peer], "little")
    if index >= count:
        raise SessionError(f"party {peer} chose number {index} of {count} candidates")
    return index
