"""The complete view of every party of every protocol follows from its input, its coins and what is declared.

For each case: views of real runs, with the party's own coins, against views in which there is no other party and every
message is simulated from declared values (`simulators`). And declared values stay the same where the others' inputs are
changed in a way that neither the result nor the declared leakage shows. Each test blames an honest protocol with a
probability below 1e-9.

What can fire where. At that rate a bit position that is stuck shows from about 40 runs on, and two bits that agree
always, where they should half the time, from about 145. Primitives therefore have `POWER` runs, in one session, so that
whatever depends on public hash keys repeats; `WEAK` names those that take too long. Protocols are put together from
primitives and have few runs: there only lengths, the distribution of bytes and of differences between messages,
repeated blocks, the declared values and the result are compared, and a stuck bit or a correlation of two bits is not
seen.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato.parties
from sfumato.core.errors import SessionError
from sfumato.parties import set_intersection
from sfumato.parties.circuit_arithmetic import add
from sfumato.parties.circuits import CircuitBuilder, bits_of, packed, unpacked
from sfumato.parties.conversation import Exchange, to_all
from sfumato.parties.garbled_circuits import compute, ready_to_compute
from sfumato.parties.gmw import compute_shared, ready_to_share
from sfumato.parties.oblivious_polynomial import receive_polynomial, send_polynomial
from sfumato.parties.oblivious_transfer import (
    receive_base,
    receive_chosen,
    receive_many,
    send_base,
    send_chosen,
    send_many,
)
from sfumato.parties.releases.integrated_rows import same_values
from sfumato.parties.secure_sum import agree_keys, ring_sum, secure_sum
from sfumato.parties.secure_union import secure_union
from sfumato.parties.set_intersection import (
    HASHES,
    intersect_receiving,
    intersect_sending,
    points_receiving,
    points_sending,
)
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.joint import horizontal as release_protocol
from sfumato.pipeline.joint import vertical
from sfumato.tables.table import Table
from tests.parties import test_graded_agreement, test_mining_protocols, test_vertical_mining
from tests.parties.simulators import (
    FORMS,
    UNIFORM,
    Form,
    Program,
    Run,
    Step,
    fresh,
    real_runs,
    simulated_view,
    values_hits,
)
from tests.parties.views import BITS, RATE, joint_differences


@dataclass(frozen=True, kw_only=True)
class Case:
    """Parties with inputs, and for some of them other inputs of the others that must look the same."""

    sides: Callable[[Any], Sequence[Program]]
    """From the inputs of all to their programs."""
    inputs: Any
    """The inputs of all parties, in order."""
    again: Any
    """By party, inputs in which only the others differ: result and declared leakage stay the same."""
    runs: int = 30
    """Real and simulated runs that are compared."""
    deal: bool = True
    """Whether base transfers are dealt; they have a case of their own."""
    slow: bool = False
    """Whether a run takes seconds."""


def talks(*sides: Callable[[Any, Any], Any]) -> Callable[[Any], Sequence[Program]]:
    """Programs of one talk each: side and input."""

    def made(inputs: Any) -> Sequence[Program]:
        pairs = zip(sides, inputs, strict=True)
        return [lambda talk, side=side, own=own: talk.run(side(talk.seat, own)) for side, own in pairs]

    return made


def summing(seat: Any, own: Any) -> Any:
    keys = yield from agree_keys(seat)
    first = yield from secure_sum(seat, keys, np.array(own, np.int64))
    second = yield from secure_sum(seat, keys, np.array(own, np.int64))
    return first, second


def summing_many(seat: Any, own: Any) -> Any:
    keys = yield from agree_keys(seat)
    return (yield from secure_sum(seat, keys, np.full(4100, own, np.int64)))


def transfers(seat: Any, own: Any) -> Any:
    """Chosen messages, and one of many."""
    ready = yield from ready_to_compute(seat, 1 - seat.me)
    if seat.me == 0:
        yield from send_chosen(ready, np.array(own[0], np.uint8), np.array(own[1], np.uint8))
        return (yield from send_many(ready, np.array(own[0], np.uint8)))
    chosen = yield from receive_chosen(ready, own, 3)
    many = yield from receive_many(ready, own[:1], 4, 3)
    return chosen, many


def summed(width: int = 8) -> Any:
    build = CircuitBuilder()
    total = add(build, build.garbler_input(width), build.evaluator_input(width))
    return build.circuit(garbler=total, evaluator=total)


def jointly_summed(width: int = 8) -> Any:
    build = CircuitBuilder()
    one, other, third = build.garbler_input(3, width)
    return build.circuit(garbler=add(build, add(build, one, other), third))


def garbling(seat: Any, own: int) -> Any:
    ready = yield from ready_to_compute(seat, 1 - seat.me)
    return (yield from compute(ready, summed(), bits_of([own], 8).ravel()))


def sharing(seat: Any, own: int) -> Any:
    ready = yield from ready_to_share(seat)
    return (yield from compute_shared(ready, jointly_summed(), bits_of([own], 8).ravel(), [8] * 3))


def alike(seat: Any, own: Any) -> Any:
    try:
        yield from same_values(seat, {"x": np.array(own, np.int32)})
    except SessionError as error:
        return str(error)
    return "same"


HIDDEN = [f"h{at:03}" for at in range(60)]
OTHERS = [f"z{at:03}" for at in range(200, 140, -1)]
SHARED = [f"c{at}" for at in range(12)]
MINE = ["m1", "c3", "c7", "m2", "c11", "m3", "c0", "m4"]
"""Five of eight are not common; a sorted list on the other side is what an attacker hopes for."""
TEXTS = [[[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]], [[20] * 3, [21] * 3, [22] * 3, [23] * 3]]
OTHER_TEXTS = [[[1, 2, 3], [99] * 3, [7, 8, 9], [98] * 3], [[97] * 3, [21] * 3, [96] * 3, [23] * 3]]

POWER = 160
"""Runs in which every test of `views` can fire at its rate."""
WEAK = ("secure sum in parts", "secure union", "circuit on shares", "same values", "oblivious polynomial")
"""Primitives that take too long for so many runs."""
PRIMITIVES: dict[str, Case] = {
    "secure sum": Case(
        sides=talks(*[summing] * 3),
        inputs=([10, 20], [3, 5], [1, 0]),
        again={0: ([10, 20], [4, 2], [0, 3]), 2: ([12, 0], [1, 25], [1, 0])},
        runs=POWER,
    ),
    "secure sum in parts": Case(
        sides=talks(*[summing_many] * 3), inputs=(5, 6, 7), again={1: (7, 6, 5), 0: (5, 7, 6)}, runs=4
    ),
    "ring sum": Case(
        sides=talks(*[lambda seat, own: ring_sum(seat, np.array(own))] * 3),
        inputs=([1, 2], [3, 4], [5, 6]),
        again={0: ([1, 2], [5, 6], [3, 4]), 1: ([5, 6], [3, 4], [1, 2]), 2: ([3, 4], [1, 2], [5, 6])},
        runs=POWER,
    ),
    "secure union": Case(
        sides=talks(*[secure_union] * 3),
        inputs=([b"a", b"b"], [b"c" * 20, b"d"], [b"a", b"e"]),
        again={
            1: ([b"a", b"e"], [b"c" * 20, b"d"], [b"a", b"b"]),
            2: ([b"a", b"d"], [b"c" * 20, b"b"], [b"a", b"e"]),
            0: ([b"a", b"b"], [b"c" * 20, b"e"], [b"a", b"d"]),
        },
        runs=40,
    ),
    "base transfers": Case(
        sides=talks(lambda seat, own: send_base(seat, 1, own), lambda seat, own: receive_base(seat, 0, own)),
        inputs=(4, [0, 1, 1, 0]),
        again={0: (4, [1, 1, 0, 0])},
        runs=POWER,
        deal=False,
    ),
    "chosen transfers": Case(
        sides=talks(transfers, transfers),
        inputs=(TEXTS, [0, 1, 0, 1]),
        again={0: (TEXTS, [1, 1, 0, 0]), 1: (OTHER_TEXTS, [0, 1, 0, 1])},
        runs=POWER,
        slow=True,
    ),
    "garbled circuit": Case(sides=talks(garbling, garbling), inputs=(100, 27), again={}, runs=POWER, slow=True),
    "circuit on shares": Case(
        sides=talks(*[sharing] * 3), inputs=(5, 6, 7), again={0: (5, 7, 6), 1: (7, 6, 5), 2: (6, 5, 7)}, runs=4
    ),
    "same values": Case(
        sides=talks(*[alike] * 3),
        inputs=([1, 2, 3], [1, 2, 4], [5, 5, 5]),
        again={0: ([1, 2, 3], [8, 8, 8], [1, 2, 3]), 2: ([1, 2, 3], [1, 2, 3], [5, 5, 5])},
        runs=4,
    ),
    "private set intersection": Case(
        sides=talks(
            lambda seat, own: intersect_receiving(seat, 1, own, both=True),
            lambda seat, own: intersect_sending(seat, 0, own, both=True),
        ),
        inputs=(sorted(HIDDEN + SHARED), MINE),
        again={1: (SHARED + OTHERS, MINE), 0: (sorted(HIDDEN + SHARED), [*MINE[1:], "other"][::-1])},
        runs=POWER,
        slow=True,
    ),
    "intersection by points": Case(
        sides=talks(
            lambda seat, own: points_receiving(seat, 1, own, both=True),
            lambda seat, own: points_sending(seat, 0, own, both=True),
        ),
        inputs=(["a", "b", "c", "d"], ["d", "x", "b"]),
        again={0: (["a", "b", "c", "d"], ["y", "b", "d"]), 1: (["d", "q", "r", "b"], ["d", "x", "b"])},
        runs=POWER,
    ),
    "oblivious polynomial": Case(
        sides=talks(lambda seat, own: receive_polynomial(1, own, 2), lambda seat, own: send_polynomial(0, own)),
        inputs=(5, [1, 2, 3]),
        again={0: (5, [9, 9, 9]), 1: (8, [1, 2, 3])},
        runs=3,
    ),
}


def session(name: str, parameters: Any) -> Callable[[Any], Sequence[Program]]:
    """Programs of a protocol that a session can name: from tables to programs."""

    def made(tables: Sequence[pl.DataFrame]) -> Sequence[Program]:
        protocol = catalog().protocol(name)
        read = protocol.read(parameters, tuple("abc"[: len(tables)]))
        owns = [protocol.prepare(read, Table(frame=table)) for table in tables]
        return [lambda talk, own=own: protocol.run(talk, read, own) for own in owns]

    return made


WHOLE = test_mining_protocols.people(60, 1)
DEALT, AGAIN = (WHOLE[:20], WHOLE[20:45], WHOLE[45:]), (WHOLE[:20], WHOLE[45:], WHOLE[20:45])
MINED = test_mining_protocols.ASKED


def horizontal(name: str, runs: int) -> Case:
    """Records of three parties; those of the other two are dealt anew."""
    return Case(sides=session(name, MINED[name]), inputs=DEALT, again={0: AGAIN}, runs=runs)


def baskets(first: int, second: int) -> pl.DataFrame:
    """So many people in one ward who died, and in another who did not: the same sets are frequent in each table."""
    return pl.DataFrame({"ward": ["A"] * first + ["B"] * second, "died": ["yes"] * first + ["no"] * second})


def vertical_tables() -> tuple[pl.DataFrame, pl.DataFrame]:
    one, other, _ = test_vertical_mining.hospitals(3, 24)
    return one, other


def swapped(own: pl.DataFrame, other: pl.DataFrame, alike: Sequence[str]) -> pl.DataFrame:
    """The other party's rows of two common people who agree in some of one's own columns, exchanged; and a person whom
    only the other party has under another name."""
    common = own.filter(pl.col("pid").is_in(other["pid"].to_list()))
    for _, group in common.group_by(list(alike), maintain_order=True):
        for first in group["pid"]:
            for second in group["pid"]:
                rows = [other.filter(pl.col("pid") == one).drop("pid") for one in (first, second)]
                if not rows[0].equals(rows[1]):
                    names = {first: second, second: first}
                    hidden = other.filter(~pl.col("pid").is_in(own["pid"].to_list()))["pid"].to_list()
                    return other.with_columns(pl.col("pid").replace({**names, hidden[0]: "somebody else"}))
    raise AssertionError("no two people can be exchanged")


ONE, OTHER = vertical_tables()
DRUGS = OTHER.drop("age")
BAYES = {**test_vertical_mining.BAYES, "target": "died"}
JOB = {"role": "quasi", "hierarchy": {"tree": {"*": [{"x": ["x1", "x2"]}, {"y": ["y1", "y2"]}]}}}
RELEASE: dict[str, Any] = {
    "columns": {
        "a": JOB,
        "b": {"role": "quasi", "hierarchy": {"tree": {"*": ["p", "q"]}}},
        "s": {"role": "sensitive", "values": ["f", "g"]},
    },
    "privacy": {"k_anonymity": 3},
    "attack": {"run": False},
}
TARGET = {**RELEASE["columns"], "s": {"role": "target", "values": ["f", "g"]}}


def rows(*lines: str) -> pl.DataFrame:
    return pl.DataFrame([line.split() for line in lines], schema=["a", "b", "s"], orient="row")


PARTS = (
    rows("x1 p f", "y1 q g", "y2 p f"),
    rows("x1 p f", "x2 p g", "y1 p f", "x2 q f"),
    rows("y2 q g", "y2 q f", "x1 q g", "y1 p g"),
)
PARTS_AGAIN = (PARTS[0], pl.concat([PARTS[2], PARTS[1][:2]]), PARTS[1][2:])
LEFT = rows("x1 p f", "x1 p g", "x2 p f", "y1 q g", "y2 q f")
RIGHT = rows("x1 p f", "y1 q g", "y2 q f", "x2 p g")
FINER = rows("x2 p f", "y1 q g", "y1 q f", "x1 p g")
"""Other rows with the same labels in the release."""
SURE: dict[str, Any] = {
    "columns": TARGET,
    "privacy": {"epsilon": 900},
    "algorithm": {"name": "diffgen", "specializations": 1, "output": "counts"},
}
"""An epsilon at which noise is 0 and the best candidate is chosen, but once in e^50 runs: noise is a party's own input,
so both kinds of runs have the same."""


def clear(whole: pl.DataFrame) -> pl.DataFrame:
    """With a second column that tells the class: it is the best candidate, without a tie that chance would break."""
    return whole.with_columns(b=pl.col("s").replace({"f": "p", "g": "q"}))


def split(whole: pl.DataFrame, left: Sequence[str], right: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    named = whole.with_columns(pl.Series("id", [f"p{n}" for n in range(whole.height)]))
    more = [named, named.with_columns(id="r" + pl.col("id"))]
    return named.select("id", *left), pl.concat(more).select("id", *right)


JOINED, FINER_JOINED = pl.concat([LEFT, RIGHT]), pl.concat([LEFT, FINER])
VERTICAL = {**RELEASE, "identifier": "id", "holds": {"a": ["b"], "b": ["a", "s"]}}
SHARING = {**VERTICAL, "columns": TARGET, "shared": ["s"], "holds": {"a": ["b"], "b": ["a"]}}
NUMBERS = {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 3, "grid": 1}}
"""Numbers whose best split their owner chooses alone."""
PRIVATE_PAIR = {**SURE, "identifier": "id", "holds": {"a": ["b"], "b": ["a"]}}
FIT = pl.DataFrame({"age": ["30", "70", "?"], "ward": ["A", "B", "C"]})
PROTOCOLS: dict[str, Case] = {
    "counts": horizontal("counts", 40),
    "rules": Case(
        sides=session("rules", MINED["rules"]),
        inputs=tuple(baskets(*sizes) for sizes in ((3, 4), (6, 4), (4, 6))),
        again={0: tuple(baskets(*sizes) for sizes in ((3, 4), (4, 6), (6, 4)))},
        runs=2,
    ),
    "naive-bayes": horizontal("naive-bayes", 10),
    "tree": horizontal("tree", 10),
    "k-means": horizontal("k-means", 10),
    "graded": Case(
        sides=session("graded", test_graded_agreement.ASKED), inputs=(FIT,) * 3, again={0: (FIT, FIT[:1], FIT)}, runs=60
    ),
    "vertical-rules": Case(
        sides=session("vertical-rules", test_vertical_mining.RULES),
        inputs=(ONE, DRUGS),
        again={0: (ONE, swapped(ONE, DRUGS, ["ward", "died"])), 1: (swapped(DRUGS, ONE, ["drug"]), DRUGS)},
        runs=3,
    ),
    "vertical-naive-bayes": Case(
        sides=session("vertical-naive-bayes", BAYES),
        inputs=(ONE, OTHER),
        again={0: (ONE, swapped(ONE, OTHER, ["died"]))},
        runs=3,
    ),
    "vertical-release": Case(
        sides=session("vertical-release", VERTICAL),
        inputs=split(JOINED, ["b"], ["a", "s"]),
        again={0: split(FINER_JOINED, ["b"], ["a", "s"])},
        runs=3,
    ),
    "vertical-release, a shared class": Case(
        sides=session("vertical-release", SHARING),
        inputs=split(JOINED, ["b", "s"], ["a", "s"]),
        again={0: split(FINER_JOINED, ["b", "s"], ["a", "s"])},
        runs=3,
    ),
    "vertical-release, three parties": Case(
        sides=session("vertical-release", {**VERTICAL, "holds": {"a": ["b"], "b": ["a"], "c": ["s"]}}),
        inputs=(*split(JOINED, ["b"], ["a"]), split(JOINED, ["b"], ["s"])[1][2:]),
        again={0: (*split(FINER_JOINED, ["b"], ["a"]), split(JOINED, ["b"], ["s"])[1][2:])},
        runs=2,
    ),
    "vertical-release, told values": Case(
        sides=session("vertical-release", {**VERTICAL, "privacy": {"lkc": {"l": 2, "k": 2, "c": 0.9, "column": "s"}}}),
        inputs=split(JOINED, ["b"], ["a", "s"]),
        again={},
        runs=4,
    ),
    "release": Case(sides=session("release", RELEASE), inputs=PARTS, again={0: PARTS_AGAIN}, runs=6),
    "release, two parties": Case(
        sides=session("release", {**RELEASE, "algorithm": {"score": "discernibility"}}),
        inputs=(LEFT, RIGHT),
        again={0: (LEFT, FINER)},
        runs=3,
    ),
    "release, two parties by gain": Case(
        sides=session("release", {**RELEASE, "columns": TARGET}),
        inputs=(LEFT, RIGHT),
        again={0: (LEFT, rows("x2 p f", "y1 q g", "y2 q f", "x1 p g"))},
        runs=3,
        slow=True,
    ),
    "private-release": Case(sides=session("private-release", SURE), inputs=PARTS, again={0: PARTS_AGAIN}, runs=6),
    "private-release, two parties": Case(
        sides=session("private-release", SURE), inputs=(clear(LEFT), clear(RIGHT)), again={}, runs=2, slow=True
    ),
    "vertical-private-release": Case(
        sides=session("vertical-private-release", PRIVATE_PAIR),
        inputs=split(clear(JOINED), ["b", "s"], ["a", "s"]),
        again={},
        runs=2,
        slow=True,
    ),
    "vertical-private-release, one party chooses": Case(
        sides=session("vertical-private-release", {**PRIVATE_PAIR, "columns": {**TARGET, "b": NUMBERS}}),
        inputs=split(JOINED.with_columns(b=pl.col("s").replace({"f": "0", "g": "1"})), ["b", "s"], ["a", "s"]),
        again={},
        runs=2,
    ),
}


PARAMETERS: dict[str, Any] = {
    **MINED,
    "graded": test_graded_agreement.ASKED,
    "vertical-rules": test_vertical_mining.RULES,
    "vertical-naive-bayes": BAYES,
    "vertical-release": SHARING,
    "release": RELEASE,
    "private-release": SURE,
    "vertical-private-release": PRIVATE_PAIR,
}
"""What a session file may ask of each protocol."""
CASES = {**PRIMITIVES, **PROTOCOLS}
NAMES = [pytest.param(name, marks=pytest.mark.slow if case.slow else ()) for name, case in CASES.items()]


@pytest.fixture(autouse=True)
def unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judging a release sends nothing."""
    for module in (release_protocol, vertical):
        monkeypatch.setattr(module, "joint_release", lambda *_: None)


