"""``sfumato frontier`` as a user meets it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sfumato as sf

PLAN = """
[input]
path = "census.csv"

[columns.sex]
role = "quasi"
hierarchy = { bundled = "census/sex" }

[columns.race]
role = "quasi"
hierarchy = { bundled = "census/race" }

[columns.income]
role = "target"

[privacy]
k_anonymity = 4

[algorithm]
max_suppressed = 0.1

[frontier]
algorithms = ["optimal", "mondrian"]
jobs = 1

[frontier.grid]
"privacy.k_anonymity" = [2, 10]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    sf.datasets.census(200, seed=5).write_csv(tmp_path / "census.csv")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


def test_it_runs_resumes_and_picks(run, place: Path):
    done = run("frontier", place / "plan.toml", "-o", place / "out")
    assert done.code == 0, done.err
    assert "4 points: 4 verified." in done.out
    assert "do not publish" in done.out
    assert "--pick" in done.out
    kept = {path: path.stat().st_mtime_ns for path in (place / "out/points").iterdir()}
    again = run("frontier", place / "plan.toml", "-o", place / "out", "--json")
    assert again.code == 0
    found = again.json
    assert [point["point"] for point in found["points"]] == [1, 2, 3, 4]
    assert all(point["verified"] for point in found["points"])
    assert {path: path.stat().st_mtime_ns for path in (place / "out/points").iterdir()} == kept

    picked = run("frontier", place / "plan.toml", "-o", place / "out", "--pick", 3, "--bundle", place / "b", "--json")
    assert picked.code == 0
    assert (picked.json["verified"], picked.json["same_utility"]) == (True, True)
    assert picked.json["utility"] == found["points"][2]["utility"]
    assert run("verify", place / "b").code == 0
    twice = run("frontier", place / "plan.toml", "-o", place / "out", "--pick", 3, "--bundle", place / "b")
    assert (twice.code, "exists already" in twice.err) == (2, True)
    forced = run("frontier", place / "plan.toml", "-o", place / "new", "--pick", 3, "--bundle", place / "b", "--force")
    assert forced.code == 0
    assert "was not made in" in forced.out
    assert "Publish one point only" in forced.out
    others = run("frontier", place / "plan.toml", "-o", place / "out", "--algorithms", "datafly", "--pick", 1)
    assert (others.code, "as in the run that made it" in others.err) == (2, True)
    none = run("frontier", place / "plan.toml", "-o", place / "out", "--algorithms", ",")
    assert (none.code, "no algorithm is named" in none.err) == (2, True)
    assert not (place / "new").exists()


def test_the_command_line_says_it_instead(run, place: Path):
    named = ["--algorithms", "datafly", "--grid", "privacy.k_anonymity=3,6", "--grid", "utility.metric=loss,ncp"]
    strict = ["--set", "algorithm.max_suppressed=0.0"]
    done = run("frontier", place / "plan.toml", "-o", place / "out", "--json", *named, *strict)
    assert done.code == 0
    told = [(p["algorithm"], p["parameters"]) for p in done.json["points"]]
    assert told == [
        ({"name": "datafly"}, {"privacy.k_anonymity": k, "utility.metric": metric})
        for k in (3, 6)
        for metric in ("loss", "ncp")
    ]
    assert all(point["suppressed_rows"] == 0 for point in done.json["points"])
    sf.datasets.census(150, seed=6).write_csv(place / "other.csv")
    other = run("frontier", place / "plan.toml", "-o", place / "out", "--input", place / "other.csv", "--json")
    assert other.json["original"]["rows"] == 150


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--grid", "privacy.k_anonymity=2,0"], 2, "privacy.k_anonymity: k must be at least 1"),
        (["--grid", "privacy.kanonymity=2"], 2, "privacy.kanonymity: unknown key"),
        (["--grid", "privacy.k_anonymity"], 2, "must look like privacy.k_anonymity=2,5,10"),
        (["--grid", "privacy.k_anonymity=2,2"], 2, "listed twice"),
        (["--algorithms", "optimal,mondian"], 2, "did you mean 'mondrian'"),
        (["--seconds", "0"], 2, "frontier.seconds must be above 0"),
        (["--jobs", "0"], 2, "frontier.jobs must be at least 1"),
        (["--pick", "9"], 2, "numbered from 1 to 4"),
        (["--pick", "0"], 2, "numbered from 1 to 4"),
        (["--input", "none.csv"], 2, "no such file"),
        (["--grid", "privacy.k_anonymity=900", "--pick", "1"], 3, "out of reach"),
    ],
)
def test_refusals(run, place: Path, arguments: list[str], code: int, message: str):
    done = run("frontier", place / "plan.toml", "-o", place / "out", *arguments)
    assert (done.code, message in done.err) == (code, True), done.err
    told = run("frontier", place / "plan.toml", "-o", place / "out", "--json", *arguments)
    assert (told.code, told.json["exit_code"]) == (code, code)
    assert message in told.json["error"]


def test_exit_codes_and_words_where_nothing_could_be_made(run, place: Path):
    done = run("frontier", place / "plan.toml", "-o", place / "out", "--grid", "privacy.k_anonymity=900")
    assert done.code == 3
    assert "1, 2: k-anonymity (k = 900) is out of reach" in done.out
    late = run("frontier", place / "plan.toml", "-o", place / "late", "--seconds", "1e-9")
    assert late.code == 0
    assert "4 points: 4 not run." in late.out
    assert "goes on where this one stopped" in late.out


@pytest.mark.slow
def test_an_interrupt_leaves_what_is_finished(place: Path):
    command = [sys.executable, "-m", "sfumato", "frontier", "plan.toml", "-o", "out", "--jobs", "2"]
    command += ["--grid", f"privacy.k_anonymity={','.join(map(str, range(2, 150)))}"]
    process = subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    points = place / "out/points"
    for _ in range(600):
        if points.is_dir() and len(list(points.glob("point-*.json"))) >= 3:
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err.strip() == "sfumato: interrupted; nothing was left half-written"
    finished = list(points.glob("*.json"))
    assert 3 <= len(finished) < 296
    assert all(json.loads(path.read_text())["name"] == path.stem for path in finished)
    assert not (place / "out/frontier.html").exists()


def test_asking_for_help_loads_no_learner():
    script = (
        "import contextlib, io, sys\nfrom sfumato.cli.main import app\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    app(['frontier', '--help'])\n"
        "import sfumato.pipeline.release, sfumato.pipeline.frontier.frontier\n"
        "print('\\n'.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"sklearn"} & set(done.stdout.split("\n"))
