"""The commands as a new user meets them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf

HEAVY = {"numpy", "polars", "scipy", "pandas", "jinja2", "narwhals", "pyarrow", "rich.table"}


def loaded(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split("\n"))


def test_importing_and_asking_for_help_load_nothing_heavy():
    door = loaded("import sfumato")
    assert not door & HEAVY
    assert len(door - loaded("")) < 60
    helped = loaded(
        "import contextlib, io\nfrom sfumato.cli.main import app\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n    app(['--help'])"
    )
    assert not helped & HEAVY
    assert len(helped) < 400


def test_a_release_loads_its_own_algorithm_only(tmp_path: Path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 5)
    (tmp_path / "p.toml").write_text(
        "[input]\npath = 't.csv'\n[columns.a]\nrole = 'quasi'\nhierarchy = { kind = 'flat' }\n"
        "[columns.b]\nrole = 'keep'\n[privacy]\nk_anonymity = 2\n[algorithm]\nname = 'mondrian'\n"
    )
    seen = loaded(
        f"import sfumato as sf\nsf.release(sf.Plan.load({str(tmp_path / 'p.toml')!r})).write({str(tmp_path / 'o')!r})"
    )
    assert "sfumato.algorithms.mondrian_cuts" in seen
    others = (
        "sfumato.algorithms.diffgen",
        "sfumato.algorithms.items",
        "sfumato.algorithms.local",
        "sfumato.collection",
    )
    assert not [name for name in seen if name.startswith(others)]
    assert not seen & {"narwhals", "scipy", "numba", "opendp", "sklearn"}


@pytest.mark.slow
def test_the_tour(run, tmp_path: Path):
    done = run("demo", "-o", tmp_path / "tour", "--json")
    assert done.code == 0
    found = done.json
    assert found["found_before"] > 0.9 * found["rows"]
    assert found["found_after"] == 0
    assert run("verify", tmp_path / "tour/release").code == 0
    again = run("demo", "-o", tmp_path / "tour")
    assert again.code == 0
    assert "sfumato verify" in again.out
    stricter = run("release", tmp_path / "tour/plan.toml", "--set", "privacy.k_anonymity=20", "-o", tmp_path / "tour/s")
    assert stricter.code == 0


def test_catalogs(run):
    for verb, name in (("models", "k-anonymity"), ("algorithms", "optimal"), ("metrics", "discernibility")):
        assert name in run(verb).out
        assert name in str(run(verb, "--json").json)
    assert run("--version").out.startswith("sfumato ")


def test_verify_prints_and_exits(run, tmp_path: Path):
    columns = {name: {"role": "quasi", "hierarchy": {"kind": "flat"}} for name in ("sex", "race")}
    plan = sf.Plan.parse({"columns": columns, "privacy": {"k_anonymity": 5}})
    bundle = tmp_path / "release"
    sf.release(plan, sf.datasets.census(200, seed=1).select("sex", "race")).write(bundle)
    assert "every claim holds" in run("verify", bundle).out
    with (bundle / "data.csv").open("a") as file:
        file.write("1,2,3\n")
    done = run("verify", bundle)
    assert (done.code, "FAIL" in done.out) == (1, True)
    as_json = run("verify", bundle, "--json")
    assert (as_json.code, as_json.json["holds"]) == (1, False)


@pytest.mark.parametrize(
    ("suffix", "data"), [("csv", "patients"), ("parquet", "patients"), ("csv.gz", "patients"), ("csv", "census")]
)
def test_a_profiled_plan_is_accepted_as_it_is(run, tmp_path: Path, data: str, suffix: str):
    from sfumato.tables.files import write

    write(getattr(sf.datasets, data)(700, seed=1), tmp_path / f"d.{suffix}")
    done = run("profile", tmp_path / f"d.{suffix}", "-o", tmp_path / "plan.toml")
    assert done.code == 0
    for word in ("prosecutor", "journalist", "marketer", "rows singled out"):
        assert word in done.out
    made = run("release", tmp_path / "plan.toml", "-o", tmp_path / "out", "--json")
    assert made.code == 0, made.out
    assert made.json["verified"] is True
    assert run("profile", tmp_path / f"d.{suffix}", "-o", tmp_path / "plan.toml").code == 2


def test_profile_suggests_roles(run, tmp_path: Path):
    sf.datasets.patients(500, seed=1).write_csv(tmp_path / "p.csv")
    found = run("profile", tmp_path / "p.csv", "--json").json
    roles = {column["name"]: column["role"] for column in found["columns"]}
    assert roles == {
        "name": "identifier",
        "birth_date": "quasi",
        "postal_code": "quasi",
        "sex": "quasi",
        "job": "quasi",
        "diagnosis": "sensitive",
    }
    assert found["risk"]["unique"] > 0.9
    assert found["combinations"][0]["unique"] > 0.9


@pytest.mark.parametrize(
    ("name", "frame"),
    [
        ("one row", pl.DataFrame({"age": [5], "disease": ["x"]})),
        ("one column", pl.DataFrame({"city": ["a", "b", "a", "b", "a", "a", "b"]})),
        ("constant", pl.DataFrame({"age": [30] * 9, "sex": ["m"] * 9, "diagnosis": ["a"] * 9})),
        (
            "odd names",
            pl.DataFrame({'my "age", in years': range(50), "z.i p": ["01234"] * 50, "größe": ["x", "y"] * 25}),
        ),
        (
            "all missing",
            pl.DataFrame({"age": [None] * 9, "sex": ["m", "f", "m"] * 3}, schema_overrides={"age": pl.Int64}),
        ),
    ],
)
def test_profiled_plans_of_odd_tables(run, tmp_path: Path, name, frame):
    frame.write_parquet(tmp_path / "d.parquet")
    assert run("profile", tmp_path / "d.parquet", "-o", tmp_path / "p.toml").code == 0
    made = run("release", tmp_path / "p.toml", "-o", tmp_path / "out", "--json")
    assert made.code == 0, (name, made.out)


def test_interrupting_a_long_search_leaves_nothing(tmp_path: Path):
    """A real interrupt signal in the middle of a search: exit code 130, no bundle, no temporary folder."""
    sf.datasets.census(30_000, seed=1).write_csv(tmp_path / "c.csv")
    lines = ['[input]\npath = "c.csv"\n[privacy]\nl_diversity = { kind = "entropy", l = 6 }\n']
    lines += ["[algorithm]\nmax_suppressed = 0.3\n"]
    names = ("age", "workclass", "education", "marital-status", "relationship", "race", "sex", "native-country")
    lines += [f'[columns.{n}]\nrole = "quasi"\nhierarchy = {{ bundled = "census/{n}" }}\n' for n in names]
    lines += ['[columns.occupation]\nrole = "sensitive"\n']
    (tmp_path / "p.toml").write_text("\n".join(lines))
    before = set(os.listdir(tmp_path))
    started = subprocess.Popen(
        [sys.executable, "-m", "sfumato", "release", "p.toml", "-o", "out"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(2.5)
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=60)
    if started.returncode == 0:
        pytest.skip("the search was over before the interrupt came")
    assert (started.returncode, "interrupted" in err) == (130, True), err
    assert set(os.listdir(tmp_path)) == before
