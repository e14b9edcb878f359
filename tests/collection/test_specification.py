"""Specifications: what they say is what they do, and what cannot be kept is refused with one clear message."""

from __future__ import annotations

import json
from fractions import Fraction
from math import exp, log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.collection.local_epsilon import LocalEpsilon, decimal, ratio_within
from sfumato.collection.mechanisms import KeptCategory, NoisyNumber, UnaryBits
from sfumato.collection.specification import Specification, category_question, number_question
from sfumato.core.errors import DataError, ParameterError, PlanError
from tests.weights import examples

AGE = NoisyNumber.declared("age", "laplace", low=0, high=100, step="0.5", size=50)
DRUG = KeptCategory.within("drug", ("a", "b", "c"), epsilon="1")
SITE = UnaryBits.declared("site", ("x", "y", "z"), keep="3/4", flip="1/4", one="3/4", zero="1/2")
WHOLE = Specification(questions=(AGE, DRUG, SITE))


def test_a_specification_is_read_as_it_was_written():
    again = Specification.parse(WHOLE.write())
    assert again == WHOLE
    assert again.digest == WHOLE.digest
    assert json.loads(WHOLE.write())["questions"][1]["keep"] == "13591/23591"


def test_promises_are_exact():
    assert AGE.epsilon == LocalEpsilon(plain=Fraction(2))
    assert SITE.lasting == LocalEpsilon.log(Fraction(9))
    keep, flip = Fraction(11, 16), Fraction(9, 16)
    assert SITE.shown == (keep, flip)
    assert SITE.epsilon == LocalEpsilon.log(keep / flip * (1 - flip) / (1 - keep))
    assert float(WHOLE.epsilon or 0) == pytest.approx(2 + log(2.7182) + log(9))
    items = UnaryBits.items("basket", tuple(map(str, range(3000))), epsilon=1)
    many = Specification(questions=(items, DRUG))
    assert str(many.epsilon) == "3001 ln 13591/5000"
    assert float(many.epsilon or 0) == pytest.approx(3001 * log(2.7182))
    assert Specification.parse(many.write()) == many


@given(st.fractions(min_value=Fraction(1, 100), max_value=20, max_denominator=100))
@examples(40)
def test_a_ratio_within_an_epsilon_is_below_and_near(epsilon: Fraction):
    found = ratio_within(epsilon)
    assert found <= exp(float(epsilon)) * (1 + 1e-12)
    assert float(found) >= exp(float(epsilon)) - 1.01e-4


@pytest.mark.parametrize("law", ["uniform", "gaussian", "laplace"])
@pytest.mark.parametrize("privacy", [0.25, 0.5, 1, 2])
def test_a_designed_number_gives_at_least_the_privacy_asked_for(law: Any, privacy: float):
    made = number_question("x", law, low=0, high=100, step="0.5", privacy=privacy)
    assert 100 * privacy <= made.width(0.95) <= 100 * privacy + 1
    gaussian = NoisyNumber.declared("x", "gaussian", low=0, high=1, step="0.01", size=1)
    assert [round(gaussian.width(c), 2) for c in (0.5, 0.95, 0.999)] == [1.35, 3.92, 6.58]


@given(st.integers(-(10**6), 10**6), st.integers(0, 6))
@examples(40)
def test_decimals_are_exact(number: int, digits: int):
    assert Fraction(decimal(Fraction(number, 10**digits))) == Fraction(number, 10**digits)


def changed(**more: Any) -> str:
    tree = json.loads(Specification(questions=(KeptCategory.warner("q", ("yes", "no"), truth="3/4"),)).write())
    tree["questions"][0] |= more
    del tree["promises"]
    return json.dumps(tree)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (changed(lie="1/3"), "must add up to 1; 3/4 + 1 * 1/3 is 13/12; lie = 1/4 would do"),
        (changed(truth="1/4", lie="3/4"), "truth must be above lie"),
        (changed(truth="NaN"), "must be a number"),
        (changed(truth="1/0"), "must be a number"),
        (changed(truth=True), "must be a number"),
        (changed(values=["yes"]), "2 to 10,000 different texts"),
        (changed(values=["yes", "yes"]), "2 to 10,000 different texts"),
        (changed(values=["a", "b", "c"]), "warner must have two values, not 3"),
        (changed(values="yes"), "must be a list of texts"),
        (changed(kind="warnr"), "kind must be one of"),
        (changed(name=""), "name must be a text"),
        (changed(sise=1), "'sise' is not known"),
        ("{}", "is no specification"),
        ("", "is not JSON"),
        ('{"sfumato": "collect", "form": 1, "questions": []}', "at least one"),
        ('{"sfumato": "collect", "form": 1, "questions": 5}', "must be a list"),
        ('{"sfumato": "collect", "form": 1, "questions": [5]}', "must be an object"),
        ('{"sfumato": "collect", "form": 1}', "must have 'questions'"),
    ],
)
def test_what_cannot_be_kept_is_refused(text: str, words: str):
    with pytest.raises(PlanError) as refused:
        Specification.parse(text, where="s.json")
    assert words in str(refused.value)
    assert str(refused.value).startswith("s.json")


