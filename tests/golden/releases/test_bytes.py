"""Data, manifest and report of every golden plan are what they were, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.releases.gate import digests, recorded
from tests.golden.releases.plans import PLANS


@pytest.mark.parametrize("name", PLANS)
def test_a_golden_bundle_has_the_same_bytes(name: str, tmp_path: Path):
    expected = {file: digest for file, digest in recorded().items() if file.startswith(f"{name}/")}
    assert dict(digests(name, tmp_path / "bundle")) == expected
