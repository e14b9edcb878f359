"""Warm processes, each started once for a module."""

from __future__ import annotations

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
