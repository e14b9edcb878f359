"""Profiles of hypothesis: `quick` unless `--hypothesis-profile` or the variable HYPOTHESIS_PROFILE says `full`."""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from functools import cache

import pytest
import typer.main
from hypothesis import HealthCheck, settings

# Two workers share two cores; threads of OpenMP (boosting), OpenBLAS and polars would spend most of their time waiting
# for each other: on tables of tests a call of polars takes eight times as long where it wakes a second thread.
for pool in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(pool, "1")

# Tests start hundreds of processes: what one has compiled, the next ones and the next run read.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No power fails while tests run: that bytes are forced to disk costs every release some milliseconds and shows nowhere.
os.fsync = os.fstat

# Tests call hundreds of commands in one process: the tree of all commands is put together once, not for each.
typer.main.get_command = cache(typer.main.get_command)

# Nothing is timed in tests: no deadline, and slow drawing on a busy machine is no failure.
settings.register_profile(
    "quick", max_examples=18, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("full", settings.get_profile("quick"), max_examples=200)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Two workers share files of tests, so that what a file makes for all its tests is made once; long files first.

    The worker tells the group at the end of a test's name. pytest-xdist 3.8 would do so itself, but writes it where
    pytest 9.2 no longer looks: without this every group would be torn apart, and both workers start Java and browsers.
    """
    if not hasattr(config, "workerinput"):
        return
    group, weight = {}, Counter[str]()
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
        marker = item.get_closest_marker("xdist_group")
        assert marker is not None
        group[item] = str(marker.args[0])
        weight[group[item]] += 10 if item.get_closest_marker("slow") else 1
        item._id = type(item.id).parse(f"{item.nodeid}@{group[item]}")  # type: ignore[attr-defined]
    items.sort(key=lambda item: -weight[group[item]])


def pytest_collection_finish() -> None:
    """Ten thousand tests stay until the end: whoever looks for garbage need not look at them again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_unconfigure() -> None:
    """Libraries complain of what is still there when the process ends."""
    gc.unfreeze()
