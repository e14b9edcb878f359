"""From what a steward names to what a profile looks at: a frame, a file, or a table in an engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.frames import from_frame
from sfumato.data.table import Table
from sfumato.ground.errors import DataError, PlanError
from sfumato.workflow.engine_input import frame_source, is_relation, is_spark, planned_source
from sfumato.workflow.large_input import too_large
from sfumato.workflow.loading import load_table, read_file, without_nan
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.plan.plan_table import Keys
from sfumato.workflow.plan.sections import SQLITE, InputPlan
from sfumato.workflow.profile.heading import found_reading
from sfumato.workflow.profile.profiled_source import ProfiledEngine, ProfiledSource, ProfiledTable


def profiled(data: object, *, missing: tuple[str, ...], reading: Mapping[str, Any]) -> ProfiledSource:
    """What is looked at: a frame, a file, or what ``reading`` says of an engine.

    Frames that are not in memory, folders, patterns and files that would fill it stay where they are.
    """
    if data is not None and not isinstance(data, str | Path):
        lazy = isinstance(data, pl.LazyFrame) and find_spec("duckdb") is not None
        if lazy or is_relation(data) or is_spark(data):
            plan = Plan(columns={}, privacy={}, input=InputPlan(missing=missing))
            return ProfiledEngine(inner=frame_source(plan, data))
        return ProfiledTable(table=without_nan(from_frame(data, missing=missing)))
    if data is None and "engine" not in reading:
        raise PlanError("there is nothing to look at: name a file, or --engine with --table or --query")
    stored = str(data).lower().endswith(SQLITE)
    seen = {} if data is None or stored or not Path(data).is_file() else found_reading(Path(data), reading)
    where = {} if data is None else {"path": str(data)}
    said = InputPlan.of(Keys.of({**where, "missing": list(missing), **seen, **reading}, "input"))
    plan = Plan(columns={}, privacy={}, input=said)
    why = "" if plan.input.engine is not None else too_large(plan)
    if why is not None:
        return ProfiledEngine(inner=replace(planned_source(plan), note=why), reading=seen)
    if stored:
        return ProfiledTable(table=load_table(plan, None, str(data)), reading=seen)
    return ProfiledTable(table=without_nan(_read(str(data), missing, {**seen, **reading})), reading=seen)


def _read(path: str, missing: tuple[str, ...], said: Mapping[str, Any]) -> Table:
    """The table in a file; a refusal of lines of different lengths says what a file of sets would need."""
    try:
        return read_file(path, missing=missing, **said)
    except DataError as error:
        if "fields found" not in str(error):
            raise
        raise DataError(
            f"{error}. If each line lists the items of one person, write them into one column, split by |, under a "
            "header such as items"
        ) from None
