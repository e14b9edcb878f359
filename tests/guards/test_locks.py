"""The locks: every package that is asked for, one version of each, and the digests of all its files."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ALL = ("dp", "paths", "learn", "collaborate", "duckdb", "postgresql", "files", "studio")
EXTRAS = {"core": ALL, "test": (*ALL, "test"), "check": (*ALL, "test", "check")}


def pinned(path: Path) -> dict[str, tuple[str, int]]:
    """Each package of a lock with its version and the number of its digests."""
    found = {}
    for entry in path.read_text().replace("\\\n", " ").splitlines():
        line = re.fullmatch(r"([\w.-]+)==([\w.]+)( ; [^-]*?)?((?:\s+--hash=sha256:[0-9a-f]{64})+)", entry.strip())
        assert line is not None, entry[:120]
        found[named(line[1])] = (line[2], line[4].count("--hash"))
    return found


def named(requirement: str) -> str:
    match = re.match(r"[\w.-]+", requirement)
    assert match is not None
    return re.sub(r"[-_.]+", "-", match[0]).lower()


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_every_line_has_one_version_and_its_digests(path: Path):
    assert all(digests >= 1 for _, digests in pinned(path).values())
    assert "//" not in path.read_text()


@pytest.mark.parametrize("name", EXTRAS)
def test_whatever_is_asked_for_is_locked(name: str):
    asked = list(PROJECT["project"]["dependencies"])
    for extra in EXTRAS[name]:
        asked += [one for one in PROJECT["project"]["optional-dependencies"][extra] if named(one) != "sfumato"]
    assert {named(one) for one in asked} <= set(pinned(ROOT / "requirements" / f"{name}.txt"))


def test_all_names_every_extra_for_users():
    assert PROJECT["project"]["optional-dependencies"]["all"] == [f"sfumato[{','.join(ALL)}]"]


def test_a_package_has_one_version_in_all_locks():
    versions: dict[str, set[str]] = {}
    for path in LOCKS:
        for name, (version, _) in pinned(path).items():
            versions.setdefault(name, set()).add(version)
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


def test_what_builds_comes_first():
    asked = {named(one) for one in PROJECT["build-system"]["requires"]}
    assert asked | {"setuptools", "editables"} <= set(pinned(ROOT / "requirements" / "build.txt"))
