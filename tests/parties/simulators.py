"""For every message of every protocol: what its receiver may learn from it, and a simulator that knows nothing else.

A `Form` has two functions. ``declared`` takes a step of a real run and gives the value that the receiver is meant to
learn from it: a sum, the positions of common identifiers, the outputs of a circuit, or None. ``simulate`` makes the
message from that value and the receiver's own state (its input and its coins), and from nothing else.

`simulated_view` runs a party's own program with fresh coins against these simulators alone: there is no other party.
So the complete view of the party, with its own coins, follows from its input and the declared values. Whether declared
values in their turn follow from the result and the declared leakage is asked by running the others with other inputs.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from sfumato.core import randomness
from sfumato.parties import oblivious_transfer, set_intersection
from sfumato.parties.circuits import packed, unpacked
from sfumato.parties.conversation import MAX_RECORDS, Exchange, Meter, Seat, Talk
from sfumato.parties.garbled_circuits import colours, opened
from sfumato.parties.mining import graded
from sfumato.parties.oblivious_polynomial import PrivateKey, drawn_below
from sfumato.parties.oblivious_transfer import FixedKeyHash, _pads, _tweaks
from sfumato.parties.ristretto import POINT, embedded, inverse, random_point, read_texts, split, times
from sfumato.parties.set_intersection import HASHES, TAG, _tag, matched
from sfumato.parties.simulation import ThreadConversation, in_threads
from tests.parties.ready import Repeatable

Program = Callable[[Any], Any]
"""One party's side: from its conversation to its result."""
COINS = "own coins"
fresh = os.urandom
"""The simulators' own randomness, which is not a party's."""


@dataclass(slots=True)
class Step:
    """One step of a talk as its party sees it, with the variables of the innermost talk."""

    own: Mapping[str, Any]
    """The party's own state: variables of the talk."""
    step: Exchange
    """What it sends and awaits."""
    state: dict[Any, Any] = field(default_factory=dict)
    """What simulators remember in one run."""

    @property
    def lengths(self) -> Mapping[int, int]:
        return self.step.expect


Messages = dict[int, bytes]


@dataclass(frozen=True)
class Form:
    """What a message tells, and how it is made from that."""

    declared: Callable[[Step, Mapping[int, bytes]], Any]
    simulate: Callable[[Step, Any], Messages]
    seen: Callable[[Step, Mapping[int, bytes]], bytes] | None = None
    """What else its receiver can compute from it with its own state, such as an order: compared as a message is."""


def each(make: Callable[[int], bytes]) -> Form:
    """Messages that tell nothing: each is drawn by its length alone."""
    return Form(
        declared=lambda at, came: None,
        simulate=lambda at, _: {peer: make(length) for peer, length in at.lengths.items()},
    )


