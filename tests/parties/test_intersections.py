"""Private set intersection, by an oblivious function and by points: the positions of common identifiers and no more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sfumato.core.errors import DataError, SessionError
from sfumato.core.randomness import fresh_key
from sfumato.parties import set_intersection
from sfumato.parties.conversation import Exchange
from sfumato.parties.ristretto import hashed_to_point
from sfumato.parties.set_intersection import (
    HASHES,
    as_items,
    digests,
    intersect_receiving,
    intersect_sending,
    matched,
    placed,
    places,
    points_receiving,
    points_sending,
    receive_function,
    send_function,
    third,
)
from sfumato.parties.simulation import seats, together
from tests.parties.ready import dealt_receiving, dealt_sending
from tests.parties.views import differences, random_like, views
from tests.weights import examples

WAYS = {
    "function": (intersect_receiving, intersect_sending),
    "points": (points_receiving, points_sending),
}
Identifier = str | bytes


def common(ours: list[Identifier], theirs: list[Identifier]) -> list[int]:
    """The definition."""
    others = {one.encode() if isinstance(one, str) else one for one in theirs}
    return [at for at, one in enumerate(ours) if (one.encode() if isinstance(one, str) else one) in others]


def found(way: str, ours: list, theirs: list, *, both: bool = True) -> tuple:
    receiving, sending = WAYS[way]
    one, other = seats(2)
    return tuple(together([receiving(one, 1, ours, both=both), sending(other, 0, theirs, both=both)]))


@pytest.fixture
def dealt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys instead of 448 base transfers for each run."""
    monkeypatch.setattr(set_intersection, "send_base", dealt_sending)
    monkeypatch.setattr(set_intersection, "receive_base", dealt_receiving)


