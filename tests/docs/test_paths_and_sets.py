"""The pages about paths and sets show code that runs, and figures that it gives."""

import doctest
from pathlib import Path
from typing import Any

import pytest

from tests.docs.test_docs import _BLOCK, DOCS

SHOWN = [
    "guide/paths-and-sets.md",
    "theory/trajectories.md",
    "theory/sets.md",
    "theory/local-sets.md",
    "theory/top-down-sets.md",
]


@pytest.mark.parametrize("name", SHOWN)
def test_a_page_shows_what_its_code_gives(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {"__name__": "page"}
    run = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for place, (kind, code) in enumerate(_BLOCK.findall((DOCS / name).read_text(encoding="utf-8"))):
        first = code.partition("\n")[0]
        if kind == "python":
            exec(compile(code, f"{name} block {place}", "exec"), space)
        elif kind == "toml" and first.startswith("# ") and first.endswith(".toml"):
            (tmp_path / first[2:]).write_text(code, encoding="utf-8")
        elif kind == "pycon":
            test = doctest.DocTestParser().get_doctest(code, space, f"{name} block {place}", name, 0)
            run.run(test, clear_globs=False)
            space = test.globs
    assert run.tries >= 3
    assert not run.failures
