"""The reference pages say what the code says."""

from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", ["commands.md", "catalog.md", "errors.md"])
def test_a_page_is_what_the_code_gives(name: str) -> None:
    from sfumato.testing.docs import PAGES

    assert (REFERENCE / name).read_text(encoding="utf-8") == PAGES[name](), (
        "write it again: python -m sfumato.testing.docs docs/reference"
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_pages_can_be_written_anywhere(tmp_path: Path) -> None:
    from sfumato.testing.docs import PAGES, write_pages

    write_pages(tmp_path / "new" / "reference")
    assert {path.name for path in (tmp_path / "new" / "reference").iterdir()} == set(PAGES)