@pytest.mark.parametrize("name", NAMES)
def test_the_complete_view_is_simulated_from_what_is_declared(name: str) -> None:
    case, session_name = CASES[name], b"views" if name in PRIMITIVES else None
    runs = [real_runs(case.sides(case.inputs), session=session_name, deal=case.deal) for _ in range(case.runs)]
    for me, program in enumerate(case.sides(case.inputs)):
        views = []
        for run in runs:
            view, result = simulated_view(program, run[me].seat, run[me].declared, deal=case.deal)
            views.append(view)
            if name in PROTOCOLS and name != "graded" and result is not None:  # a graded secret is drawn anew
                assert result.document == run[me].result.document
        assert joint_differences([run[me].view for run in runs], views) == [], f"party {me}"
    for me, inputs in case.again.items():
        other = real_runs(case.sides(inputs), deal=case.deal)[me]
        refuse_other_values(case, inputs, me, [run[me] for run in runs], other)


def refuse_other_values(case: Case, inputs: Any, me: int, runs: Sequence[Run], other: Run) -> None:
    """What is declared does not show other inputs of the others.

    Values that are the same in all runs are compared; others are shares of 32 bits or more, drawn anew each time.
    """
    assert str(inputs[me]) == str(case.inputs[me])
    assert str(inputs) != str(case.inputs)
    assert [label for label, _ in other.declared] == [label for label, _ in runs[0].declared]
    for at, (label, value) in enumerate(other.declared):
        if len({str(one.declared[at]) for one in runs}) == 1:
            assert str(value) == str(runs[0].declared[at][1]), f"party {me}, {label}"


