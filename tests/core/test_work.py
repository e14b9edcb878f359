"""Limits are processor time from where the work began, and who was cut short says so."""

from __future__ import annotations

import pytest

from sfumato.core import run_context as module
from sfumato.core.run_context import BY_TIME, Work


class Clocks:
    """Two clocks that go when they are told to."""

    def __init__(self) -> None:
        self.busy = self.wall = 100.0

    def process_time(self) -> float:
        return self.busy

    def monotonic(self) -> float:
        return self.wall

    def work(self, seconds: float | None = None) -> Work:
        """Work that begins now."""
        return Work(seconds=seconds, _began=self.busy, _since=self.wall)


@pytest.fixture
def clocks(monkeypatch) -> Clocks:
    found = Clocks()
    monkeypatch.setattr(module.time, "process_time", found.process_time)
    monkeypatch.setattr(module.time, "monotonic", found.monotonic)
    return found


def test_waiting_costs_nothing_and_working_does(clocks):
    work = clocks.work(5)
    clocks.wall += 1000
    assert not work.expired
    assert not work.cut
    clocks.busy += 5.1
    assert work.expired
    assert work.cut


def test_work_of_other_processes_is_measured_by_the_clock_on_the_wall(clocks):
    work = clocks.work(5)
    clocks.busy += 1000
    assert not work.late
    clocks.wall += 5.1
    assert work.late
    assert not work.cut


def test_without_a_limit_nothing_is_over(clocks):
    work = clocks.work()
    clocks.busy += 1e9
    clocks.wall += 1e9
    assert not work.expired
    assert not work.late


def test_a_part_counts_from_its_own_start_and_within_the_whole(clocks):
    whole = clocks.work(10)
    clocks.busy += 7
    part, short = whole.within(60), whole.within(1)
    assert part.seconds == 3
    assert short.seconds == 1
    clocks.busy += 2
    assert short.expired
    assert not part.expired
    assert not whole.cut
    assert short.within(None).seconds == 0
    assert not short.within(None).cut
    assert short.untimed().seconds is None
    assert not short.untimed().cut


def test_whoever_was_cut_short_says_so_in_the_same_words(clocks):
    work = clocks.work(1)
    assert work.told({"nodes": 3, "stopped": "local optimum"}) == {"nodes": 3, "stopped": "local optimum"}
    clocks.busy += 2
    assert work.told({"nodes": 3}) == {"nodes": 3}, "nobody asked, so nobody was cut short"
    assert work.expired
    assert work.told({"nodes": 3, "stopped": "local optimum"}) == {"nodes": 3, "stopped": BY_TIME}
