"""Every example runs and says what its text promises."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SAYS = {
    "people_per_group": [
        "480 visits of 150 patients",
        "counted by rows: 9 rows at least, age at level 2",
        "counted by people: 12 people at least, age at level 3",
    ],
    "baskets": [
        "coarser: alcohol, food, soft drinks",
        "left out: beer, bread, milk, tea",
        "43% of the frequent sets lost, 0.286 of the detail; holds: True",
        "either: alcohol, bread, milk, soft drinks",
        "juice -> left out",
    ],
    "city_paths": [
        "before: 2 known readings fit 1 rows at the worst",
        "after: 1 known readings fit at least 5 rows at the worst",
        "after: 2 known readings fit at least 5 rows at the worst",
        "after: 3 known readings fit 1 rows at the worst",
        "rows: 2000",
        "supports that changed: 0",
        "verified from its bytes: True",
    ],
    "compare_releases": [
        "4 mondrian, k = 2: verified, loss 0.0",
        "always the majority: 0.775",
        "['frontier.html', 'points', 'points.csv', 'points.json']",
        "the same loss: True",
    ],
    "judge_a_table": [
        "k-anonymity: holds, reached 2.000",
        "distinct-l-diversity: fails, reached 1.000",
        "confidence-bounding: fails, reached 1.000",
        "t-closeness: holds, reached 0.429",
    ],
    "release_a_frame": ["2000 rows in", "k-anonymity: at least 5 required", "holds: True"],
    "shifted_dates": [
        "plain: of 731 shifts 79 remain in the median and",
        "2 in the worst case; 100.0% of dates are published",
        "both: of 105 shifts 105 remain in the median and",
        "105 in the worst case; 67.3% of dates are published",
    ],
    "stream_of_visits": [
        "acknowledged: 1600, not yet a block: 50",
        "nothing is lost: True",
        "batches: 3, read: 2750",
        "drawn rows: 2750 with those withheld",
        "the mean age is near the true one: True",
        "every batch and their chain hold: True",
    ],
    "survey": [
        "promised for both answers together: ln 3 + 4",
        "asked again, the same answer: True",
        "the estimated share of smokers is near the true 30 %: True",
    ],
    "voter_roll": [
        "raw: Mary, John, Peter, Diana, William found with certainty",
        "[['[20-30)', 'Northeastern US'], ['[30-40)', 'Western US']]",
        "release: 0 found with certainty, best chance 0.333",
    ],
}


def test_every_example_is_run() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert [text for text in SAYS[name] if text not in said] == []


@pytest.mark.parametrize("name", SAYS)
def test_an_example_is_short_and_says_what_is_secret(name: str) -> None:
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    assert "Secret from" in text
    assert "Becomes public" in text
