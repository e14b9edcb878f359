"""One party of every protocol puts in numbers or bytes that no honest party has: the others are never left with a
traceback, never reserve memory for what it claims, and say of whom the fault must be."""

from __future__ import annotations

import json
import resource
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import numpy as np
import pytest

from sfumato.core.errors import DataError, SessionError, SfumatoError
from sfumato.parties.common_people import exchange_json
from sfumato.parties.conversation import Exchange, Talk
from sfumato.parties.protocols import trusted
from sfumato.parties.simulation import ThreadConversation, in_threads
from sfumato.parties.summed_counts import SummedNumbers
from sfumato.pipeline.methods.joint import written
from tests.parties.simulators import Dealer, dealt
from tests.parties.test_simulated_views import PROTOCOLS, Case
from tests.weights import thorough

MEMORY = 2**18
"""Kilobytes by which the process may grow at most: 256 MB."""
SHIFTS = (3 * 10**8, 10**15, -(10**6), -(2**62) - 5)
Change = Callable[[str, bytes], bytes]
KINDS = {
    "sum/masked": "<u8",
    "sum/part": "<u8",
    "sum/whole": "<u8",
    "counts/opened": "<i8",
    "products/shares": "<u8",
    "transfer/correlated": "<u8",
    "crossed/sums": "<u4",
    "rows/counted": "<i4",
    "column/told": "<i4",
    "choice/told": "<u8",
}
"""Messages that are numbers, and how they are written."""


class Hostile:
    """A party that follows the protocol, but for what it sends."""

    def __init__(self, inner: ThreadConversation, change: Change, say: Callable[[Any], Any] = lambda one: one) -> None:
        self.inner, self.change, self.say = inner, change, say
        self.seat, self.meter, self.max_records = inner.seat, inner.meter, inner.max_records

    def run(self, talk: Talk[Any]) -> Any:
        if talk.gi_code.co_name == "exchange_json":  # type: ignore[attr-defined]
            own = talk.gi_frame.f_locals  # type: ignore[attr-defined]
            talk = exchange_json(own["peer"], self.say(own["content"]))
        answer: Any = None
        while True:
            try:
                step = talk.send(answer)
            except StopIteration as over:
                return over.value
            send = {peer: self.change(step.label, bytes(content)) for peer, content in step.send.items()}
            answer = self.inner._exchanged(Exchange(label=step.label, send=send, expect=step.expect))


def outcomes(
    case: Case, villain: int, change: Change, say: Callable[[Any], Any] = lambda one: one, seconds: float = 20
) -> list[Any]:
    """What each honest party ends with: a text of its result, or what it raises."""
    programs, found = case.sides(case.inputs), {}

    def program(me: int) -> Any:
        def honest(talk: ThreadConversation) -> None:
            try:
                result = trusted(talk, lambda: programs[me](talk))
                found[me] = "" if result is None else trusted(talk, lambda: written(result.document))
            except BaseException as error:
                found[me] = error
                raise

        return lambda talk: programs[me](Hostile(talk, change, say)) if me == villain else honest(talk)

    with dealt(Dealer()), suppress(Exception):  # of the hostile party; those of honest ones are noted
        in_threads([program(me) for me in range(len(programs))], seconds=seconds)
    assert len(found) == len(programs) - 1, "an honest party neither ended nor failed"
    for one in found.values():
        assert isinstance(one, str | SfumatoError), f"a traceback: {one!r}"
    return list(found.values())


def shifting(shift: int) -> Change:
    def change(label: str, content: bytes) -> bytes:
        kind = KINDS.get(label)
        if kind is None:
            return content
        numbers = np.frombuffer(content, kind).astype(np.uint64) + np.uint64(shift % 2**64)
        return numbers.astype(kind).tobytes()

    return change


def shifted(content: Any, shift: int) -> Any:
    """Every number of a JSON document moved."""
    if isinstance(content, dict):
        return {key: shifted(value, shift) for key, value in content.items()}
    if isinstance(content, list):
        return [shifted(value, shift) for value in content]
    return content + shift if isinstance(content, int) else content


NAMES = [pytest.param(name, marks=pytest.mark.slow if case.slow else ()) for name, case in PROTOCOLS.items()]
TOLD = ("graded", "vertical-release", "vertical-release, a shared class", "vertical-release, three parties")
"""Protocols that send no number of records from the last party: their messages are changed byte by byte only."""
HIDDEN = ("vertical-private-release", "vertical-private-release, one party chooses")
"""Here shares of counts move modulo 2^32; a move that no count shows cannot be told from noise."""