def test_primitives_have_runs_enough_for_every_test() -> None:
    """Two bits that always agree, where they should half the time, differ by 1: the limit must lie below that."""
    for name, case in PRIMITIVES.items():
        limit = 2 * sqrt(log(BITS**2 / (RATE / 4)) / case.runs)
        assert (limit < 1) == (name not in WEAK), name


def test_every_protocol_has_a_case() -> None:
    assert {name.split(",")[0] for name in PROTOCOLS} == set(catalog().protocols)


SOURCE = Path(sfumato.parties.__file__).parent


def labels_in(path: Path) -> set[str]:
    """The labels of messages in a module: texts, or constants of the module, in the place of a label."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        places = [one.value for one in node.keywords if one.arg == "label"] if node.func.id == "Exchange" else []
        places += node.args[1:2] if node.func.id in ("to_all", "_revealed") else []
        for written in places:
            place = written.values[0] if isinstance(written, ast.JoinedStr) else written
            if isinstance(place, ast.Constant):
                found.add(str(place.value).strip())
            elif isinstance(place, ast.Name) and place.id in constants:
                found.add(str(constants[place.id]))
            else:
                assert isinstance(place, ast.Name | ast.Subscript), f"{path.name}: a label that cannot be read"
                assert ast.unparse(place) in ("label", "labels[0]"), f"{path.name}: {ast.unparse(place)}"
    return found


def test_every_message_has_a_simulator() -> None:
    """A label that is added to the package without a form, or a form of a label that is gone, fails here."""
    found = {label for path in SOURCE.rglob("*.py") if path.parent.name != "network" for label in labels_in(path)}
    assert found == set(FORMS)


def test_every_simulator_is_tried() -> None:
    tried = set()
    for name, case in CASES.items():
        if name in PRIMITIVES or not case.slow:
            runs = real_runs(case.sides(case.inputs), deal=case.deal)
            tried |= {label.split(" ")[0] for run in runs for label, _ in run.declared}
    assert tried == set(FORMS)


# Twins that tell too much


def compared(sides: Any, inputs: Any, me: int, runs: int) -> list[str]:
    """What tells real views of a twin from simulated ones, in one session."""
    programs = sides(inputs)
    real = [real_runs(programs, session=b"twin")[me] for _ in range(runs)]
    views = [simulated_view(programs[me], run.seat, run.declared)[0] for run in real]
    return joint_differences([run.view for run in real], views)


def telling(talk: Any) -> Any:
    """A receiver that tells by which hash function it holds each common identifier."""
    answer = None
    while True:
        try:
            step = talk.send(answer)
        except StopIteration as over:
            return over.value
        if step.label == set_intersection.COMMON:
            own = talk.gi_frame.f_locals
            bins, rows_hit = values_hits(Step(own, step), own["came"])
            hits = np.zeros((HASHES, own["theirs"]), np.uint8)
            hits[bins // (len(own["table"]) // HASHES), rows_hit] = 1
            step = Exchange(label="intersection/common", send=dict.fromkeys(step.send, packed(hits).tobytes()))
        answer = yield step


def hearing(talk: Any) -> Any:
    """The sender of such a receiver."""
    answer = None
    while True:
        try:
            step = talk.send(answer)
        except StopIteration as over:
            return over.value
        if step.label == set_intersection.COMMON:
            came = yield Exchange(
                label=step.label, expect={peer: HASHES * length for peer, length in step.expect.items()}
            )
            answer = {peer: np.bitwise_or.reduce(np.frombuffer(one, np.uint8).reshape(HASHES, -1)).tobytes()
                      for peer, one in came.items()}  # fmt: skip
        else:
            answer = yield step


def by_function(at: Step, came: Any) -> np.ndarray:
    """Hash functions x own items, in the order of the own list."""
    order = at.own["order"]
    hits = unpacked(np.frombuffer(next(iter(came.values())), np.uint8).reshape(HASHES, -1), len(order))
    return hits[:, np.argsort(order)]


def drawn_functions(at: Step, positions: Any) -> Any:
    """The best that a simulator can do: each common identifier under a function drawn at random."""
    ((peer, _),) = at.lengths.items()
    order = at.own["order"]
    hits = np.zeros((HASHES, len(order)), np.uint8)
    for position in positions:
        hits[fresh(1)[0] % HASHES, np.flatnonzero(order == position)] = 1
    return {peer: packed(hits).tobytes()}


def test_a_receiver_that_tells_its_hash_functions_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which function holds an identifier depends on identifiers that the sender does not have."""
    form = Form(
        declared=lambda at, came: np.flatnonzero(by_function(at, came).any(axis=0)).tolist(),
        simulate=drawn_functions,
        seen=lambda at, came: packed(by_function(at, came)).tobytes(),
    )
    monkeypatch.setitem(FORMS, "intersection/common", form)
    placed = set_intersection.placed
    monkeypatch.setattr(set_intersection, "placed", lambda items, draw: placed(items, bytes))
    sides = talks(
        lambda seat, own: telling(intersect_receiving(seat, 1, own, both=True)),
        lambda seat, own: hearing(intersect_sending(seat, 0, own, both=True)),
    )
    many = sorted(HIDDEN + SHARED)
    found = compared(sides, (many, SHARED), 1, 100)
    assert "intersection/common as computed: positions" in found


