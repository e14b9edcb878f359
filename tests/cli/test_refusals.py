"""Wrong uses, the message that a user reads, and what is left on disk: nothing."""

from __future__ import annotations

import errno
from pathlib import Path

import polars as pl
import pytest

PLAN = """
[input]
path = "data.csv"
[columns.age]
role = "quasi"
hierarchy = { kind = "intervals", widths = [10], low = 0, high = 100 }
[columns.zip]
role = "quasi"
hierarchy = { kind = "mask" }
[columns.disease]
role = "sensitive"
[privacy]
k_anonymity = 2
"""
DATA = "age,zip,disease\n" + "".join(f"{20 + i % 30},{10000 + i % 7},{'abc'[i % 3]}\n" for i in range(60))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(PLAN)
    Path("data.csv").write_text(DATA)
    return tmp_path


def left(place: Path) -> set[str]:
    return {path.name for path in place.iterdir()} - {"plan.toml", "data.csv", "h.csv"}


def refused(run, place: Path, code: int, *words: str, arguments: tuple[object, ...] = ()):
    done = run("release", "plan.toml", "-o", "out", *arguments)
    assert done.code == code, done.err
    assert done.out == ""
    message = " ".join(done.err.split())
    assert message.startswith("sfumato: ")
    assert "Traceback" not in message
    for word in words:
        assert word in message, (word, message)
    assert left(place) == set()
    as_json = run("release", "plan.toml", "-o", "out", "--json", *arguments)
    assert as_json.code == code
    assert as_json.json["exit_code"] == code
    assert as_json.err == ""


def change(old: str, new: str) -> None:
    text = Path("plan.toml").read_text()
    assert old in text
    Path("plan.toml").write_text(text.replace(old, new))


def test_a_good_plan_works(run, place):
    assert run("release", "plan.toml", "-o", "out").code == 0
    assert left(place) == {"out", "out.inside.html"}


DATA_FAULTS = {
    "empty file": (b"", 2, ["data.csv", "empty"]),
    "no rows": (b"age,zip,disease\n", 2, ["data.csv", "no rows"]),
    "missing column": (b"age,disease\n20,a\n21,b\n", 2, ["columns.zip", "no column 'zip'", "'age', 'disease'"]),
    "duplicate header": (b"age,zip,zip,disease\n1,2,3,a\n", 2, ["data.csv", "'zip'"]),
    "wrong delimiter": (DATA.replace(",", ";").encode(), 2, ["delimiter"]),
    "non-UTF-8": (DATA.replace("abc"[0], "é", 3).encode("latin-1"), 2, ["data.csv", "latin-1"]),
    "ragged row": (DATA.encode() + b"1,2\n", 2, ["line 62", "expected: 3"]),
    "value outside the limits": (DATA.encode() + b"140,10000,a\n", 2, ["'140' (1 rows)", "0 to 100"]),
    "one row": (b"age,zip,disease\n20,10000,a\n", 3, ["k-anonymity (k = 2)", "reaches 1"]),
    "text where numbers are needed": (DATA.encode() + b"old,10000,a\n", 2, ["columns.age", "type text"]),
}


@pytest.mark.parametrize("name", DATA_FAULTS)
def test_bad_data(run, place, name):
    content, code, words = DATA_FAULTS[name]
    Path("data.csv").write_bytes(content)
    if name == "wrong delimiter":
        change('path = "data.csv"', 'path = "data.csv"\ndelimiter = ","')
    if name == "text where numbers are needed":
        words = ["'age'", "type text"]
    refused(run, place, code, *words)


