"""The verifier's own reading of coins, against the one that designs them; and texts that strangers wrote."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato.bundles.checks.collected import Amount, can_show, claims_of, epsilon_of, false_promises, width_of
from sfumato.collection.mechanisms import KeptCategory, NoisyNumber, UnaryBits
from sfumato.collection.specification import Question, Specification
from sfumato.core.errors import DataError
from tests.weights import examples

VALUES = ("a", "b", "c", "d")
SHARES = st.fractions(min_value="1/20", max_value="19/20", max_denominator=20)


@st.composite
def questions(draw: st.DrawFn, name: str) -> Question:
    kind = draw(st.sampled_from(("uniform", "gaussian", "laplace", "kept", "unary", "items")))
    if kind == "kept":
        many = draw(st.integers(2, 4))
        keep = draw(SHARES)
        assume(keep > (1 - keep) / (many - 1))
        return KeptCategory.generalized(name, VALUES[:many], keep=keep)
    if kind in ("unary", "items"):
        keep, flip, one, zero = (draw(SHARES) for _ in range(4))
        assume(flip < keep and zero < one)
        more = {"one": one, "zero": zero} if draw(st.booleans()) else {}
        return UnaryBits.declared(name, VALUES, keep=keep, flip=flip, kind=kind, **more)  # type: ignore[arg-type]
    low, steps, size = draw(st.integers(-5, 5)), draw(st.integers(1, 20)), draw(st.integers(1, 9))
    step = draw(st.sampled_from(("0.5", "1", "2")))
    high = low + steps * float(step)
    return NoisyNumber.declared(name, kind, low=low, high=high, step=step, size=size * float(step))  # type: ignore[arg-type]


@examples(120)
@given(data=st.data())
def test_promises_widths_and_ranges_are_those_of_the_designer(data: st.DataObject):
    asked = tuple(data.draw(questions(f"q{n}")) for n in range(data.draw(st.integers(1, 3))))
    spec = Specification(questions=asked)
    tree = spec.to_json()
    assert list(false_promises(tree)) == []
    assert len(claims_of(tree)) == len(asked) + (spec.epsilon is not None)
    for one, stated in zip(asked, tree["questions"], strict=True):
        mine = epsilon_of(stated)
        assert (mine is None) == (one.epsilon is None)
        assert mine is None or one.epsilon is None or float(mine) == pytest.approx(float(one.epsilon))
        if isinstance(one, NoisyNumber):
            assert width_of(stated) == pytest.approx(one.width(0.95))
        fits = can_show(stated)
        number = data.draw(st.sampled_from(("-9", "0.25", "3", "1e1", "40", "7.5", "x", "", "1/2", "b0101", "b011")))
        for text in (number, *VALUES):
            try:
                one.read(text)
            except DataError:
                assert not fits(text)
            else:
                assert fits(text) or text == "1/2", (one, text)  # a fraction is no number of a data file


@pytest.mark.parametrize("change", ["epsilon", "lasting", "everything"])
def test_a_promise_that_the_coins_do_not_give_is_named(change: str):
    spec = Specification(questions=(KeptCategory.warner("smokes", ("yes", "no"), truth="3/4"),)).to_json()
    if change == "everything":
        spec["promises"][change] = "ln 2"
    else:
        spec["promises"][change]["smokes"] = "ln 2"
    assert [change in told for told in false_promises(spec)] == [True]


@pytest.mark.parametrize("text", ["1e999999999", "ln 1e999999999", "ln 1/0", "nan", "1_0", "", "ln", "9" * 1001 + "/"])
def test_a_text_that_is_no_amount_is_refused_at_once(text: str):
    with pytest.raises(ValueError, match="is no number"):
        Amount.read(text)


def test_a_cell_with_a_huge_exponent_is_no_answer():
    question = NoisyNumber.declared("age", "laplace", low=0, high=10, step=1, size=5).to_json()
    assert not can_show(question)("1e999999999")
    assert can_show(question)("1e2")
