"""No text of a record or a plan reaches OpenDP: its C strings end at the first NUL and must be UTF-8.

A key that OpenDP cuts off collides with another key and replaces its count. One record with the text "a\\0x" then
decides whether the value "a" of 1,000 records is published, which no epsilon allows.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import opendp._convert
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.collection.mechanisms import KeptCategory, UnaryBits
from sfumato.core.errors import ParameterError
from sfumato.dp import noise
from sfumato.dp.events import Pure
from sfumato.dp.ledger import Ledger
from sfumato.dp.noise import chosen_keys, randomized_responses
from sfumato.pipeline.methods.private.domains import prepared
from sfumato.pipeline.plan.plan import Plan
from sfumato.queries import Categories, Session
from sfumato.queries.questions import Among
from sfumato.tables.table import Table
from tests.weights import examples

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
TEXTS = (
    "a",
    "a\0",
    "a\0x",
    "a\0y",
    "\0",
    COMPOSED,
    DECOMPOSED,
    "\ufb01",
    "fi",
    "L" * 100_000,
    "L" * 100_001,
    " a",
    "a ",
)
STORABLE = (*TEXTS, "")
"""What a data frame can hold."""
ODD = (*STORABLE, "\ud800", "\udfff", "a\ud800")
"""And what only Python can: halves of surrogate pairs."""
HUGE = 10**6
"""An epsilon, or a number of records, at which noise is not seen: e^-1000 and less."""


def texts_in(value: Any) -> Iterator[str | bytes]:
    """Every text in a value that is about to cross into OpenDP, however deep."""
    if isinstance(value, str | bytes):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            yield from texts_in(pair)
    elif isinstance(value, list | tuple | set):
        for part in value:
            yield from texts_in(part)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "OSUT":
        yield from texts_in(value.tolist())
    elif isinstance(value, pl.Series | pl.DataFrame | pl.LazyFrame):
        yield repr(value)


@pytest.fixture
def crossing(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every value that is converted for OpenDP; a text among them fails the test that sent it."""
    values: list[Any] = []
    convert = opendp._convert._py_to_slice

    def recorded(value: Any, type_name: Any) -> Any:
        values.append(value)
        assert not list(texts_in(value)), f"a text crosses into OpenDP: {value!r:.80}"
        return convert(value, type_name)

    monkeypatch.setattr(opendp._convert, "_py_to_slice", recorded)
    return values


ONES = np.ones(len(ODD), np.int64)
CALLS: dict[str, Callable[[str], Any]] = {
    "chosen": lambda text: noise.chosen(list(ONES), sensitivity=1, epsilon=1, what=text),
    "chosen_keys": lambda text: chosen_keys(dict.fromkeys(ODD, 50) | {text: 99}, epsilon=1, delta=1e-6, what=text),
    "chosen_quantile": lambda text: noise.chosen_quantile(ONES, [0, 1, 2], share=0.5, epsilon=1, what=text),
    "counted": lambda text: noise.counted(ONES, Pure(epsilon=1, what=text)),
    "gaussian_counts": lambda text: noise.gaussian_counts(ONES, rho=1, what=text),
    "laplace_share": lambda _: noise.laplace_share(4, 1, 3),  # type: ignore[arg-type]
    "noisy_counts": lambda text: noise.noisy_counts(ONES, epsilon=1, what=text),
    "noisy_reals": lambda text: noise.noisy_reals(ONES, epsilon=1, sensitivity=1, what=text),
    "picked": lambda text: noise.picked(ONES, Pure(epsilon=1, what=text), sensitivity=1),
    "randomized_responses": lambda text: randomized_responses([text], ODD, epsilon=1, what=text),
}


def test_every_call_is_driven() -> None:
    """A function that is added to the package must be added here; ``Noisy`` is a record."""
    assert {*CALLS, "Noisy"} == set(noise.__all__)


@pytest.mark.parametrize("name", CALLS)
def test_no_call_sends_a_text(name: str, crossing: list[Any]) -> None:
    for text in ODD:
        CALLS[name](text)
    assert crossing


def test_a_text_that_crosses_would_be_noticed(crossing: list[Any]) -> None:
    from sfumato.dp.mechanisms import opendp as library

    with pytest.raises(AssertionError, match="crosses"):
        library().m.make_randomized_response(["a", "b"], 0.6)
    assert crossing


def test_all_keys_stay_apart() -> None:
    """Each key of a million records is found as it is; each key of one record is not. A false alarm: below 1e-9."""
    assert len(set(ODD)) == len(ODD)
    assert unicodedata.normalize("NFC", DECOMPOSED) == COMPOSED
    assert chosen_keys(dict.fromkeys(ODD, HUGE), epsilon=1, delta=1e-9)[0] == tuple(sorted(ODD))
    for text in ODD:
        counts = dict.fromkeys(ODD, 1) | {text: HUGE}
        assert chosen_keys(counts, epsilon=1, delta="1e-12")[0] == (text,)


