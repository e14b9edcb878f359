"""What a party sees of a joint release follows from its rows, the release and the declared leakage; twins that leak.

Only what is declared may differ when the others' rows differ: they are dealt anew with the same sums, or changed below
the labels of the release. The statistical tests blame an honest protocol in fewer than one of 10^9 runs each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from sfumato.parties.conversation import Transcript
from sfumato.parties.releases import two_parties, vertical
from sfumato.parties.simulation import ThreadConversation, in_threads
from sfumato.parties.summed_counts import SummedNumbers
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.joint import horizontal
from sfumato.pipeline.joint import vertical as vertical_release
from sfumato.tables.table import Table
from tests.parties.releases_asked import frame_of, jointly, rows_of
from tests.parties.views import differences, received

RUNS = 40
JOB = {"role": "quasi", "hierarchy": {"tree": {"*": [{"x": ["x1", "x2"]}, {"y": ["y1", "y2"]}]}}}
ASKED: dict[str, Any] = {
    "columns": {
        "a": JOB,
        "b": {"role": "quasi", "hierarchy": {"tree": {"*": ["p", "q"]}}},
        "s": {"role": "sensitive", "values": ["f", "g"]},
    },
    "privacy": {"k_anonymity": 3},
    "attack": {"run": False},
}


Runs = list[dict[str, list[bytes]]]


def viewed(protocol: str, asked: dict[str, Any], tables: list[pl.DataFrame], me: int, runs: int = 1) -> Runs:
    """What one party receives in each of some runs."""
    one = catalog().protocol(protocol)
    read = one.read(asked, tuple("abc"[: len(tables)]))
    own = [one.prepare(read, Table(frame=table)) for table in tables]
    return [once(one, read, own, me) for _ in range(runs)]


def once(one: Any, read: Any, own: list[Any], me: int) -> dict[str, list[bytes]]:
    note = Transcript()

    def program(number: int) -> Callable[[ThreadConversation], None]:
        def takes_part(talk: ThreadConversation) -> None:
            talk.transcript = note if number == me else None
            one.run(talk, read, own[number])

        return takes_part

    in_threads([program(number) for number in range(len(own))])
    return received(note)


@pytest.fixture
def unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judging a release sends nothing."""
    for module in (horizontal, vertical_release):
        monkeypatch.setattr(module, "joint_release", lambda *_: None)


def rows(*lines: str) -> pl.DataFrame:
    return frame_of([line.split() for line in lines], list("abs"))


MINE = rows("x1 p f", "y1 q g", "y2 p f")
DEALT = [rows("x1 p f", "x2 p g", "y1 p f", "x2 q f"), rows("y2 q g", "y2 q f", "x1 q g", "y1 p g")]
AGAIN = [pl.concat([DEALT[1], DEALT[0][:2]]), DEALT[0][2:]]


@pytest.mark.usefixtures("unjudged")
def test_of_three_parties_each_sees_only_sums():
    real = viewed("release", ASKED, [MINE, *DEALT], 0, RUNS)
    dealt = viewed("release", ASKED, [MINE, *AGAIN], 0, RUNS)
    assert sorted(real[0]) == ["keys/public", "sum/masked"]
    assert differences(real, dealt) == []