def test_a_specification_cannot_promise_more_than_it_does():
    told = WHOLE.write().replace('"age": "2"', '"age": "1"')
    assert told != WHOLE.write()
    with pytest.raises(PlanError, match="promises are not what its probabilities give"):
        Specification.parse(told)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: NoisyNumber.declared("x", "uniform", low=0, high=0, step=1, size=1), "high must be above low"),
        (lambda: NoisyNumber.declared("x", "uniform", low=0, high=10, step=3, size=3), "equal steps"),
        (lambda: NoisyNumber.declared("x", "uniform", low=0, high=10, step=1, size="1/2"), "multiple of step"),
        (lambda: NoisyNumber.declared("x", "gaussian", low=0, high=10, step=1, size=0), "above 0"),
        (lambda: NoisyNumber.declared("x", "gaussian", low=0, high=10**9, step=1, size=1), "steps"),
        (lambda: NoisyNumber.declared("x", "uniform", low=float("nan"), high=10, step=1, size=1), "must be a number"),
        (lambda: number_question("x", "uniform", low=0, high=9, epsilon=1), "no local epsilon"),
        (lambda: number_question("x", "laplace", low=0, high=9), "not neither"),
        (lambda: UnaryBits.declared("x", ("a", "b"), keep="1/4", flip="3/4"), "0 < flip < keep < 1"),
        (lambda: UnaryBits.declared("x", ("a", "b"), keep="3/4", flip="1/4", one="1/4", zero="1/2"), "zero and one"),
        (lambda: category_question("x", "warner", ("a", "b", "c"), epsilon=1), "two values"),
        (lambda: category_question("x", "unary", ("a", "b"), epsilon=0), r"\(0, 50\]"),
        (lambda: Specification(questions=(AGE, AGE)), "stands twice"),
        (lambda: Specification(questions=(DRUG,), most=2), "most must be 1"),
        (
            lambda: Specification(
                questions=(NoisyNumber.declared("x", "uniform", low=0, high=9, step=1, size=9),), repeats="charge"
            ),
            "no local epsilon that could be charged",
        ),
    ],
)
def test_bad_parameters_are_refused(make: Any, words: str):
    with pytest.raises(ParameterError, match=words):
        make()


@pytest.mark.parametrize("answer", ["101", "-0.1", "NaN", "inf", "", "many", None, "1e400", "1e999999999", True])
def test_a_number_outside_its_range_is_refused(answer: Any):
    with pytest.raises(DataError, match="is no number from 0 to 100"):
        AGE.code(answer)


def test_answers_are_rounded_to_the_grid():
    assert [AGE.code(one) for one in ("0", "0.24", "0.25", 99.9, "100")] == [0, 0, 1, 200, 200]
    assert AGE.read(AGE.write(-7)) == -7


@pytest.mark.parametrize("written", ["0.3", "x", "nan", ""])
def test_what_was_not_shown_is_refused(written: str):
    with pytest.raises(DataError, match="was not shown by it"):
        AGE.read(written)
    with pytest.raises(DataError, match="was not shown by it"):
        SITE.read(written)


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "1/3", "1/0", "nan", "warner", "unary", "age", "1e9999", "0.5"])
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@given(st.data())
@examples(200)
def test_a_specification_from_a_stranger_is_read_or_refused(data: Any):
    """Any value in any place: what is read can be kept, and whatever else is refused as a plan is."""
    tree = json.loads(WHOLE.write())
    if data.draw(st.booleans()):
        del tree["promises"]
    place: Any = tree
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
            place = place[key]
            continue
        place[key] = data.draw(ANYTHING)
        break
    try:
        found = Specification.parse(json.dumps(tree))
    except PlanError:
        return
    assert Specification.parse(found.write()) == found


def test_a_number_far_from_its_range_is_refused():
    """Its step fits no whole number of 64 bits: `collect reconstruct` ended in an OverflowError."""
    far = NoisyNumber.declared("pay", "laplace", low=0, high=1000, step=100, size=500)
    assert far.read("-900") == -9
    with pytest.raises(DataError, match="too far from its range"):
        far.read("6" + "0" * 32)