def test_a_sender_that_keeps_the_order_of_its_list_is_caught() -> None:
    def straight(length: int) -> bytes:
        return bytes(length) if length == 8 * len(MINE) else fresh(length)

    sides = talks(
        lambda seat, own: intersect_receiving(seat, 1, own),
        lambda seat, own: intersect_sending(seat, 0, own, draw=straight),
    )
    assert "intersection/values as computed: positions" in compared(sides, (SHARED, MINE), 0, 100)


def test_a_digest_that_is_sent_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a party can guess later is the same in every run of a session."""
    monkeypatch.setitem(FORMS, "shared/digest", UNIFORM)

    def digesting(seat: Any, own: bytes) -> Any:
        yield to_all(seat, "shared/digest", own.ljust(32, b"."))

    found = compared(talks(digesting, digesting), (b"one", b"other"), 0, 100)
    assert any(one.startswith("shared/digest") for one in found)


def test_coins_that_give_a_message_away_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message that is uniform by itself, but not beside the coins of its receiver."""
    from sfumato.core.randomness import fresh_key

    monkeypatch.setitem(FORMS, "echo/coins", UNIFORM)
    monkeypatch.setitem(FORMS, "echo/back", UNIFORM)

    def asking(seat: Any, own: bytes) -> Any:
        yield Exchange(label="echo/coins", send={1: fresh_key(32)})
        yield Exchange(label="echo/back", expect={1: 32})

    def echoing(seat: Any, own: bytes) -> Any:
        came = yield Exchange(label="echo/coins", expect={0: 32})
        yield Exchange(label="echo/back", send={0: bytes(a ^ b for a, b in zip(came[0], own, strict=True))})

    found = compared(talks(asking, echoing), (b"", b"a secret of 32 bytes for a test."), 0, 200)
    assert any("and" in one or one == "bits together" for one in found)
