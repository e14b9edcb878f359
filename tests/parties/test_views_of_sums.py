"""What parties see of sums and unions follows from their input, the result and the declared leakage; twins are caught.

Every test blames an honest protocol with a probability below 1e-9 (``views.RATE``).
"""

from __future__ import annotations

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from sfumato.core.randomness import fresh_key
from sfumato.parties.conversation import Transcript
from sfumato.parties.ristretto import embedded, random_point
from sfumato.parties.secure_sum import PairwiseKeys, agree_keys, ring_sum, secure_sum
from sfumato.parties.secure_union import secure_union
from sfumato.parties.simulation import seats, together
from tests.parties.views import differences, indistinguishable

RUNS = 400
OTHERS = [np.array([3, 5, 8], np.int64), np.array([1, 0, 2], np.int64)]
OWN = np.array([10, 20, 30], np.int64)


class NoMask(PairwiseKeys):
    """A twin that forgets to mask."""

    def mask(self, count, round_number=None):
        return np.zeros(count, np.uint64)


class SameMask(PairwiseKeys):
    """A twin that uses its first round for ever."""

    def mask(self, count, round_number=None):
        self._used = -1
        return super().mask(count, 0)


def seen(talks):
    """What the first party received, by label and sender."""
    notes = [Transcript() for _ in talks]
    together(talks, notes)
    view = {}
    for one in notes[0].received():
        view.setdefault(f"{one.label} {one.peer}", []).append(one.content)
    return view


def summing(kind, values):
    """Two sums one after the other, by parties of whom those beside the first may be twins."""

    def talk(place, own):
        keys = yield from agree_keys(place)
        if place.me:
            keys = kind(place, keys._keys)
        for _ in range(2):
            yield from secure_sum(place, keys, own)

    return [talk(place, own) for place, own in zip(seats(3), values, strict=True)]


def simulated_sum(_own, _total):
    """Public keys are fresh keys; of two masked vectors the party knows the sum alone, and each is uniform."""
    view = {}
    for peer in (1, 2):
        view[f"keys/public {peer}"] = [X25519PrivateKey.generate().public_key().public_bytes_raw()]
        view[f"sum/masked {peer}"] = [fresh_key(24), fresh_key(24)]
    return view


def test_masked_numbers_tell_nothing_but_the_sum():
    real = [seen(summing(PairwiseKeys, [OWN, *OTHERS])) for _ in range(RUNS)]
    assert indistinguishable(real, [simulated_sum(OWN, sum(OTHERS)) for _ in range(RUNS)])
    for view in real[:20]:
        one, other = (np.frombuffer(view[f"sum/masked {peer}"][0], "<u8") for peer in (1, 2))
        assert not np.array_equal(one + other, sum(OTHERS).astype(np.uint64))  # the party's own mask is in it too


def test_other_inputs_with_the_same_sum_look_alike():
    moved = [OTHERS[0] + 1, OTHERS[1] - 1]
    one = [seen(summing(PairwiseKeys, [OWN, *OTHERS])) for _ in range(RUNS)]
    other = [seen(summing(PairwiseKeys, [OWN, *moved])) for _ in range(RUNS)]
    assert indistinguishable(one, other)


def test_a_missing_mask_is_caught():
    real = [seen(summing(NoMask, [OWN, *OTHERS])) for _ in range(RUNS)]
    found = differences(real, [simulated_sum(OWN, sum(OTHERS)) for _ in range(RUNS)])
    assert any(one.startswith("sum/masked") for one in found)


def test_a_round_that_is_used_twice_is_caught():
    real = [seen(summing(SameMask, [OWN, *OTHERS])) for _ in range(RUNS)]
    found = differences(real, [simulated_sum(OWN, sum(OTHERS)) for _ in range(RUNS)])
    assert any(one.startswith("sum/masked") and one.endswith(("steps", "xors", "repeats")) for one in found)


def test_the_ring_tells_its_first_party_the_sum_alone():
    values = [OWN, *OTHERS]
    real = [seen([ring_sum(place, own) for place, own in zip(seats(3), values, strict=True)]) for _ in range(RUNS)]
    assert indistinguishable(real, [{"ring/add 2": [fresh_key(24)]} for _ in range(RUNS)])


def union_view(sets):
    return seen([secure_union(place, own) for place, own in zip(seats(3), sets, strict=True)])


def simulated_union(sizes, union):
    """Points under somebody's scalar are random points; at the end the union's points come with fakes, shuffled."""
    fakes = sum(sizes) - len(union)
    told = [point for item in union for point in embedded(item)] + [random_point(fresh_key) for _ in range(fakes)]
    order = np.argsort(np.frombuffer(fresh_key(8 * len(told)), np.uint64))
    return {
        "union/size 1": [sizes[1].to_bytes(8, "big")],
        "union/size 2": [sizes[2].to_bytes(8, "big")],
        "union/encrypt 1 2": [b"".join(random_point(fresh_key) for _ in range(sizes[2]))],
        "union/encrypt 2 2": [b"".join(random_point(fresh_key) for _ in range(sizes[1]))],
        "union/gather 1": [b"".join(random_point(fresh_key) for _ in range(sizes[2]))],
        "union/gather 2": [b"".join(random_point(fresh_key) for _ in range(sizes[0]))],
        "union/told 2": [b"".join(told[place] for place in order)],
    }


def test_a_union_tells_what_is_declared():
    sets = [[b"a"], [b"b", b"c"], [b"d"]]
    real = [union_view(sets) for _ in range(RUNS // 2)]
    made = [simulated_union((1, 2, 1), [b"a", b"b", b"c", b"d"]) for _ in range(RUNS // 2)]
    assert indistinguishable(real, made)


def test_it_does_not_matter_who_brought_an_item():
    one = [union_view([[b"a"], [b"b"], [b"c"]]) for _ in range(RUNS // 2)]
    other = [union_view([[b"a"], [b"c"], [b"b"]]) for _ in range(RUNS // 2)]
    assert indistinguishable(one, other)


def test_items_that_are_not_encrypted_are_caught(monkeypatch):
    import sfumato.parties.secure_union as union

    made = [simulated_union((1, 2, 1), [b"a", b"b", b"c", b"d"]) for _ in range(RUNS // 4)]
    monkeypatch.setattr(union, "_raised", lambda points, scalar: list(points))
    real = [union_view([[b"a"], [b"b", b"c"], [b"d"]]) for _ in range(RUNS // 4)]
    assert any(one.startswith("union/encrypt") for one in differences(real, made))