@examples(60)
@given(st.dictionaries(st.text(st.characters(), max_size=4), st.sampled_from([1, HUGE])))
def test_any_keys_are_found_by_their_counts(counts: dict[str, int]) -> None:
    """Compared with the definition: frequent ones in, single ones out. A false alarm: below 1e-8 in all."""
    expected = tuple(sorted(key for key, rows in counts.items() if rows == HUGE))
    assert chosen_keys(counts, epsilon=1, delta="1e-12")[0] == expected


@pytest.mark.parametrize("before", [True, False])
def test_the_order_of_keys_does_not_matter(before: bool) -> None:
    """A record with a new key renumbers the others; the noise of a key does not depend on its number.

    The value of 1,000 records is there in all of 60 runs on both neighbours; a false alarm: below e^-900.
    """
    single = {"a\0x" if before else "a": 1}
    other = {"a" if before else "a\0x": 1000}
    for counts in (other, {**other, **single}, {**single, **other}):
        for _ in range(60):
            assert chosen_keys(counts, epsilon=1, delta=1e-9)[0] == tuple(other)


def test_all_categories_stay_apart() -> None:
    """At epsilon 30 an answer changes with probability 1e-11; false alarms: below 1e-6 in all."""
    for answers in (ODD, ODD[::-1]):
        assert randomized_responses(answers, ODD, epsilon=30)[0] == list(answers)
    drawn = randomized_responses(["a"] * 4000, ODD, epsilon="1/1000")[0]
    assert set(drawn) == set(ODD)  # one of them is missing with probability 17 e^-220


def test_an_odd_answer_is_refused_as_any_other() -> None:
    with pytest.raises(ParameterError, match="answers must be declared categories"):
        randomized_responses(["a\0x"], ["a", "b"], epsilon=1)


# The callers


def discovering(algorithm: str, values: list[str]) -> tuple[Plan, pl.DataFrame]:
    columns = {
        "job": {"role": "quasi", "domain_from": "discover"},
        "class": {"role": "target", "domain_from": "discover", "other": "unknown"},
    }
    plan = {"columns": columns, "privacy": {"epsilon": 4, "delta": 1e-6}, "algorithm": {"name": algorithm}}
    return Plan.parse(plan), pl.DataFrame({"job": values, "class": values})


def test_one_record_does_not_hide_a_value_of_a_thousand() -> None:
    """The neighbours of the fault: 1,000 records with and without one more. A false alarm: below e^-500."""
    for extra in ([], ["a\0x"], ["a\0"]):
        plan, frame = discovering("marginals", ["a"] * 1000 + extra)
        for _ in range(20):
            table = prepared(plan, Table(frame=frame)).table
            assert table.classes == ("a", "unknown")


@pytest.mark.parametrize("algorithm", ["diffgen", "marginals"])
def test_a_release_of_odd_texts_sends_none(algorithm: str, crossing: list[Any], tmp_path: Path) -> None:
    short = [text for text in STORABLE if len(text) < 100]
    plan, frame = discovering(algorithm, [text for text in short for _ in range(200)])
    assert sf.release(plan, frame).write(tmp_path / "out").holds
    assert sf.verify(tmp_path / "out").holds
    assert crossing


def test_queries_about_odd_texts_send_none(crossing: list[Any], tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "l.db", total=10**9)
    ledger.grant("ann", 10**9)
    rows = {text: 3 + number for number, text in enumerate(STORABLE)}
    frame = pl.DataFrame({"x": [text for text, count in rows.items() for _ in range(count)]})
    session = Session(frame, domains={"x": Categories(values=STORABLE)}, ledger=ledger, analyst="ann")
    assert session.histogram("x", epsilon=10**4).values.tolist() == list(rows.values())
    for text, count in rows.items():
        assert session.count(epsilon=10**4, where=Among(column="x", values=(text,))).value == count
    assert crossing


@pytest.mark.parametrize("question", [KeptCategory, UnaryBits])
def test_collected_answers_keep_odd_texts_apart(question: Any, crossing: list[Any]) -> None:
    """Answers are randomized at the source, without OpenDP; no two texts share a code."""
    values = tuple(text for text in ODD if text.strip() == text != "")
    categories = question.within("q", values, epsilon=50)
    codes = {categories.code(text) for text in values}
    assert len(codes) == len(values)
    for code in codes:
        categories.write(categories.draw(code))
    assert not crossing
