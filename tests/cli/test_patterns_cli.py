"""Publishing patterns, and looking for channels in published documents, as commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

BASKETS = "basket\n" + "bread|milk\n" * 12 + "bread|milk|tea\n" * 11 + "milk|tea\n" * 2 + "milk\n" * 9


def test_patterns_are_published_and_checked_from_their_bytes(tmp_path: Path, run):
    (tmp_path / "b.csv").write_text(BASKETS, "utf-8")
    data, file = str(tmp_path / "b.csv"), tmp_path / "p.json"
    ran = run("rules", data, "--sets", "basket", "--publish", file, "--k", 5, "--json")
    told = ran.json["published"]
    assert (ran.code, told["withheld"], told["proven"]) == (0, 2, True)
    assert json.loads(file.read_text("utf-8"))["withheld"] == 2
    ran = run("channels", file, "--json")
    assert (ran.code, ran.json["many"], ran.json["k"]) == (0, 0, 5)
    whole = json.loads(file.read_text("utf-8"))
    names = {tuple(one["items"]) for one in whole["sets"]}
    true = {("bread", "milk", "tea"): 11, ("bread", "tea"): 11, ("milk", "tea"): 13, ("tea",): 13}
    whole["sets"] += [{"items": list(items), "rows": rows} for items, rows in true.items() if items not in names]
    (tmp_path / "q.json").write_text(json.dumps(whole), "utf-8")
    ran = run("channels", file, tmp_path / "q.json")
    assert (ran.code, "of 1 to 4 people can be told from 2 documents together" in ran.out) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--publish", "p.json"], "--publish needs --k"),
        (["--k", "5"], "--k and --repair go with --publish"),
        (["--publish", "p.csv", "--k", "5"], "must end in .json"),
        (["--publish", "p.json", "--k", "1"], "--k must be at least 2"),
        (["--publish", "p.json", "--k", "99"], "k can be 34 at most"),
        (["--publish", "p.json", "--k", "5", "--repair", "hope"], "--repair must be"),
    ],
)
def test_half_of_what_publishing_needs_is_refused(tmp_path: Path, monkeypatch, run, arguments, said):
    monkeypatch.chdir(tmp_path)
    Path("b.csv").write_text(BASKETS, "utf-8")
    ran = run("rules", "b.csv", "--sets", "basket", *arguments)
    assert ran.code in (2, 3)
    assert said in ran.err
    assert not Path("p.json").exists()