@pytest.mark.usefixtures("unjudged")
def test_a_twin_that_does_not_mask_is_caught(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(horizontal, "SummedNumbers", Unmasked)
    real = viewed("release", ASKED, [MINE, *DEALT], 0, RUNS)
    dealt = viewed("release", ASKED, [MINE, *AGAIN], 0, RUNS)
    assert differences(real, dealt)


class Unmasked(SummedNumbers):
    """Everybody tells its own counts."""

    def __call__(self, values: np.ndarray) -> np.ndarray:
        return two_parties.OpenedNumbers(self.conversation)(values)


TWO = {**ASKED, "algorithm": {"score": "discernibility"}}
LEFT = rows("x1 p f", "x1 p g", "x2 p f", "y1 q g", "y2 q f")
RIGHT = rows("x1 p f", "y1 q g", "y2 q f", "x2 p g")
FINER = RIGHT.with_columns(pl.col("a").replace({"x1": "x2", "x2": "x1", "y1": "y2", "y2": "y1"})).with_columns(
    a=pl.when(pl.col("a") == "y2").then(pl.lit("y1")).otherwise(pl.col("a"))
)
"""Other rows with the same labels in the release, and the same labels refused."""


def told(view: dict[str, list[bytes]], *labels: str) -> dict[str, list[bytes]]:
    return {label: view[label] for label in labels}


def test_of_two_parties_neither_sees_counts_below_the_release(monkeypatch: pytest.MonkeyPatch):
    made = [jointly("release", TWO, [LEFT, right])[0].release for right in (RIGHT, FINER)]
    assert rows_of(made[0]) == rows_of(made[1])
    assert set(made[0].rows["a"]) == {"x", "y"}
    one, other = (viewed("release", TWO, [LEFT, right], 0)[0] for right in (RIGHT, FINER))
    assert told(one, "counts/opened") == told(other, "counts/opened")
    lengths = [{label: list(map(len, messages)) for label, messages in view.items()} for view in (one, other)]
    assert lengths[0] == lengths[1]

    def opens(self: Any, groups: np.ndarray, demand: Any) -> bool:
        whole = two_parties.OpenedNumbers(self._source.conversation)(np.rint(groups).astype(np.int64))
        return bool((whole[:, 0][whole[:, 0] > 0] >= demand.k).all())

    monkeypatch.setattr(two_parties.TwoPartyCandidates, "_holds", opens)
    one, other = (viewed("release", TWO, [LEFT, right], 0)[0] for right in (RIGHT, FINER))
    assert told(one, "counts/opened") != told(other, "counts/opened")


BY_GAIN = {**ASKED, "columns": {**ASKED["columns"], "s": {"role": "target", "values": ["f", "g"]}}}


def test_of_two_parties_neither_sees_a_gain(monkeypatch: pytest.MonkeyPatch):
    """What lies below the released labels is changed: what is opened, and all lengths, stay the same."""
    made = [jointly("release", BY_GAIN, [LEFT, right])[0].release for right in (RIGHT, FINER)]
    assert rows_of(made[0]) == rows_of(made[1])
    one, other = (viewed("release", BY_GAIN, [LEFT, right], 0)[0] for right in (RIGHT, FINER))
    assert told(one, "counts/opened") == told(other, "counts/opened")
    lengths = [{label: list(map(len, messages)) for label, messages in view.items()} for view in (one, other)]
    assert lengths[0] == lengths[1]

    def opens(self: Any, place: int, value: int, split: Any) -> Any:
        own = below(self, place, value, split)
        self._source.opened(own)
        return own

    below = two_parties.TwoPartyCandidates._below
    monkeypatch.setattr(two_parties.TwoPartyCandidates, "_below", opens)
    one, other = (viewed("release", BY_GAIN, [LEFT, right], 0)[0] for right in (RIGHT, FINER))
    assert told(one, "counts/opened") != told(other, "counts/opened")


VERTICAL = {**ASKED, "identifier": "id", "holds": {"a": ["a", "s"], "b": ["b"]}}


def split(whole: pl.DataFrame) -> list[pl.DataFrame]:
    named = whole.with_columns(pl.Series("id", [f"p{n}" for n in range(whole.height)]))
    return [named.select("id", "a", "s"), named.select("id", "b")]


def test_an_instruction_tells_no_more_than_the_labels_of_the_release(monkeypatch: pytest.MonkeyPatch):
    """The owner's values are changed below the labels that are released; what the other party is told stays."""
    wholes = [pl.concat([LEFT, right]) for right in (RIGHT, FINER)]
    made = [jointly("vertical-release", VERTICAL, split(whole))[0].release for whole in wholes]
    assert rows_of(made[0]) == rows_of(made[1])
    assert set(made[0].rows["a"]) == {"x", "y"}
    labels = ("instruction/head", "instruction/rows", "rows/counted")
    one, other = (viewed("vertical-release", VERTICAL, split(whole), 1)[0] for whole in wholes)
    assert told(one, *labels) == told(other, *labels)
    assert not {label for label in one if label.startswith("column/")}

    honest = vertical.VerticalCandidates._valid

    def careless(self: Any) -> Any:
        """A twin that gives its instruction before it looks whether models allow it."""
        self._search.validity.holds = lambda *_: True
        return honest(self)

    monkeypatch.setattr(vertical.VerticalCandidates, "_valid", careless)
    monkeypatch.setattr(vertical_release, "joint_release", lambda *_: None)
    one, other = (viewed("vertical-release", VERTICAL, split(whole), 1)[0] for whole in wholes)
    assert told(one, "instruction/rows") != told(other, "instruction/rows")
