"""The docs mention everything there is, point to pages that exist, and show code that runs."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sfumato.core import errors
from sfumato.models.model import READINGS
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.catalog.models import DISTANCES
from sfumato.pipeline.plan.hierarchies import _KINDS
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.schema import Role

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "CONTRIBUTING.md"])
_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def text(*names: str) -> str:
    return "\n".join((DOCS / name).read_text(encoding="utf-8") for name in names)


def handwritten() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in PAGES if path.parent.name != "reference")


def prose(path: Path) -> str:
    """A page without its blocks of code."""
    return _BLOCK.sub("", path.read_text(encoding="utf-8"))


def blocks(path: Path, language: str) -> list[str]:
    return [code for kind, code in _BLOCK.findall(path.read_text(encoding="utf-8")) if kind == language]


def refusals() -> Iterator[str]:
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, Exception):
            yield name


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("name", [*catalog().models, *catalog().metrics, *catalog().algorithms])
def test_every_part_of_the_catalog_is_explained(name: str) -> None:
    assert f"`{name}`" in handwritten()


@pytest.mark.parametrize("key", catalog().builders("table"))
def test_every_requirement_is_in_the_guide_of_the_plan_and_in_theory(key: str) -> None:
    assert key in text("guide/plan.md")
    assert any(f"{key} = " in path.read_text(encoding="utf-8") for path in (DOCS / "theory").glob("*.md"))


@pytest.mark.parametrize("kind", [*_KINDS, "file", "tree", "bundled"])
def test_every_kind_of_hierarchy_has_an_example(kind: str) -> None:
    mark = f'kind = "{kind}"' if kind in _KINDS else kind
    assert mark in text("guide/plan.md")
    assert f"## {kind}" in text("guide/hierarchies.md")


@pytest.mark.parametrize("word", [*Role, *READINGS, *DISTANCES])
def test_every_choice_is_explained(word: str) -> None:
    assert f"`{word}`" in handwritten()


@pytest.mark.parametrize("name", list(refusals()))
def test_every_error_is_mentioned(name: str) -> None:
    assert f"`{name}`" in text("guide/troubleshooting.md")


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_resolve(page: Path) -> None:
    broken = []
    for target in _LINK.findall(prose(page)):
        if target.startswith(("http://", "https://")):
            continue
        place, _, anchor = target.partition("#")
        found = (page.parent / place).resolve() if place else page
        if not found.exists() or (anchor and anchor not in anchors(found)):
            broken.append(target)
    assert broken == []


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "index.md"], ids=named)
def test_every_page_is_on_the_map(page: Path) -> None:
    index = DOCS / "index.md"
    listed = {
        (DOCS / target.partition("#")[0]).resolve() for target in _LINK.findall(index.read_text(encoding="utf-8"))
    }
    assert page.resolve() in listed


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_toml_blocks_are_toml(page: Path) -> None:
    for code in blocks(page, "toml"):
        tomllib.loads(code)


def whole_plans() -> list[tuple[str, dict[str, Any]]]:
    found = [(named(page), tomllib.loads(code)) for page in PAGES for code in blocks(page, "toml")]
    return [(name, tree) for name, tree in found if "columns" in tree and "privacy" in tree]


@pytest.mark.parametrize(("name", "tree"), whole_plans())
def test_whole_plans_are_plans(name: str, tree: dict[str, Any]) -> None:
    assert Plan.parse(tree).columns


def test_python_of_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {"__name__": "guide"}
    code = blocks(DOCS / "guide" / "python.md", "python")
    assert len(code) >= 5
    for place, block in enumerate(code):
        exec(compile(block, f"python.md block {place}", "exec"), space)


@pytest.mark.parametrize("page", sorted((DOCS / "theory").glob("*.md")), ids=named)
def test_theory_tells_its_limits(page: Path) -> None:
    assert "## What it does not protect against" in page.read_text(encoding="utf-8") or page.name in (
        "classification.md",
        "metrics.md",
        "optimal-search.md",
        "readings.md",
    )


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_words(page: Path) -> None:
    said = prose(page).lower()
    assert not re.search(r"\bsafe(ly|ty)?\b", said)
    assert "/tmp/" not in page.read_text(encoding="utf-8")
