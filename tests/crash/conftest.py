"""Warm processes, each started once for a module."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.crash.warm import Warm


@pytest.fixture(scope="module")
def small() -> Iterator[Warm]:
    """It knows staging only."""
    made = Warm("tests.crash.stage_jobs")
    yield made
    made.close()


@pytest.fixture(scope="module")
def large() -> Iterator[Warm]:
    """It has imported everything."""
    made = Warm("tests.crash.jobs")
    yield made
    made.close()


@pytest.fixture(scope="session", autouse=True)
def heard() -> Iterator[None]:
    """A shell has its background jobs ignore Ctrl-C, and nohup the end of the terminal: their children do too."""
    wanted = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
