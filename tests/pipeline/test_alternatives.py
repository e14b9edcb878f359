"""What auto says of other searches on the same table, which one the purpose takes, and that a bundle says no more."""

from __future__ import annotations

import json

import polars as pl
import pytest

import sfumato as sf
from sfumato.core.errors import Interrupted, OutOfTime, PlanError
from sfumato.core.run_context import Work


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return sf.datasets.census(400, seed=4)


def plan(**more: dict) -> sf.Plan:
    return sf.Plan.parse(
        {
            "columns": {
                "age": {
                    "role": "quasi",
                    "hierarchy": {"kind": "intervals", "widths": [5, 10, 20], "low": 0, "high": 100},
                },
                "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
                "education": {"role": "quasi", "hierarchy": {"kind": "flat"}},
                "occupation": {"role": "sensitive"},
            },
            "privacy": {"k_anonymity": 5},
            **more,
        }
    )


def test_the_figures_are_those_of_the_named_searches(people):
    made = sf.release(plan(), people)
    assert [one.algorithm for one in made.beside] == ["mondrian", "local"]
    for one in made.beside:
        alone = sf.release(plan(algorithm={"name": one.algorithm}), people)
        assert one.value == pytest.approx(alone.utility["loss"], abs=1e-12)
        assert not one.alike


def test_one_reading_keeps_the_optimum_and_least_loss_takes_the_best(people):
    optimum, best = sf.release(plan(), people), sf.release(plan(utility={"purpose": "least-loss"}), people)
    assert optimum.algorithm == "optimal"
    assert best.algorithm in ("mondrian", "local")
    losses = [best.utility["loss"], *(one.value for one in best.beside)]
    assert losses[0] == min(losses)
    assert "lost least by loss" in best.why
    assert {one.algorithm for one in best.beside} == {"optimal", "mondrian", "local"} - {best.algorithm}
    assert next(one for one in best.beside if one.algorithm == "optimal").alike


def test_a_named_algorithm_tries_no_other(people):
    assert not sf.release(plan(algorithm={"name": "optimal"}), people).beside


def test_no_time_for_others(people):
    assert not sf.release(plan(algorithm={"alternatives": 0}), people).beside


def test_a_model_that_judges_the_whole_table_says_why_others_gave_none(people):
    asked = plan(privacy={"lkc": {"l": 2, "k": 2, "c": 0.9, "values": ["Sales"]}})
    made = sf.release(asked, people)
    assert made.claims[0].holds
    for one in made.beside:
        assert (one.value is None) == bool(one.why)


def test_the_bundle_does_not_tell_what_others_would_lose(people, tmp_path):
    made = sf.release(plan(), people)
    made.write(tmp_path / "out", inside=tmp_path / "inside.html")
    public = "".join(path.read_text() for path in (tmp_path / "out").iterdir() if path.suffix in (".html", ".json"))
    inside = (tmp_path / "inside.html").read_text()
    shown = f"{made.beside[0].value:.4g}"
    assert "Other searches on the same table" in inside
    assert shown in inside
    assert "Other searches" not in public
    assert "alternatives" not in public
    assert str(made.beside[0].value) not in public


def test_the_purpose_stands_in_the_manifest(people, tmp_path):
    made = sf.release(plan(utility={"purpose": "least-loss"}), people)
    assert made.write(tmp_path / "out").holds
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["plan"]["utility"]["purpose"] == "least-loss"
    assert sf.verify(tmp_path / "out").holds


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"utility": {"purpose": "least loss"}}, "utility.purpose"),
        ({"algorithm": {"alternatives": -1}}, "algorithm.alternatives"),
        ({"algorithm": {"alternatives": float("inf")}}, "algorithm.alternatives"),
    ],
)
def test_refusals(more, told):
    with pytest.raises(PlanError, match=told):
        plan(**more)


def test_a_hard_limit_ends_work_that_cannot_stop_early():
    work = Work().within(1e-9, hard=True)
    sum(range(100_000))
    with pytest.raises(OutOfTime):
        work.advance("search", 1, 2)
    Work().within(1e-9).advance("search", 1, 2)


def test_a_request_to_stop_is_heard_among_the_others(people, monkeypatch):
    from sfumato.pipeline.methods.table import stages

    real, work = stages.search_by, Work()

    def stop_later(asked, prepared, name, inner, **said):
        if name == "local":
            work.cancelled.set()
        return real(asked, prepared, name, inner, **said)

    monkeypatch.setattr(stages, "search_by", stop_later)
    with pytest.raises(Interrupted):
        sf.release(plan(), people, work=work)