@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("ours", "theirs"), [(0, 0), (0, 3), (3, 0), (1, 1), (8, 8), (16, 3), (1, 33)])
@pytest.mark.parametrize("shared", ["all", "none", "some"])
def test_edge_sizes(way: str, ours: int, theirs: int, shared: str):
    first = {"all": 0, "none": ours, "some": ours // 2}[shared]
    mine = [f"id {at}" for at in range(ours)]
    yours = [f"id {first + at}" for at in reversed(range(theirs))]
    positions = found(way, mine, yours)
    assert positions[0].tolist() == common(mine, yours)
    assert positions[1].tolist() == common(yours, mine)


NAMES = st.text(max_size=6) | st.binary(max_size=6)


def unique(names: list) -> list:
    return list({one.encode() if isinstance(one, str) else one: one for one in names}.values())


@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("way", WAYS)
@given(st.data())
@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_intersection_is_that_of_plain_sets(way: str, data: st.DataObject):
    ours = unique(data.draw(st.lists(NAMES.filter(_encodes), max_size=20)))
    theirs = unique(data.draw(st.lists(st.sampled_from(ours) if ours else st.nothing(), max_size=20))) if ours else []
    theirs = unique([*theirs, *data.draw(st.lists(st.binary(max_size=2), max_size=5))])
    positions = found(way, ours, theirs)
    assert (positions[0].tolist(), positions[1].tolist()) == (common(ours, theirs), common(theirs, ours))


def _encodes(name: Identifier) -> bool:
    return isinstance(name, bytes) or not any("\ud800" <= one <= "\udfff" for one in name)


def test_both_ways_agree_on_many():
    ours, theirs = [f"p{at}" for at in range(3000)], [f"p{at}" for at in range(2000, 6000)]
    positions = found("function", ours, theirs)
    assert positions[0].tolist() == list(range(2000, 3000))
    assert positions[1].tolist() == list(range(1000))


@pytest.mark.parametrize("way", WAYS)
def test_only_the_receiver_learns_unless_both_are_to_know(way: str):
    positions, nothing = found(way, ["a", "b"], ["b"], both=False)
    assert positions.tolist() == [1]
    assert nothing is None


def test_an_identifier_stands_in_a_list_once():
    with pytest.raises(DataError, match="identifier 3 stands in the list twice"):
        as_items(["a", "b", b"a"])


def test_too_many_identifiers_are_refused_before_anything_is_made():
    one, _ = seats(2)
    talk = intersect_receiving(one, 1, ["a"])
    next(talk)
    with pytest.raises(SessionError, match="16,777,216 are taken"):
        talk.send({1: (2**40).to_bytes(8, "little")})


@pytest.mark.parametrize("count", [0, 1, 2, 3, 100, 5000])
def test_every_item_has_a_place_of_its_own(count: int):
    items = places(digests([str(at).encode() for at in range(count)], bytes(32), HASHES), count)
    table = placed(items, fresh_key)
    assert len(table) == HASHES * third(count)
    assert sorted(table[table >= 0].tolist()) == list(range(count))
    assert all(place in items[item] for place, item in enumerate(table.tolist()) if item >= 0)


def test_items_without_enough_places_end_the_session():
    with pytest.raises(SessionError, match="no place was found"):
        placed(np.tile(np.arange(3) * third(4), (4, 1)), fresh_key)


def test_matching_goes_past_equal_beginnings():
    others = np.array([[1] * 8 + [at, 0] for at in (9, 5, 3)] + [[2] * 10], np.uint8)
    values = np.array([[1] * 8 + [9, 0], [1] * 8 + [4, 0], [2] * 10, [3] * 10, [0] * 10], np.uint8)
    assert matched(values, others).tolist() == [0, -1, 3, -1, -1]


def test_the_function_is_the_same_for_both_where_items_are():
    one, other = seats(2)
    items = np.frombuffer(fresh_key(16 * 10), np.uint64).reshape(-1, 2)
    key, values = together([send_function(one, 1, 10), receive_function(other, 0, items, 12)])
    bins = np.arange(10)
    assert (key.values(bins, items, 12) == values).all()
    assert not (key.values(bins, items[::-1], 12) == values).all(axis=1).any()
    assert not (key.values(bins[::-1].copy(), items, 12) == values).all(axis=1).any()


RUNS = 6
POINTS = 250


def test_views_of_the_function_are_random():
    """The sender gets 448 columns of random bits, the receiver sorted random values; false alarms below 1e-9.

    The views of base transfers are tested by themselves.
    """
    places_ = seats(2)
    ours, theirs = [f"a{at}" for at in range(40)], [f"b{at}" for at in range(40)]
    seen = views(lambda: [intersect_receiving(places_[0], 1, ours), intersect_sending(places_[1], 0, theirs)], RUNS)
    kept = ("function/code", "intersection/values")
    for real in seen:
        masked = [{label: view[label] for label in kept if label in view} for view in real]
        assert masked[0]
        assert differences(masked, [_in_order(random_like(view, fresh_key)) for view in masked]) == []


def _in_order(view: dict) -> dict:
    """Values of 6 or 7 bytes, 40 for each of three functions, each list sorted."""
    if "intersection/values" not in view:
        return view
    content = view["intersection/values"][0]
    length = len(content) // (HASHES * 40)
    single = [content[at : at + length] for at in range(0, len(content), length)]
    lists = [sorted(single[at : at + 40]) for at in range(0, len(single), 40)]
    return {**view, "intersection/values": [b"".join(one for part in lists for one in part)]}


def test_an_oblivious_function_without_its_streams_is_caught(monkeypatch: pytest.MonkeyPatch):
    """Columns of codes that nothing masks are the same in every run of a session."""

    class Zero:
        def __init__(self, keys):
            self.count = len(keys)

        def read(self, length: int) -> np.ndarray:
            return np.zeros((self.count, length), np.uint8)

    monkeypatch.setattr(set_intersection, "KeyStreams", Zero)
    one, other = seats(2)
    items = np.arange(128, dtype=np.uint64).reshape(-1, 2)
    real = views(lambda: [send_function(one, 1, 64), receive_function(other, 0, items, 8)], 4)[0]
    masked = [{"function/code": view["function/code"]} for view in real]
    assert "function/code: repeats" in differences(masked, [random_like(view, fresh_key) for view in masked])


def test_views_of_points_are_random_points():
    places_ = seats(2)
    ours, theirs = ["a", "b", "c"], ["d", "e"]
    seen = views(lambda: [points_receiving(places_[0], 1, ours), points_sending(places_[1], 0, theirs)], POINTS)

    def points(count: int) -> bytes:
        return b"".join(sorted(hashed_to_point(fresh_key()) for _ in range(count)))

    def random_points(count: int) -> bytes:
        return b"".join(hashed_to_point(fresh_key()) for _ in range(count))

    sizes = [(len(theirs)).to_bytes(8, "little"), (len(ours)).to_bytes(8, "little")]
    receiver = [
        {"intersection/sizes": [sizes[0]], "intersection/twice": [fresh_key(16 * 3) + points(2)]} for _ in range(POINTS)
    ]
    sender = [{"intersection/sizes": [sizes[1]], "intersection/points": [random_points(3)]} for _ in range(POINTS)]
    assert differences(seen[0], receiver) == []
    assert differences(seen[1], sender) == []


def test_points_without_a_secret_are_caught():
    """Hashed identifiers that anybody can hash again."""
    one, other = seats(2)

    def naked(identifiers: list[str]):
        yield from set_intersection.exchanged_sizes(one, 1, len(identifiers))
        points = [hashed_to_point(b"sfumato item " + one.session + name.encode()) for name in identifiers]
        yield Exchange(label=set_intersection.ASKED, send={1: b"".join(points)})
        yield Exchange(label=set_intersection.ANSWERED, expect={1: 16 * len(identifiers) + 32})

    real = views(lambda: [naked(["a", "b"]), points_sending(other, 0, ["b"])], 60)[1]
    honest = views(lambda: [points_receiving(one, 1, ["a", "b"]), points_sending(other, 0, ["b"])], 60)[1]
    assert "intersection/points: repeats" in differences(real, honest)


def test_leakages_are_declared():
    for leakage in (set_intersection.LEAKAGE, set_intersection.DIFFIE_HELLMAN_LEAKAGE):
        assert "how many identifiers" in " ".join(leakage.lines())