def points(length: int) -> bytes:
    return b"".join(random_point(fresh) for _ in range(length // POINT))


def shuffled(items: Sequence[Any]) -> list[Any]:
    keys = np.frombuffer(fresh(8 * len(items)), np.uint64)
    return [items[at] for at in np.argsort(keys).tolist()]


UNIFORM, POINTS = each(fresh), each(points)
KEYS = each(lambda _: X25519PrivateKey.from_private_bytes(fresh(32)).public_key().public_bytes_raw())
PLAIN = Form(declared=lambda at, came: dict(came), simulate=lambda at, told: dict(told))
"""Messages that are declared to be told as they are."""


def words(content: bytes) -> np.ndarray:
    return np.frombuffer(content, "<u8")


def added(own: Callable[[Step], bytes]) -> Form:
    """Words of which only the total with one's own is told: all but the last are uniform."""

    def declared(at: Step, came: Mapping[int, bytes]) -> bytes:
        return sum(map(words, came.values()), words(own(at))).tobytes()

    def simulate(at: Step, total: bytes) -> Messages:
        *most, last = at.lengths
        drawn = {peer: fresh(at.lengths[peer]) for peer in most}
        rest = words(total) - sum(map(words, drawn.values()), words(own(at)))
        return {**drawn, last: rest.tobytes()}

    return Form(declared=declared, simulate=simulate)


def sent(at: Step) -> bytes:
    return next(iter(at.step.send.values()))


# Bits, of which the last byte is filled up with zeros


def bit_count(at: Step) -> int:
    return at.own["count"] if "count" in at.own else len(at.own["shares"])


def random_bits(count: int) -> bytes:
    return packed(unpacked(fresh(-(-count // 8)), count)).tobytes()


BITS = Form(
    declared=lambda at, came: None,
    simulate=lambda at, _: {peer: random_bits(bit_count(at)) for peer in at.lengths},
)


def output_declared(at: Step, came: Mapping[int, bytes]) -> list[int]:
    total = np.frombuffer(sent(at), np.uint8)
    for content in came.values():
        total = total ^ np.frombuffer(content, np.uint8)
    return unpacked(total, bit_count(at)).tolist()


def output_simulate(at: Step, outputs: list[int]) -> Messages:
    """Shares that are uniform but for their total, which is the circuit's output."""
    *most, last = at.lengths
    drawn = {peer: random_bits(bit_count(at)) for peer in most}
    rest = packed(np.array(outputs, np.uint8)) ^ np.frombuffer(sent(at), np.uint8)
    for content in drawn.values():
        rest = rest ^ np.frombuffer(content, np.uint8)
    return {**drawn, last: rest.tobytes()}


# Transfers of chosen messages: the chosen one is told, the others stay masked


def chosen_pads(at: Step) -> np.ndarray:
    own = at.own
    return own["ready"].hash.wide(own["blocks"], _tweaks(own["first"], own["count"]), own["length"])


def chosen_declared(at: Step, came: Mapping[int, bytes]) -> Any:
    own = at.own
    masked = np.frombuffer(next(iter(came.values())), np.uint8).reshape(2, own["count"], own["length"])
    return chosen_pads(at) ^ masked[own["chosen"], np.arange(own["count"])]


def chosen_simulate(at: Step, messages: Any) -> Messages:
    own, ((peer, length),) = at.own, at.lengths.items()
    masked = np.frombuffer(fresh(length), np.uint8).reshape(2, own["count"], own["length"]).copy()
    masked[own["chosen"], np.arange(own["count"])] = chosen_pads(at) ^ messages
    return {peer: masked.tobytes()}


def many_pads(at: Step) -> np.ndarray:
    own = at.own
    hashed = FixedKeyHash(own["ready"].seat.session, "one of many")
    pads = []
    for at_, index in enumerate(own["chosen"].tolist()):
        keys = own["keys"][at_ * own["digits"] : (at_ + 1) * own["digits"]]
        pads.append(_pads(hashed, np.stack([keys, keys]), np.array([index]), own["length"])[0])
    return np.array(pads, np.uint8)


def many_masked(at: Step, content: bytes) -> np.ndarray:
    own = at.own
    return np.frombuffer(content, np.uint8).reshape(len(own["chosen"]), own["count"], own["length"]).copy()


def many_declared(at: Step, came: Mapping[int, bytes]) -> Any:
    masked = many_masked(at, next(iter(came.values())))
    return many_pads(at) ^ masked[np.arange(len(masked)), at.own["chosen"]]


def many_simulate(at: Step, messages: Any) -> Messages:
    ((peer, length),) = at.lengths.items()
    masked = many_masked(at, fresh(length))
    masked[np.arange(len(masked)), at.own["chosen"]] = many_pads(at) ^ messages
    return {peer: masked.tobytes()}


# Sums along a ring: the first party sees the total under its own mask, others a uniform one


def ring_declared(at: Step, came: Mapping[int, bytes]) -> Any:
    if at.own["seat"].me:
        return None
    return (words(next(iter(came.values()))) - at.own["mask"]).tobytes()


def ring_simulate(at: Step, total: Any) -> Messages:
    ((peer, length),) = at.lengths.items()
    return {peer: fresh(length) if total is None else (words(total) + at.own["mask"]).tobytes()}


# Circuits


def garbled_parts(at: Step, content: bytes) -> tuple[np.ndarray, bytes]:
    """The labels that the evaluator computes from the message, and the end of the message that decodes outputs."""
    ends, circuit = at.own["ends"], at.own["circuit"]
    active, tables = (
        np.frombuffer(part, np.uint64).reshape(-1, 2) for part in (content[: ends[0]], content[ends[0] : ends[1]])
    )
    labels = opened(circuit, at.own["hashed"], np.concatenate([active, at.own["own"]]), tables)
    return colours(labels[circuit.evaluator_outputs]), content[ends[1] :]


def garbled_declared(at: Step, came: Mapping[int, bytes]) -> Any:
    shown, end = garbled_parts(at, next(iter(came.values())))
    return (shown ^ unpacked(end, len(shown))).tolist()


def garbled_simulate(at: Step, outputs: Any) -> Messages:
    """Random labels and tables; the end decodes to the outputs (Lindell and Pinkas 2009, section 4)."""
    ((peer, length),) = at.lengths.items()
    start = fresh(at.own["ends"][1])
    shown, _ = garbled_parts(at, start + bytes(length - len(start)))
    return {peer: start + packed(shown ^ np.array(outputs, np.uint8)).tobytes()}


def colours_of(at: Step) -> np.ndarray:
    return colours(at.own["labels"][at.own["circuit"].garbler_outputs])


def back_declared(at: Step, came: Mapping[int, bytes]) -> Any:
    known = colours_of(at)
    return (unpacked(next(iter(came.values())), len(known)) ^ known).tolist()


def back_simulate(at: Step, outputs: Any) -> Messages:
    ((peer, _),) = at.lengths.items()
    return {peer: packed(colours_of(at) ^ np.array(outputs, np.uint8)).tobytes()}


# Intersections


def values_hits(at: Step, came: Mapping[int, bytes]) -> tuple[np.ndarray, ...]:
    """Own bins in which the receiver finds a value, and the rows where it does."""
    own = at.own
    rows = np.frombuffer(next(iter(came.values())), np.uint8).reshape(own["theirs"], HASHES, own["length"])
    size, bins, hits = len(own["table"]) // HASHES, [], []
    for function in range(HASHES):
        some = function * size + np.flatnonzero(own["full"][function * size : (function + 1) * size])
        row = matched(own["values"][some], rows[:, function])
        bins.append(some[row >= 0])
        hits.append(row[row >= 0])
    return np.concatenate(bins), np.concatenate(hits)


def values_declared(at: Step, came: Mapping[int, bytes]) -> Any:
    bins, _ = values_hits(at, came)
    return sorted(at.own["table"][bins].tolist())


def values_simulate(at: Step, positions: Any) -> Messages:
    """Random values, and in random rows those of common identifiers, for the function where the receiver has them."""
    own, ((peer, length),) = at.own, at.lengths.items()
    rows = np.frombuffer(fresh(length), np.uint8).reshape(own["theirs"], HASHES, own["length"]).copy()
    size = len(own["table"]) // HASHES
    bins = np.flatnonzero(np.isin(own["table"], positions))
    for row, place in zip(shuffled(range(own["theirs"])), bins.tolist(), strict=False):
        rows[row, place // size] = own["values"][place]
    return {peer: rows.tobytes()}


def common_declared(at: Step, came: Mapping[int, bytes]) -> Any:
    order = np.array(at.own["order"])
    return np.sort(order[unpacked(next(iter(came.values())), len(order)).astype(bool)]).tolist()


def common_simulate(at: Step, positions: Any) -> Messages:
    ((peer, _),) = at.lengths.items()
    return {peer: packed(np.isin(np.array(at.own["order"]), positions)).tobytes()}


def rows_seen(at: Step, came: Mapping[int, bytes]) -> bytes:
    """In which row each common identifier is, in the order of the receiver's list."""
    bins, rows = values_hits(at, came)
    return rows[np.argsort(at.own["table"][bins])].astype(np.uint8).tobytes()


def twice_declared(at: Step, came: Mapping[int, bytes]) -> Any:
    content, count = next(iter(came.values())), len(at.own["items"])
    tags = {_tag(times(at.own["secret"], point)) for point in split(content[TAG * count :])}
    return [place for place in range(count) if content[TAG * place : TAG * (place + 1)] in tags]


def twice_simulate(at: Step, positions: Any) -> Messages:
    ((peer, _),) = at.lengths.items()
    drawn = [random_point(fresh) for _ in range(at.own["theirs"])]
    tags = [fresh(TAG) for _ in at.own["items"]]
    for place, point in zip(positions, shuffled(drawn), strict=False):
        tags[place] = _tag(times(at.own["secret"], point))
    return {peer: b"".join([*tags, *sorted(drawn)])}


# Unions


def gather_declared(at: Step, came: Mapping[int, bytes]) -> Any:
    """To the first party: of each set of lists, how many points they have in common."""
    lists = {at.own["seat"].me: at.own["held"], **{peer: split(content) for peer, content in came.items()}}
    holders: dict[bytes, frozenset[int]] = {}
    for owner, some in lists.items():
        for point in some:
            holders[point] = holders.get(point, frozenset()) | {owner}
    return Counter(holders.values())


def gather_simulate(at: Step, overlaps: Any) -> Messages:
    me = at.own["seat"].me
    lists: dict[int, list[bytes]] = {peer: [] for peer in at.lengths}
    mine = shuffled(at.own["held"])
    for holders, count in overlaps.items():
        for _ in range(count):
            point = mine.pop() if me in holders else random_point(fresh)
            for holder in holders - {me}:
                lists[holder].append(point)
    return {peer: b"".join(shuffled(some)) for peer, some in lists.items()}


def told_points(some: Sequence[bytes]) -> Any:
    """The texts of a union, and how many points are none."""
    texts = read_texts(some)
    return texts, len(some) - sum(len(embedded(text)) for text in texts)


def points_of(told: Any) -> list[bytes]:
    texts, fakes = told
    return shuffled([point for text in texts for point in embedded(text)] + [random_point(fresh) for _ in range(fakes)])


def open_declared(at: Step, came: Mapping[int, bytes]) -> Any:
    """The last party takes the last scalar away and reads the union; to others the points tell nothing."""
    seat = at.own["seat"]
    if seat.me != seat.count - 1:
        return None
    back = inverse(at.own["scalar"])
    return told_points([times(back, point) for point in split(next(iter(came.values())))])


def open_simulate(at: Step, told: Any) -> Messages:
    ((peer, length),) = at.lengths.items()
    some = [times(at.own["scalar"], point) for point in points_of(told)] if told else split(points(length))
    return {peer: b"".join(some)}


def order_seen(at: Step, came: Mapping[int, bytes]) -> bytes:
    """Where the pieces of the union's texts are among the points."""
    some = split(next(iter(came.values())))
    return bytes(some.index(point) for text in read_texts(some) for point in embedded(text))


UNION_TOLD = Form(
    declared=lambda at, came: told_points(split(next(iter(came.values())))),
    simulate=lambda at, told: dict.fromkeys(at.lengths, b"".join(points_of(told))),
    seen=order_seen,
)


# Opened counts: the other party's own, or shares modulo 2^32 of which only the total is told


def opened_declared(at: Step, came: Mapping[int, bytes]) -> list[int]:
    own, other = (np.frombuffer(part, "<i8") for part in (sent(at), next(iter(came.values()))))
    return (own + other).astype(np.int32).tolist()


def opened_simulate(at: Step, total: list[int]) -> Messages:
    ((peer, _),) = at.lengths.items()
    rest = np.array(total, np.int64) - np.frombuffer(sent(at), "<i8")
    return {peer: rest.astype(np.int32).astype("<i8").tobytes()}


# Other


def bound_simulate(at: Step, _: Any) -> Messages:
    shares = at.state["shares"] = {peer: fresh(32) for peer in at.lengths}
    return {peer: graded._digest(at.own["seat"], peer, share) for peer, share in shares.items()}


def powers_simulate(at: Step, _: Any) -> Messages:
    """A fresh key, and encryptions of 0 under it."""
    ((peer, length),) = at.lengths.items()
    public = PrivateKey.new().public
    count = length // public.number_length // 2
    zeros = [public.written(public.encrypt(0)) for _ in range(count)]
    return {peer: public.n.to_bytes(public.number_length, "big") + b"".join(zeros)}


def value_simulate(at: Step, _: Any) -> Messages:
    """A share is uniform: an encryption of a uniform number under one's own key."""
    ((peer, _length),) = at.lengths.items()
    public = at.own["public"]
    return {peer: public.written(public.encrypt(drawn_below(public.n)))}


def nothing(at: Step, came: Mapping[int, bytes]) -> None:
    return None


FORMS: dict[str, Form] = {
    "keys/public": KEYS,
    "sum/masked": added(sent),
    "sum/part": added(lambda at: at.own["mine"].tobytes()),
    "sum/whole": PLAIN,
    "ring/add": Form(declared=ring_declared, simulate=ring_simulate),
    "ring/sum": PLAIN,
    "union/size": PLAIN,
    "union/encrypt": POINTS,
    "union/gather": Form(declared=gather_declared, simulate=gather_simulate),
    "union/count": PLAIN,
    "union/open": Form(declared=open_declared, simulate=open_simulate),
    "union/told": UNION_TOLD,
    "transfer/base": POINTS,
    "transfer/extension": UNIFORM,
    "transfer/chosen": Form(declared=chosen_declared, simulate=chosen_simulate),
    "transfer/correlated": UNIFORM,
    "transfer/offset": UNIFORM,
    "transfer/bits": BITS,
    "transfer/many": Form(declared=many_declared, simulate=many_simulate),
    "crossed/sums": UNIFORM,
    "circuit/garbled": Form(declared=garbled_declared, simulate=garbled_simulate),
    "circuit/colours": Form(declared=back_declared, simulate=back_simulate),
    "shares/seeds": UNIFORM,
    "shares/layer": BITS,
    "shares/output": Form(declared=output_declared, simulate=output_simulate),
    "products/shares": added(sent),
    "function/code": UNIFORM,
    "intersection/sizes": PLAIN,
    "intersection/values": Form(declared=values_declared, simulate=values_simulate, seen=rows_seen),
    "intersection/common": Form(declared=common_declared, simulate=common_simulate),
    "intersection/points": POINTS,
    "intersection/twice": Form(declared=twice_declared, simulate=twice_simulate),
    "polynomial/powers": Form(declared=nothing, simulate=powers_simulate),
    "polynomial/value": Form(declared=nothing, simulate=value_simulate),
    "graded/bound": Form(declared=nothing, simulate=bound_simulate),
    "graded/share": Form(declared=nothing, simulate=lambda at, _: at.state["shares"]),
    "told/length": PLAIN,
    "told/content": PLAIN,
    "counts/opened": Form(declared=opened_declared, simulate=opened_simulate),
    "choice/told": PLAIN,
    "column/told": PLAIN,
    "rows/many": PLAIN,
    "rows/counted": PLAIN,
    "instruction/head": PLAIN,
    "instruction/rows": PLAIN,
}


def form_of(label: str) -> Form:
    """The form of a label; numbers behind a blank are rounds."""
    return FORMS[label.split(" ", maxsplit=1)[0]]


# Running


def innermost(talk: Talk[Any], step: Exchange) -> Iterator[tuple[Mapping[str, Any], Exchange]]:
    """The variables of the talk that yielded a step; of talks side by side, of each with its part of the step."""
    while talk.gi_yieldfrom is not None:  # type: ignore[attr-defined]
        talk = talk.gi_yieldfrom  # type: ignore[attr-defined]
    own = dict(talk.gi_frame.f_locals)  # type: ignore[attr-defined]
    if isinstance(own.get("talk"), Generator):  # a twin that changes the messages of another talk
        yield from innermost(own["talk"], step)
        return
    if talk.gi_code.co_name != "side_by_side":  # type: ignore[attr-defined]
        yield own, step
        return
    for peer, part in own["steps"].items():
        yield from innermost(own["talks"][peer], part)


class Observed:
    """A conversation in which a party's declared values are noted."""

    def __init__(self, inner: ThreadConversation) -> None:
        self.inner, self.declared, self.view = inner, [], {}
        self.seat, self.meter, self.max_records = inner.seat, inner.meter, inner.max_records

    def run(self, talk: Talk[Any]) -> Any:
        answer: Any = None
        while True:
            try:
                step = talk.send(answer)
            except StopIteration as over:
                return over.value
            answer = self.inner._exchanged(step)
            note(self.view, step.label, answer)
            for own, part in innermost(talk, step) if step.expect else ():
                if part.expect:
                    came, form = {peer: answer[peer] for peer in part.expect}, form_of(step.label)
                    self.declared.append((step.label, form.declared(Step(own, part), came)))
                    seen(self.view, form, Step(own, part), came)


class Alone:
    """A conversation without other parties: every message is simulated."""

    def __init__(self, seat: Seat, declared: Sequence[tuple[str, Any]], coins: Coins) -> None:
        self.seat, self.meter, self.coins, self.state, self.view = seat, Meter(), coins, {}, {}
        self.rest, self.max_records = iter(declared), MAX_RECORDS

    def run(self, talk: Talk[Any]) -> Any:
        answer: Any = None
        while True:
            try:
                step = talk.send(answer)
            except StopIteration as over:
                return over.value
            answer, own_coins = {}, len(self.coins.drawn)
            for own, part in innermost(talk, step) if step.expect else ():
                if part.expect:
                    label, value = next(self.rest)
                    assert label == step.label, f"{label} was declared, and {step.label} is awaited"
                    came = form_of(label).simulate(Step(own, part, self.state), value)
                    seen(self.view, form_of(label), Step(own, part), came)
                    answer |= came
            del self.coins.drawn[own_coins:]  # those of the simulators are not the party's
            assert {peer: len(content) for peer, content in answer.items()} == dict(step.expect), step.label
            note(self.view, step.label, answer)


View = dict[str, list[bytes]]


def note(view: View, label: str, came: Mapping[int, bytes]) -> None:
    for peer, content in came.items():
        view.setdefault(f"{label} from {peer}", []).append(bytes(content))


def seen(view: View, form: Form, at: Step, came: Mapping[int, bytes]) -> None:
    if form.seen is not None:
        view.setdefault(f"{at.step.label} as computed", []).append(form.seen(at, came))


class Coins(threading.local):
    """Notes what each thread, and so each party, draws."""

    def __init__(self) -> None:
        self.drawn: list[bytes] = []

    def urandom(self, length: int) -> bytes:
        self.drawn.append(fresh(length))
        return self.drawn[-1]


@contextmanager
def noted_coins() -> Iterator[Coins]:
    coins, before = Coins(), randomness.os
    randomness.os = SimpleNamespace(urandom=coins.urandom)  # type: ignore[assignment]
    try:
        yield coins
    finally:
        randomness.os = before


class Dealer:
    """Keys of base transfers for both sides of one run, in place of hundreds of points; base transfers have their own
    case."""

    def __init__(self) -> None:
        self.seed, self.turn = fresh(32), threading.local()

    def keys(self, pair: tuple[int, int], count: int) -> list[tuple[bytes, bytes]]:
        turns = self.turn.__dict__
        turns[pair] = turns.get(pair, 0) + 1
        deal = Repeatable(self.seed + bytes([*pair, turns[pair]]))
        return [(deal(16), deal(16)) for _ in range(count)]

    def send(self, seat: Seat, peer: int, count: int, *, draw: Any = None) -> Any:
        yield from ()
        return self.keys((seat.me, peer), count)

    def receive(self, seat: Seat, peer: int, choices: Any, *, draw: Any = None) -> Any:
        yield from ()
        pairs = self.keys((peer, seat.me), len(choices))
        return [pair[choice] for pair, choice in zip(pairs, choices, strict=True)]


@contextmanager
def dealt(dealer: Dealer | None) -> Iterator[None]:
    modules = (set_intersection, oblivious_transfer)
    before = [(one, one.send_base, one.receive_base) for one in modules]
    if dealer is not None:
        for one in modules:
            one.send_base, one.receive_base = dealer.send, dealer.receive  # type: ignore[assignment]
    try:
        yield
    finally:
        for one, send, receive in before:
            one.send_base, one.receive_base = send, receive


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one party saw, drew and may know of one real run."""

    seat: Seat
    view: View
    declared: list[tuple[str, Any]]
    result: Any


def real_runs(programs: Sequence[Program], *, session: bytes | None = None, deal: bool = True) -> list[Run]:
    """One real run of all parties."""
    observed: dict[int, Observed] = {}
    drawn: dict[int, list[bytes]] = {}
    with noted_coins() as coins, dealt(Dealer() if deal else None):

        def program(me: int) -> Program:
            def takes_part(talk: ThreadConversation) -> Any:
                coins.drawn = drawn[me] = []
                observed[me] = Observed(talk)
                return programs[me](observed[me])

            return takes_part

        results = in_threads([program(me) for me in range(len(programs))], session=session)
    return [
        Run(
            seat=observed[me].seat,
            view={**observed[me].view, COINS: drawn[me]},
            declared=observed[me].declared,
            result=results[me],
        )
        for me in range(len(programs))
    ]


def simulated_view(
    program: Program, seat: Seat, declared: Sequence[tuple[str, Any]], *, deal: bool = True
) -> tuple[View, Any]:
    """What a party sees where every message is simulated from the declared values, and its result."""
    with noted_coins() as coins, dealt(Dealer() if deal else None):
        coins.drawn = []
        alone = Alone(seat, declared, coins)
        result = program(alone)
        assert next(alone.rest, None) is None, "the party awaited fewer messages than were declared"
    return {**alone.view, COINS: list(coins.drawn)}, result