@pytest.fixture(autouse=True)
def unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judging a release sends nothing."""
    from sfumato.pipeline.joint import horizontal, vertical

    for module in (horizontal, vertical):
        monkeypatch.setattr(module, "joint_release", lambda *_: None)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shift", SHIFTS)
def test_numbers_that_no_party_can_have(name: str, shift: int) -> None:
    case = PROTOCOLS[name]
    villain = len(case.inputs) - 1
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = outcomes(case, villain, shifting(shift), lambda content: shifted(content, shift))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEMORY
    if name not in (*TOLD, *HIDDEN):
        for one in found:
            assert isinstance(one, SessionError), found
            assert f"party {villain}" in str(one) or "ended the session" in str(one), found


FILLS: dict[str, Callable[[bytes], bytes]] = {
    "ones": lambda content: b"\xff" * len(content),
    "zeros": lambda content: bytes(len(content)),
    "random": lambda content: Random(len(content)).randbytes(len(content)),
    "one bit": lambda content: content[:-1] + bytes([content[-1] ^ 64]) if content else content,
}


@pytest.mark.parametrize("name", NAMES)
def test_every_message_with_other_bytes(name: str) -> None:
    """Of each label the first message, or all: whatever comes, an honest party has a result or one message about it."""
    case = PROTOCOLS[name]
    for villain in sorted({0, len(case.inputs) - 1}):
        labels: list[str] = []
        outcomes(case, villain, lambda label, content, labels=labels: labels.append(label) or content)  # type: ignore[func-returns-value]
        for number, label in enumerate(sorted(set(labels))):
            for fill in FILLS if thorough() else [list(FILLS)[number % len(FILLS)]]:
                outcomes(
                    case, villain, once(label, FILLS[fill]), seconds=1.5
                )  # bytes that part honest parties, too, end it


def once(label: str, fill: Callable[[bytes], bytes]) -> Change:
    return lambda one, content: fill(content) if one == label else content


SAYINGS: tuple[Any, ...] = (
    None, [], {}, "text", 5, [[]], [None] * 3, {"a": None}, {"a": -1}, {"a": 10**30}, {"a": True}, [[1, 2], [3]],
    [10**30], [1.5, 2.5], {"ward=A": 5}, json.loads("[" * 50 + "]" * 50),
)  # fmt: skip


@pytest.mark.parametrize("name", ["vertical-rules", "vertical-naive-bayes"])
def test_every_odd_thing_that_is_told(name: str) -> None:
    for villain in (0, 1):
        for saying in SAYINGS:
            found = outcomes(PROTOCOLS[name], villain, lambda label, content: content, lambda _, one=saying: one)
            assert all(isinstance(one, str | SessionError) for one in found), (saying, found)


@pytest.mark.parametrize("size", [0, 3, 2**21, 2**40, 2**63])
def test_sizes_of_a_union_are_bounded(size: int) -> None:
    """Nothing is awaited, and so nothing reserved, for a list that is too long."""
    change = lambda label, content: size.to_bytes(8, "big") if label == "union/size" else content  # noqa: E731
    for one in outcomes(PROTOCOLS["rules"], 2, change):
        assert isinstance(one, SessionError)
        assert "party 2 announces" in str(one) or "ended the session" in str(one)


def test_a_union_that_grows_is_refused() -> None:
    change = lambda label, content: (2**40).to_bytes(8, "big") if label == "union/count" else content  # noqa: E731
    found = outcomes(PROTOCOLS["rules"], 0, change)
    assert any("party 0 announces 1,099,511,627,776 points of a union" in str(one) for one in found)
    assert all(isinstance(one, SessionError) for one in found)


def test_own_numbers_above_the_limit_are_refused_before_they_are_sent() -> None:
    """Whoever has more records than the session declares reads that alone, and nobody else is blamed."""

    def program(own: int) -> Callable[[ThreadConversation], str]:
        def takes_part(talk: ThreadConversation) -> str:
            talk.max_records = 100
            return trusted(talk, lambda: str(SummedNumbers(talk)(np.array([own]))))

        return takes_part

    assert in_threads([program(100)] * 3) == ["[300]"] * 3
    with pytest.raises(DataError, match=r"limits\.records of the session allows, 100"):
        in_threads([program(1), program(1), program(101)])


def test_a_fault_of_our_own_is_not_blamed_on_others() -> None:
    """Before anybody has sent anything an error is our own, and is raised as it is."""

    def broken(seat: Any) -> Any:
        raise ZeroDivisionError
        yield

    with pytest.raises(ZeroDivisionError):
        in_threads([lambda talk: trusted(talk, lambda: talk.run(broken(talk.seat)))] * 2)
