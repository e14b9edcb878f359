"""The wheel: the same bytes from the same sources wherever it is built, and nothing in it but the package."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENDS = {".mo", ".po", ".py", ".csv", ".j2", ".css", ".js", ".md", ".svg", ".toml", ".typed"}
DOCS = "sfumato/studio/docs"
"""Where the wheel has the pages that the studio shows."""


def built(place: Path, *, umask: int, epoch: int) -> Path:
    """The wheel of a copy of the sources; no network is needed, the builder is installed."""
    place.mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, place / name)
    shutil.copytree(ROOT / "docs" / "theory", place / "docs" / "theory")
    shutil.copyfile(ROOT / "docs" / "glossary.md", place / "docs" / "glossary.md")
    shutil.copytree(ROOT / "src", place / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for path in place.rglob("*.py"):
        os.utime(path, (epoch % 1000, epoch % 1000))
        path.chmod(0o666 & ~umask)
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "made"],
        cwd=place,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)},
        umask=umask,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = (place / "made").glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("wheel") / "one", umask=0o022, epoch=1_700_000_000)


def test_two_builds_are_the_same_bytes(wheel: Path, tmp_path: Path):
    again = built(tmp_path / "another folder" / "deeper", umask=0o077, epoch=1_700_000_000)
    assert again.name == wheel.name
    digests = {hashlib.sha256(one.read_bytes()).hexdigest() for one in (wheel, again)}
    assert len(digests) == 1
    later = built(tmp_path / "later", umask=0o022, epoch=1_700_100_000)
    assert hashlib.sha256(later.read_bytes()).hexdigest() not in digests


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path):
    names = set(zipfile.ZipFile(wheel).namelist())
    about = {name for name in names if ".dist-info/" in name}
    assert {name.rpartition("/")[2] for name in about} == {"METADATA", "WHEEL", "RECORD", "LICENSE", "entry_points.txt"}
    source = ROOT / "src"
    files = {path for path in (source / "sfumato").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    pages = {f"theory/{path.name}" for path in (ROOT / "docs" / "theory").iterdir()} | {"glossary.md"}
    wanted = {path.relative_to(source).as_posix() for path in files} | {f"{DOCS}/{page}" for page in pages}
    assert names - about == wanted
    assert {Path(name).suffix for name in names - about} == ENDS
