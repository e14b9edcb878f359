"""The figures of the docs are those of RESULTS.md, wherever both have a table of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.measured import disagreements, written_tables
from tests.docs.test_docs import DOCS, PAGES, ROOT, named

RESULTS = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
MARKED = {
    "docs/attacks/adult.md": 2,
    "docs/theory/auditing.md": 4,
    "docs/theory/bottom-up.md": 2,
    "docs/theory/joint-private-releases.md": 1,
    "docs/theory/joint-releases.md": 2,
    "docs/theory/comparison.md": 3,
    "docs/guide/stream.md": 2,
    "docs/theory/condensation.md": 5,
    "docs/theory/streams.md": 2,
    "docs/theory/pseudo-data.md": 4,
    "docs/theory/publishing-patterns.md": 3,
    "docs/theory/published-trees.md": 2,
    "docs/theory/hiding-rules.md": 2,
    "docs/theory/diffgen.md": 9,
    "docs/theory/distributions.md": 1,
    "docs/theory/incognito.md": 1,
    "docs/theory/k-optimize.md": 2,
    "docs/theory/local-sets.md": 1,
    "docs/theory/marginals.md": 4,
    "docs/theory/mining-distributions.md": 1,
    "docs/theory/mondrian.md": 1,
    "docs/theory/reconstruction.md": 2,
    "docs/theory/top-down-sets.md": 1,
    "docs/theory/top-down.md": 2,
    "docs/theory/value-swapping.md": 1,
}
"""How many tables of each page repeat one of RESULTS.md."""


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_page_agrees_with_the_results(page: Path):
    text = page.read_text(encoding="utf-8")
    assert disagreements(text, RESULTS) == []
    repeated = [table for table in written_tables(text) if table.mark and "in words" not in table.mark]
    assert len(repeated) == MARKED.get(named(page), 0)


SMALL = """### Speed of it, k = 5

| rows | loss | time |
| --- | --- | --- |
| 10 | 0.12 | 1.5 s |
| 20 | 0.34 | - (1) |

### Loss of it

| algorithm | k = 2 | k = 5 |
| --- | --- | --- |
| one | 0.1 | 0.2 |
| other | 0.3 | 0.4 |
"""


def page(mark: str, *lines: str) -> str:
    """A page with one table."""
    head, *rows = lines
    rule = "| " + " | ".join(["---"] * (head.count("|") - 1)) + " |"
    return "\n".join(["# Page", "", mark, "", head, rule, *rows, ""])


@pytest.mark.parametrize(
    "text",
    [
        page("<!-- measured: Speed of it -->", "| rows | time |", "| 20 | - |"),
        page("<!-- measured: Speed of it -->", "| `rows` | loss | time |", "| **10** | 0.12 | 1.5 s |"),
        page("<!-- measured, k = 5: Loss of it -->", "| algorithm | loss |", "| other | 0.4 |"),
        page("<!-- measured in words -->", "| by | what |", "| it | between 0.1 and 0.4 |"),
        page("", "| rows | other |", "| 10 | 99 |"),
    ],
)
def test_agreement(text: str):
    assert disagreements(text, SMALL) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (page("<!-- measured: Speed of it -->", "| rows | loss |", "| 10 | 0.13 |"), "has no row"),
        (page("<!-- measured: Speed of it -->", "| rows | loss |", "| 10 | 0.34 |"), "has no row"),
        (page("<!-- measured: Speed of it -->", "| rows | gain |", "| 10 | 0.12 |"), "has no column 'gain'"),
        (page("<!-- measured: Nothing -->", "| rows | loss |", "| 10 | 0.12 |"), "begins 0 titles"),
        (page("", "| rows | loss | time |", "| 10 | 0.12 | 1.5 s |"), "has no mark"),
        (page("By `python benchmarks/run.py`:", "| a | b |", "| 1 | 2 |"), "has no mark"),
        (page("<!-- measured, k = 5: Loss of it -->", "| algorithm | loss |", "| other | 0.3 |"), "0.4 for other"),
        (page("<!-- measured, k = 9: Loss of it -->", "| algorithm | loss |", "| other | 0.3 |"), "no column 'k = 9'"),
        (page("<!-- measured, k = 5: Loss of it -->", "| algorithm | a | b |", "| one | 0.2 | 1 |"), "1 tables for 2"),
    ],
)
def test_what_differs_is_told(text: str, said: str):
    assert any(said in one for one in disagreements(text, SMALL))


def test_a_changed_figure_of_diffgen_would_be_noticed():
    text = (DOCS / "theory" / "diffgen.md").read_text(encoding="utf-8")
    changed = text.replace("82.21", "82.12")
    assert changed != text
    assert len(disagreements(changed, RESULTS)) == 1
