"""Releases of every kind stay as they were: kept bundles verify, and what is made now has the same rows and figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sfumato.pipeline.catalog.built_in import METHODS
from sfumato.pipeline.release import verify_written
from tests.golden.releases import adapter
from tests.golden.releases.comparing import BUNDLES, EXPECTED, HERE, differences, kept, manifest, tables, texts
from tests.golden.releases.plans import FULL_BUNDLES, ITEMS, OTHERS, PLANS, PRIVATE, TABLES

OPEN = [*TABLES, *ITEMS, *OTHERS]


@cache
def parsed(name: str) -> Any:
    return adapter.plan_of(PLANS[name], HERE)


def test_there_are_plans_of_all_kinds_and_all_golden_files():
    assert len(PLANS) == len(OPEN) + len(PRIVATE) == 49
    found = {json.loads((BUNDLES / name / "manifest.json").read_text(encoding="utf-8"))["kind"] for name in PLANS}
    assert found == {part.name for part in METHODS} - {
        "observed",
        "joint",
    }  # stages as those of private; made by sessions, not by plans
    assert {path.name for path in BUNDLES.iterdir()} == set(PLANS)
    assert {path.name.removesuffix(".csv").removesuffix(".sensitive") for path in EXPECTED.iterdir()} == set(PLANS)


@pytest.mark.parametrize("name", PLANS)
def test_a_kept_bundle_verifies(name: str):
    found = verify_written(BUNDLES / name, None)  # its page is one of its day
    assert found.holds, [check for check in found.checks if not check.holds]
    assert (name in FULL_BUNDLES) == (BUNDLES / name / "report.html").exists()


def same_rows(now: Mapping[str, pl.DataFrame], name: str) -> None:
    golden = kept(name)
    assert now.keys() == golden.keys()
    for ending, frame in golden.items():
        assert now[ending].columns == frame.columns
        assert now[ending].rows() == frame.rows()


@pytest.mark.parametrize("name", OPEN)
def test_the_same_rows_are_released_and_the_same_is_said(name: str, tmp_path: Path):
    made = adapter.made(parsed(name))
    same_rows(tables(made), name)
    assert adapter.checked(made, tmp_path)
    assert differences(manifest(tmp_path), manifest(BUNDLES / name)) == []


@pytest.mark.parametrize("name", PRIVATE)
def test_the_same_rows_are_released_without_noise(name: str):
    same_rows({"": texts(adapter.private_rows(parsed(name)))}, name)


@pytest.mark.parametrize("name", PRIVATE)
def test_a_noisy_release_verifies(name: str, tmp_path: Path):
    assert adapter.checked(adapter.made(parsed(name)), tmp_path)
    assert manifest(tmp_path)["claims"] == manifest(BUNDLES / name)["claims"]
