"""Answers where they are given: remembered or charged, never drawn again; local epsilon audited with its bad twins."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sfumato.attacks.noise_audit import audit_outputs
from sfumato.collection.mechanisms import KeptCategory, NoisyNumber, UnaryBits
from sfumato.collection.respondent import Memory, Respondent, stored
from sfumato.collection.specification import Specification
from sfumato.core.errors import BudgetError, DataError
from tests.collection.dice import dice

COIN = KeptCategory.warner("smokes", ("yes", "no"), truth="3/4")
AGE = NoisyNumber.declared("age", "gaussian", low=0, high=99, step=1, size=20)
BITS = UnaryBits.declared("site", ("x", "y", "z"), keep="3/4", flip="1/4", one="3/4", zero="1/2")
SPEC = Specification(questions=(COIN, AGE))
SURE = 1 - 1e-9
"""A mechanism that keeps its promise is accused in one audit of a billion."""


def test_nothing_but_python_is_needed():
    code = """
import sys
for name in ("numpy", "polars", "scipy", "sklearn", "opendp"):
    sys.modules[name] = None
from sfumato.collection.mechanisms import KeptCategory
from sfumato.collection.respondent import Respondent, Specification
spec = Specification(questions=(KeptCategory.warner("q", ("a", "b"), truth="3/4"),))
print(Respondent(Specification.parse(spec.write())).answer("ann", {"q": "a"})["q"] in "ab")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_a_person_shows_the_remembered_answer_whatever_they_say_now():
    asked = Respondent(SPEC)
    first = asked.answer("ann", {"smokes": "yes", "age": "30"})
    assert all(asked.answer("ann", {"smokes": "no", "age": 90}) == first for _ in range(20))
    assert asked.spent("ann") == {"smokes": 21, "age": 21}
    others = {asked.answer(str(n), {"smokes": "yes", "age": 30})["age"] for n in range(40)}
    assert len(others) > 1


def test_reports_are_drawn_anew_from_the_remembered_bits_alone(monkeypatch: pytest.MonkeyPatch):
    asked = Respondent(Specification(questions=(BITS,)))
    shown = {asked.answer("ann", {"site": "x"})["site"] for _ in range(60)}
    assert len(shown) > 1
    kept = {asked.memory.recall("ann", "site").answer for _ in range(3)}  # type: ignore[union-attr]
    assert len(kept) == 1
    monkeypatch.setattr(UnaryBits, "draw", lambda *_: pytest.fail("drawn again"))
    asked.answer("ann", {"site": "y"})


def test_charged_answers_come_to_an_end():
    asked = Respondent(Specification(questions=(COIN,), repeats="charge", most=2))
    for _ in range(2):
        asked.answer("ann", {"smokes": "yes"})
    with pytest.raises(BudgetError, match="has answered 2 times, and 2 are granted"):
        asked.answer("ann", {"smokes": "yes"})
    assert asked.spent("ann") == {"smokes": 2}


@pytest.mark.parametrize(
    ("person", "answers", "words"),
    [
        ("ann", {"smokes": "maybe", "age": 30}, "is none of its answers"),
        ("ann", {"smokes": "yes", "age": float("nan")}, "is no number"),
        ("ann", {"smokes": "yes"}, "there is none to 'age'"),
        ("", {"smokes": "yes", "age": 30}, "a name that is not empty"),
    ],
)
def test_a_refusal_leaves_everything_as_it_was(person: str, answers: dict[str, Any], words: str):
    asked = Respondent(SPEC)
    with pytest.raises(DataError, match=words):
        asked.answer(person, answers)
    assert asked.memory.people == {}


