"""``sfumato release`` and ``verify`` on linked tables."""

from __future__ import annotations

from tests.pipeline.linked_tables import LINKED, laid_out


def test_released_verified_and_replaced(run, tmp_path):
    path, out = laid_out(tmp_path), tmp_path / "out"
    made = run("release", path, "-o", out, "--json")
    assert made.code == 0
    assert made.json["verified"]
    assert set(made.json["tables"]) == {"patients", "visits", "drugs"}
    told = run("verify", out)
    assert told.code == 0
    assert "every claim holds" in told.out
    assert run("release", path, "-o", out).code == 2
    again = run("release", path, "-o", out, "--force")
    assert again.code == 0
    assert "people are in all tables" in again.out
    odd = run("release", path, "-o", tmp_path / "two", "--input", path)
    assert odd.code == 2
    assert "is for the plan of one table" in odd.err


def test_what_is_infeasible_says_what_would_do(run, tmp_path):
    path = laid_out(tmp_path, people=12, linked=LINKED.replace("max_suppressed = 0.3", "max_suppressed = 0.0"))
    for name in ("patients", "visits", "drugs"):
        plan = path.parent / f"{name}.toml"
        plan.write_text(plan.read_text().replace("k_anonymity = 3", "k_anonymity = 12"))
    found = run("release", path, "-o", tmp_path / "out")
    told = " ".join(found.err.split())
    assert found.code == 3
    assert "still stand out on the join" in told
    assert 'people.known = "values"' in told
    assert "input.unit" in told
    assert not (tmp_path / "out").exists()
