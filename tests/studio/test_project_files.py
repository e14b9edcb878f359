"""Plans as text, projects on disk, and the folder that is served."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import DataError, PlanError
from sfumato.pipeline.plan.plan import Plan
from sfumato.studio.plan_text import confined_plan, edited, refuse_outside
from sfumato.studio.projects import Projects, ServedFolder, Stale
from tests.weights import examples

TEXT = """# about this plan
[input]
path = "people.csv"  # the table

[columns.age]
role = "quasi"
hierarchy = { kind = "intervals", widths = [5, 10], low = 0, high = 100 }

[privacy]
k_anonymity = 5  # five

[algorithm]
max_suppressed = 0.04
"""
values = st.one_of(
    st.integers(-5, 5),
    st.floats(0, 1),
    st.booleans(),
    st.text(min_size=0, max_size=8),
    st.lists(st.text(max_size=5), max_size=3),
    st.dictionaries(st.text("abc-é \"'", min_size=1, max_size=4), st.integers(0, 9), max_size=3),
)
paths = st.sampled_from(
    [("privacy", "k_anonymity"), ("privacy", "l_diversity"), ("columns", "age", "role"),
     ("columns", "age", "hierarchy"), ("algorithm", "name"), ("utility", "metric"), ("columns", "zip code", "role")]
)  # fmt: skip


def alone(work):
    """The result of a coroutine, in a thread of its own: a browser's loop may run in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def at(tree: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        tree = tree.get(part, {}) if isinstance(tree, dict) else {}
    return tree


@given(paths, values)
@examples(100)
def test_any_key_is_set_and_taken_out_and_nothing_else_changes(path, value):
    before, made = tomllib.loads(TEXT), edited(TEXT, list(path), value)
    assert at(tomllib.loads(made), path) == value
    assert "# about this plan" in made
    assert "# the table" in made
    gone = tomllib.loads(edited(made, list(path), None))
    assert at(gone, path) == {}
    other = (("input", "path"), ("columns", "age", "hierarchy"), ("algorithm", "max_suppressed"))
    assert all(at(gone, one) == at(before, one) for one in other if one != path)


@given(st.integers(1, 50), st.sampled_from(["loss", "ncp", "height"]), st.booleans())
@examples(40)
def test_edits_give_the_plan_that_the_tree_gives(k, metric, drop):
    text = edited(edited(TEXT, ["privacy", "k_anonymity"], k), ["utility", "metric"], metric)
    text = edited(text, ["columns", "zip"], {"role": "drop" if drop else "keep"})
    tree = tomllib.loads(TEXT)
    tree["privacy"]["k_anonymity"], tree["utility"] = k, {"metric": metric}
    tree["columns"]["zip"] = {"role": "drop" if drop else "keep"}
    assert Plan.parse(tomllib.loads(text)) == Plan.parse(tree)


@pytest.fixture
def projects(tmp_path: Path) -> Projects:
    return Projects(served=ServedFolder(root=tmp_path))


def test_a_stale_edit_is_refused_and_nothing_is_lost(projects):
    one = projects.begin("one", TEXT)
    old = one.revision
    one.edit([(["privacy", "k_anonymity"], 7)], old)
    with pytest.raises(Stale, match="another tab"):
        one.edit([(["privacy", "k_anonymity"], 9)], old)
    assert "k_anonymity = 7  # five" in one.text


def test_what_a_crash_left_is_removed_and_whole_runs_stay(projects):
    one = projects.begin("one", TEXT)
    for name in ("0001", ".new-0002"):
        (one.folder / "runs" / name / "release").mkdir(parents=True)
    (one.folder / "runs" / "0001" / "result.json").write_text("{}")
    projects.recover()
    assert [run.number for run in one.runs] == [1]
    assert not (one.folder / "runs" / ".new-0002").exists()
    assert one.next_run() == 2


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "x" * 80, "nul\0", "<script>"])
def test_names_that_are_no_names_find_no_project(projects, name):
    with pytest.raises(DataError, match="no project"):
        projects.one(name)


@given(st.text(max_size=70))
@examples(60)
def test_every_name_becomes_one_that_a_project_can_have(name):
    found = Projects(served=ServedFolder(root=Path("/nowhere-at-all"))).free_name(name)
    assert found
    assert "/" not in found
    assert not found.startswith(".")


def test_notes_survive_and_broken_ones_are_begun_anew(projects):
    one = projects.begin("one", TEXT)
    one.remember(guided=True)
    one.remember(picked=3)
    assert one.notes == {"guided": True, "picked": 3}
    (one.folder / "studio.json").write_text("{broken")
    assert one.notes == {}
    assert one.picked is None


@pytest.mark.parametrize(
    "text",
    [
        '[input]\npath = "/etc/passwd"',
        '[input]\npath = "../../../x.csv"',
        '[input]\npath = "link.csv"',
        '[columns.a]\nrole = "quasi"\nhierarchy = { file = "/etc/hostname" }',
        '[privacy]\nledger = "/tmp/ledger.db"',
        '[attack]\nearlier = ["/etc/ssl"]',
    ],
)
def test_a_plan_reads_nothing_outside(projects, tmp_path_factory, text):
    one = projects.begin("one", text)
    outside = tmp_path_factory.mktemp("outside") / "secret.csv"
    outside.write_text("a\n1\n")
    (one.folder / "link.csv").symlink_to(outside)
    with pytest.raises(PlanError, match="outside of the folder"):
        confined_plan(one.folder, text)
    assert "outside of the folder" in str(one.problem)


def test_values_that_only_look_like_paths_are_values(tmp_path):
    tree = {"input": {"path": "a.csv", "missing": ["/", "n/a", ".."]}, "columns": {"a": {"values": ["/x/y", "../z"]}}}
    refuse_outside(tree, tmp_path / "sfumato-studio" / "one", tmp_path)


def test_a_file_is_taken_whole_or_not_at_all(tmp_path):
    served = ServedFolder(root=tmp_path, most_bytes=10)

    async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
        for part in parts:
            yield part

    assert alone(served.take("a.csv", chunks(b"a,b\n", b"1,2\n"), tmp_path)).read_bytes() == b"a,b\n1,2\n"
    for name, parts in (("b.csv", (b"x" * 6, b"y" * 6)), ("c.csv", ()), (".d", (b"x",)), ("", (b"x",))):
        with pytest.raises(DataError):
            alone(served.take(name, chunks(*parts), tmp_path))
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]


def test_only_tables_are_listed_and_no_links(tmp_path):
    (tmp_path / "a.csv").write_text("a\n")
    (tmp_path / "notes.md").write_text("x")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    (tmp_path / "sfumato-studio").mkdir()
    (tmp_path / "sfumato-studio" / "b.csv").write_text("b\n")
    assert [one.name for one in ServedFolder(root=tmp_path).files()] == ["a.csv"]