def test_a_memory_is_kept_in_a_file(tmp_path: Path):
    place = tmp_path / "memory.json"
    with stored(place, SPEC) as memory:
        first = Respondent(SPEC, memory).answer("ann", {"smokes": "yes", "age": 30})
    with stored(place, SPEC) as memory:
        assert Respondent(SPEC, memory).answer("ann", {"smokes": "no", "age": 3}) == first
    held = json.loads(place.read_text())["people"]
    assert held == {"ann": {name: [shown, 2] for name, shown in first.items()}}
    other = Specification(questions=(COIN,))
    with pytest.raises(DataError, match="another specification"), stored(place, other):
        pass
    with pytest.raises(DataError, match="another specification"):
        Respondent(other, Memory(spec=SPEC))
    place.write_text('{"sfumato": "memory", "people": {"ann": {"smokes": ["maybe", 1]}}}')
    with pytest.raises(DataError, match="cannot be read as a memory"), stored(place, SPEC):
        pass


def test_a_memory_that_somebody_else_changed_is_not_overwritten(tmp_path: Path):
    place = tmp_path / "memory.json"

    def answered_while_another_writes() -> None:
        with stored(place, SPEC) as memory:
            Respondent(SPEC, memory).answer("ann", {"smokes": "yes", "age": 30})
            place.write_text("{}")

    with pytest.raises(DataError, match="somebody else"):
        answered_while_another_writes()
    assert place.read_text() == "{}"


def drawn(question: Any, answer: Any, runs: int, seed: int) -> list[str]:
    below, code = dice(seed), question.code(answer)
    return [question.write(question.again(question.draw(code, below), below)) for _ in range(runs)]


AUDITED = [
    (COIN, "yes", "no"),
    (KeptCategory.within("q", ("a", "b", "c", "d"), epsilon=1), "a", "b"),
    (UnaryBits.within("q", ("a", "b", "c"), epsilon=1), "a", "b"),
    (UnaryBits.declared("q", ("a", "b"), keep="9/10", flip="1/10", one="3/4", zero="1/4"), "a", "b"),
    (NoisyNumber.declared("q", "laplace", low=0, high=5, step=1, size=5), "0", "5"),
]


@pytest.mark.parametrize("case", AUDITED, ids=lambda one: one[0].kind)
def test_local_epsilon_is_not_refuted(case: tuple[Any, Any, Any]):
    """Each is accused wrongly with a probability of at most 1e-9."""
    question, one, other = case
    sides = [drawn(question, answer, 1500, seed) for seed, answer in enumerate((one, other))]
    found = audit_outputs(*sides, confidence=SURE, declared=float(question.epsilon))
    assert not found.refuted
    assert found.epsilon_low > 0.25 * float(question.epsilon)


def test_a_coin_with_the_wrong_bias_is_refuted():
    wrong = KeptCategory(name="q", kind="warner", values=("yes", "no"), keep=Fraction(9, 10), other=Fraction(1, 10))
    sides = [drawn(wrong, answer, 1500, seed) for seed, answer in enumerate(("yes", "no"))]
    assert audit_outputs(*sides, confidence=SURE, declared=float(COIN.epsilon)).refuted


def test_laplace_noise_of_half_the_scale_is_refuted():
    half = NoisyNumber.declared("q", "laplace", low=0, high=5, step=1, size="2.5")
    sides = [drawn(half, answer, 2500, seed) for seed, answer in enumerate(("0", "5"))]
    assert audit_outputs(*sides, confidence=SURE, declared=1.0).refuted


def asked_thrice(spec: Specification, answer: str, *, forgetting: bool) -> str:
    asked = Respondent(spec)
    shown = []
    for _ in range(3):
        asked = Respondent(spec) if forgetting else asked
        shown.append(asked.answer("ann", {"smokes": answer})["smokes"])
    return " ".join(shown)


@pytest.mark.parametrize("forgetting", [False, True])
def test_an_answer_that_is_drawn_again_is_refuted_and_a_remembered_one_is_not(forgetting: bool):
    spec = Specification(questions=(COIN,))
    sides = [[asked_thrice(spec, one, forgetting=forgetting) for _ in range(1500)] for one in ("yes", "no")]
    found = audit_outputs(*sides, confidence=SURE, declared=float(COIN.epsilon))
    assert found.refuted == forgetting
