"""The test of views itself: it lets random messages pass and catches each kind of fault that it names."""

from __future__ import annotations

import numpy as np

from sfumato.core.randomness import fresh_key
from tests.parties.views import differences, indistinguishable, random_like

RUNS = 200


def honest(length: int = 64, messages: int = 2) -> list[dict[str, list[bytes]]]:
    return [{"a": [fresh_key(length) for _ in range(messages)]} for _ in range(RUNS)]


def test_random_messages_pass():
    real = honest()
    assert differences(real, [random_like(view, fresh_key) for view in real]) == []
    assert indistinguishable([{}] * 5, [{}] * 5)
    assert indistinguishable([{"a": [b""]}] * 5, [{"a": [b""]}] * 5)


def test_lengths_and_labels_are_compared():
    assert differences(honest(8), honest(16)) == ["a: lengths"]
    assert differences(honest(), [{}] * RUNS) == ["a: lengths"]
    grows = [{"a": [bytes(1 + at % 2)]} for at in range(RUNS)]
    assert "a: lengths" in differences(grows, [{"a": [bytes(1)]}] * RUNS)


def test_a_bit_that_is_always_the_same_is_caught():
    stuck = [{"a": [bytes([one["a"][0][0] & 254]) + one["a"][0][1:], one["a"][1]]} for one in honest()]
    assert "a: positions" in differences(stuck, honest())


def test_bytes_that_are_not_random_are_caught():
    text = [{"a": [bytes(97 + byte % 26 for byte in one["a"][0])] * 2} for one in honest()]
    assert "a: octets" in differences(text, honest())


def test_a_mask_that_is_used_twice_is_caught():
    def twice(add: bool) -> dict[str, list[bytes]]:
        mask = np.frombuffer(fresh_key(64), np.uint64)
        values = np.arange(8, dtype=np.uint64), np.arange(8, dtype=np.uint64) + np.uint64(5)
        return {"a": [(mask + one if add else mask ^ one).tobytes() for one in values]}

    assert "a: steps" in differences([twice(True) for _ in range(RUNS)], honest())
    assert "a: xors" in differences([twice(False) for _ in range(RUNS)], honest())


def test_messages_that_come_back_are_caught():
    same = fresh_key(64)
    back = [{"a": [same, fresh_key(64)]} for _ in range(RUNS)]
    assert "a: repeats" in differences(back, honest())