PLAN_FAULTS = {
    "unknown role": ('role = "sensitive"', 'role = "secret"', 2, ["columns.disease.role", "'sensitive'", "'secret'"]),
    "unknown key": ("k_anonymity = 2", "k_anonimity = 2", 2, ["privacy.k_anonimity", "did you mean 'k_anonymity'"]),
    "unknown column": ("[columns.zip]", "[columns.zipcode]", 2, ["columns.zipcode", "did you mean 'zip'"]),
    "k larger than the table": ("k_anonymity = 2", "k_anonymity = 61", 3, ["k = 61", "60 rows", "reaches 60"]),
    "k of the wrong type": ("k_anonymity = 2", 'k_anonymity = "2"', 2, ["privacy.k_anonymity", "whole number"]),
    "k of zero": ("k_anonymity = 2", "k_anonymity = 0", 2, ["privacy.k_anonymity", "at least 1"]),
    "no sensitive column": (
        'role = "sensitive"\n[privacy]',
        'role = "keep"\n[privacy]\nl_diversity = { l = 2 }',
        2,
        ["privacy.l_diversity", "needs a sensitive column"],
    ),
    "entropy out of reach": (
        "k_anonymity = 2",
        'l_diversity = { kind = "entropy", l = 5 }',
        3,
        ["no generalization can reach entropy l = 5", "exp(H) = 3"],
    ),
    "all rows suppressed": (
        "k_anonymity = 2",
        'l_diversity = { kind = "simple", l = 4 }\n[algorithm]\nmax_suppressed = 1.0',
        3,
        ["every one of the 60 rows would have to be suppressed"],
    ),
    "a hierarchy that misses values": (
        'hierarchy = { kind = "mask" }',
        'hierarchy = { file = "h.csv" }',
        2,
        ["h.csv", "no leaf for", "'10002' (9 rows)"],
    ),
    "no hierarchy": ('hierarchy = { kind = "mask" }', "", 2, ["columns.zip.hierarchy is missing"]),
    "unknown hierarchy": ('kind = "mask"', 'kind = "masc"', 2, ["columns.zip.hierarchy.kind", "did you mean 'mask'"]),
    "no requirement": ("k_anonymity = 2", "", 2, ["privacy: no requirement"]),
    "differential privacy": ("k_anonymity = 2", "epsilon = 1.0", 2, ["columns.disease.role", "no epsilon covers"]),
    "unknown metric": ("[privacy]", '[utility]\nmetric = "los"\n[privacy]', 2, ["did you mean 'loss'"]),
    "unknown algorithm": ("[privacy]", '[algorithm]\nname = "best"\n[privacy]', 2, ["algorithm.name", "'optimal'"]),
    "suppression above one": (
        "[privacy]",
        "[algorithm]\nmax_suppressed = 4\n[privacy]",
        2,
        ["max_suppressed", "between 0 and 1"],
    ),
    "classification without target": (
        "[privacy]",
        '[utility]\nmetric = "classification"\n[privacy]',
        2,
        ["role = 'target'"],
    ),
    "broken TOML": ("[privacy]", "[privacy", 2, ["plan.toml", "not valid TOML"]),
    "no data file": ('path = "data.csv"', 'path = "dada.csv"', 2, ["dada.csv"]),
    "no path": ('path = "data.csv"', "", 2, ["input.path is missing"]),
}


@pytest.mark.parametrize("name", PLAN_FAULTS)
def test_bad_plans(run, place, name):
    old, new, code, words = PLAN_FAULTS[name]
    Path("h.csv").write_text("10000;1*;*\n10001;1*;*\n")
    change(old, new)
    refused(run, place, code, *words)


def test_an_existing_bundle_is_not_overwritten(run, place):
    assert run("release", "plan.toml", "-o", "out").code == 0
    before = Path("out/manifest.json").read_bytes()
    again = run("release", "plan.toml", "-o", "out")
    assert (again.code, "exists already" in again.err) == (2, True)
    assert Path("out/manifest.json").read_bytes() == before
    assert run("release", "plan.toml", "-o", "out", "--force", "--set", "privacy.k_anonymity=3").code == 0
    assert Path("out/manifest.json").read_bytes() != before
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("x")
    kept = run("release", "plan.toml", "-o", "mine", "--force")
    assert (kept.code, "is no bundle" in kept.err) == (2, True)
    assert Path("mine/thesis.txt").read_text() == "x"
    assert run("release", "plan.toml", "-o", "out2", "--inside", "out2/x.html").code == 2


@pytest.mark.parametrize(
    "stage",
    [
        "sfumato.pipeline.release.rendered",
        "sfumato.reports.table.render",
        "sfumato.pipeline.release.verify_written",
    ],
)
@pytest.mark.parametrize(
    ("trouble", "code", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), 2, "No space left on device; nothing was left behind"),
        (KeyboardInterrupt(), 130, "interrupted; nothing was left half-written"),
    ],
)
@pytest.mark.parametrize("existing", [False, True])
def test_disk_full_and_interrupt_leave_a_whole_bundle_or_none(
    run, place, monkeypatch, stage, trouble, code, words, existing
):
    if existing:
        assert run("release", "plan.toml", "-o", "out").code == 0
        before = {path.name: path.read_bytes() for path in Path("out").iterdir()}

    def fail(*_: object, **__: object) -> None:
        raise trouble

    monkeypatch.setattr(stage, fail)
    done = run("release", "plan.toml", "-o", "out", *(["--force"] if existing else []))
    assert (done.code, words in done.err) == (code, True), done.err
    if existing:
        assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == before
        assert left(place) == {"out", "out.inside.html"}
    else:
        assert left(place) == set()


def test_a_really_full_disk(place):
    """A limit on the size of written files makes the system refuse in the middle of a write."""
    import resource
    import subprocess
    import sys

    rows = pl.DataFrame({"age": [20] * 20_000, "zip": ["10000"] * 20_000, "disease": ["a" * 20] * 20_000})
    rows.write_csv("data.csv")
    done = subprocess.run(
        [sys.executable, "-m", "sfumato", "release", "plan.toml", "-o", "out"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
    )
    assert done.returncode == 2, done.stderr
    assert "out cannot be written: File too large; nothing was left behind" in done.stderr
    assert left(place) == set()


def test_a_folder_that_cannot_be_written(run, place):
    Path("file").write_text("")
    assert run("release", "plan.toml", "-o", "file/out").code == 2
    done = run("release", "nowhere.toml")
    assert (done.code, "does not exist" in done.err) == (2, True)
    assert run("verify", "nowhere").code == 2
    assert run("release").code == 2
