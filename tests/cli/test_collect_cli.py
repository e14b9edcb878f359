"""``sfumato collect``: the whole way from questions to distributions, and one clear message for everything else."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import polars as pl
import pytest

QUESTIONS = """
[questions.age]
kind = "laplace"
low = 0
high = 99
epsilon = 4
[questions.smokes]
kind = "warner"
values = ["yes", "no"]
keep = "3/4"
[questions.basket]
kind = "items"
values = ["bread", "milk"]
epsilon = 1
"""
ROWS = 300


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("questions.toml").write_text(QUESTIONS)
    frame = pl.DataFrame(
        {
            "id": [f"p{n}" for n in range(ROWS)],
            "age": [20 + n % 50 for n in range(ROWS)],
            "smokes": ["yes" if n % 3 == 0 else "no" for n in range(ROWS)],
            "basket": ["bread;milk" if n % 2 else "" for n in range(ROWS)],
            "class": ["A" if n % 2 else "B" for n in range(ROWS)],
        }
    )
    frame.write_csv("answers.csv")
    return tmp_path


def test_from_questions_to_distributions(run, place: Path):
    made = run("collect", "design", "questions.toml", "-o", "spec.json", "--json")
    assert made.code == 0, made.err
    assert made.json["questions"][1]["epsilon"]["exact"] == "ln 3"
    assert json.loads(Path("spec.json").read_text())["questions"][1] == {
        "name": "smokes",
        "kind": "warner",
        "values": ["yes", "no"],
        "truth": "3/4",
        "lie": "1/4",
    }
    shown = ("collect", "respond", "spec.json", "--input", "answers.csv", "--person", "id", "--memory", "memory.json")
    first = run(*shown, "-o", "shown.csv", "--beside", "class", "--json")
    assert first.code == 0, first.err
    assert first.json["columns"] == ["age", "smokes", "basket", "class"]
    assert run(*shown, "-o", "again.csv", "--beside", "class").code == 0
    assert Path("shown.csv").read_bytes() == Path("again.csv").read_bytes()
    found = run("collect", "reconstruct", "spec.json", "--input", "shown.csv", "--cells", "10", "--json")
    assert found.code == 0, found.err
    cells = [one for one in found.json["cells"] if one["question"] == "age"]
    assert len(cells) == 10
    assert sum(one["share"] for one in cells) == pytest.approx(1)
    more = ("--question", "smokes", "--confidence", "0.9", "-o", "smokes.csv", "--method", "inversion")
    done = run("collect", "reconstruct", "spec.json", "--input", "shown.csv", *more)
    assert done.code == 0, done.err
    assert "nobody's own answer is known" in done.out
    assert pl.read_csv("smokes.csv").columns == ["question", "cell", "share", "count", "low", "high"]
    pair = ("--joint", "--question", "smokes", "--question", "age", "--cells", "4", "--json")
    assert len(run("collect", "reconstruct", "spec.json", "--input", "shown.csv", *pair).json["cells"]) == 8


def test_what_is_shown_for_people(run, place: Path):
    made = run("collect", "design", "questions.toml", "-o", "spec.json")
    assert "All answers of a person together: local epsilon" in made.out
    told = run("collect", "privacy", "spec.json")
    assert told.code == 0
    assert "People who are asked again show the remembered answer." in told.out
    assert run("collect", "privacy", "spec.json", "--json").json["repeats"] == "memoize"
    Path("q.toml").write_text('[questions.age]\nkind = "uniform"\nlow = 0\nhigh = 99\nprivacy = 1\n')
    assert "uniform and Gaussian noise have none" in run("collect", "design", "q.toml", "-o", "u.json").out
    assert "shown answers to 1 questions" in run("collect", "respond", "u.json", "--input", "answers.csv").out


def refused(run, *arguments: str, words: str, code: int = 2):
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    done = run("collect", *arguments)
    assert done.code == code, (done.out, done.err)
    assert done.out == ""
    assert done.err.startswith("sfumato: ")
    assert words in " ".join(done.err.split())
    assert done.err.count("\n") == 1
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('keep = "3/4"', 'keep = "1/4"', "truth must be above lie"),
        ('keep = "3/4"', "keep = nan", "must be a number"),
        ('keep = "3/4"', "", "say either epsilon, or how often"),
        ('values = ["yes", "no"]', 'values = ["yes"]', "2 to 10,000 different texts"),
        ('values = ["yes", "no"]', "", "values must be a list"),
        ("epsilon = 4", "epsilon = 0", "above 0"),
        ("high = 99", "", "high is missing"),
        ("high = 99", "high = -1", "high must be above low"),
        ("high = 99", "hihg = 99", "did you mean 'high'?"),
        ('kind = "laplace"', 'kind = "cauchy"', "must be one of"),
        ('kind = "laplace"', 'kind = "uniform"', "no local epsilon"),
        ("[questions.age]", "[questions.age", "is not TOML"),
        (QUESTIONS, "", "must have at least one"),
        ("[questions.age]", 'repeats = "charge"\nmost = 0\n[questions.age]', "most must be at least 1"),
    ],
)
def test_questions_that_cannot_be_asked(run, place: Path, old: str, new: str, words: str):
    Path("questions.toml").write_text(QUESTIONS.replace(old, new))
    refused(run, "design", "questions.toml", "-o", "spec.json", words=words)


def test_answers_that_cannot_be_taken(run, place: Path):
    run("collect", "design", "questions.toml", "-o", "spec.json")
    ask = ("respond", "spec.json", "-o", "shown.csv", "--input")
    good = Path("answers.csv").read_text()
    cases = {
        "p5,25": ("p5,250", "row 6: question 'age': '250' is no number from 0 to 99"),
        "p7,27,no": ("p7,27,maybe", "row 8: question 'smokes': 'maybe' is none of its answers 'yes', 'no'"),
        "p9,29": ("p9,NaN", "row 10: question 'age': 'NaN' is no number"),
        "age,": ("years,", "the table has no column 'age'"),
        good: ("", "the file is empty"),
    }
    for old, (new, words) in cases.items():
        Path("bad.csv").write_text(good.replace(old, new, 1))
        refused(run, *ask, "bad.csv", words=words)
    refused(run, *ask, "none.csv", words="there is no such file")
    refused(run, *ask, "answers.csv", "--person", "id", words="--person and --memory belong together")
    refused(run, *ask, "answers.csv", "--beside", "age", words="would be shown as it is")
    refused(run, "respond", "spec.json", "--input", "answers.csv", "-o", "shown.txt", words="must end in .csv")
    refused(run, "respond", "none.json", "--input", "answers.csv", words="there is no such file")
    Path("spec2.json").write_text(Path("spec.json").read_text().replace('"lie": "1/4"', '"lie": "1/3"'))
    refused(run, "respond", "spec2.json", "--input", "answers.csv", words="lie = 1/4 would do")
    refused(run, "design", "questions.toml", "-o", "spec.json", words="exists already")
    told = run("collect", "design", "questions.toml", "-o", "spec.json", "--json")
    assert told.json["exit_code"] == told.code == 2


def test_charged_answers_come_to_an_end(run, place: Path):
    Path("q.toml").write_text(
        'repeats = "charge"\nmost = 1\n[questions.smokes]\nkind = "warner"\nvalues = ["yes", "no"]\nepsilon = 1\n'
    )
    run("collect", "design", "q.toml", "-o", "spec.json")
    ask = ("respond", "spec.json", "--input", "answers.csv", "--person", "id", "--memory", "m.json")
    assert run("collect", *ask, "-o", "shown.csv").code == 0
    refused(run, *ask, "-o", "again.csv", words="has answered 1 times, and 1 are granted", code=3)


def test_shown_answers_that_nobody_showed(run, place: Path):
    run("collect", "design", "questions.toml", "-o", "spec.json")
    run("collect", "respond", "spec.json", "--input", "answers.csv", "-o", "shown.csv")
    shown = pl.read_csv("shown.csv", infer_schema=False)
    ask = ("reconstruct", "spec.json", "--input")
    refused(run, *ask, "answers.csv", "--question", "ag", words="did you mean 'age'?")
    refused(run, *ask, "shown.csv", "--question", "basket", words="see baskets")
    refused(run, *ask, "shown.csv", "--cells", "500", words="cells must be at most 100")
    refused(run, *ask, "shown.csv", "--cells", "1", words="cells must be at least 2")
    refused(run, *ask, "shown.csv", "--method", "guess", words="method must be one of")
    refused(run, *ask, "shown.csv", "--stop", "soon", words="rule must be one of")
    refused(run, *ask, "shown.csv", "--question", "age", "--method", "inversion", words="for categories")
    refused(run, *ask, "shown.csv", "--question", "age", "--joint", words="at least two questions")
    for change, words in (("0.25", "was not shown by it"), ("", "row 1: there is no answer")):
        shown.with_columns(age=pl.Series([change, *shown["age"][1:]])).write_csv("bad.csv")
        refused(run, *ask, "bad.csv", words=words)
    shown.drop("age").write_csv("lacking.csv")
    refused(run, *ask, "lacking.csv", words="has no column 'age'")


def test_answers_are_remembered_before_they_are_handed_out(run, place: Path, monkeypatch: pytest.MonkeyPatch):
    """A disk that is full when the answers are written leaves the memory: the next run shows the same draws."""
    run("collect", "design", "questions.toml", "-o", "spec.json")
    ask = ("collect", "respond", "spec.json", "--input", "answers.csv", "--person", "id", "--memory", "m.json")
    with monkeypatch.context() as full:
        full.setattr("sfumato.core.staging.sync", _full)
        done = run(*ask)
    assert done.code == 2
    assert not Path("shown.csv").exists()
    kept = json.loads(Path("m.json").read_text())["people"]
    assert run(*ask).code == 0
    shown = pl.read_csv("shown.csv", infer_schema=False)
    assert [kept[f"p{n}"]["age"][0] for n in range(ROWS)] == shown["age"].to_list()


def test_what_cannot_be_remembered_is_not_handed_out(run, place: Path, monkeypatch: pytest.MonkeyPatch):
    run("collect", "design", "questions.toml", "-o", "spec.json")
    monkeypatch.setattr("sfumato.collection.respondent.sync", lambda path: _full())
    ask = ("respond", "spec.json", "--input", "answers.csv", "--person", "id", "--memory", "m.json")
    refused(run, *ask, words="m.json cannot be written: No space left on device")


def _full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")
