"""Profiles of hypothesis: `quick` unless `--hypothesis-profile` or the variable HYPOTHESIS_PROFILE says `full`."""

from __future__ import annotations

import os
import sys
from functools import cache

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
