"""(e, m)-anonymity and personalized privacy, which joining can break, with searches that join: literal judges agree."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms.bottom_up import BottomUp
from sfumato.algorithms.feasibility import as_read
from sfumato.algorithms.local import Local
from sfumato.algorithms.mondrian import Mondrian
from sfumato.algorithms.problem import Problem
from sfumato.algorithms.top_down import TopDown
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import Work
from sfumato.counts.local_table import cells
from sfumato.counts.wildcards import resolved
from sfumato.metrics.information_loss import LossMetric
from sfumato.metrics.metric import measures
from sfumato.models import EMAnonymity, KAnonymity, PersonalizedPrivacy
from sfumato.models.monotone import GuardedEverywhere, NearAnything, steady
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.schema import ObservedDomain
from sfumato.testing.models import classes_of
from sfumato.testing.searches import check_outcome
from tests.brute import models as brute
from tests.example_tables import PATHS, column
from tests.weights import examples

TREE = {"1": ("low", "any"), "2": ("low", "any"), "3": ("mid", "any"), "7": ("high",), "8": ("high",)}
SEARCHES = {
    "mondrian": Mondrian(),
    "boxes": Mondrian(output="boxes"),
    "ordered": Mondrian(order="ordered", choose="width"),
    "local": Local(),
    "optimum": Local(method="optimum"),
    "top-down": TopDown(score="discernibility"),
    "bottom-up": BottomUp(score="loss-privacy"),
    "beam": BottomUp(score="loss-privacy", beam=3),
    "escapes": BottomUp(score="loss", escapes=3, partial=True),
}
TREES = {**PATHS, "f": dict.fromkeys("vwxyz", ())}
"""Groups of several values of the flat column all read as *."""
WISHES = ({"1": "low"}, {"1": "low", "7": "high"}, {"2": "any"}, {"8": "8", "3": "*"})


@st.composite
def asked(draw: st.DrawFn):
    """A model and its literal judge."""
    if draw(st.booleans()):
        e, m = draw(st.sampled_from([0, 1, 2])), draw(st.sampled_from([1.25, 1.5, 2, 3]))
        return EMAnonymity(e=e, m=m, column="s"), lambda rows: brute.e_m(
            rows, ("q",), e=Fraction(e), m=Fraction(m), column="s", relative=False
        )
    p, guards = draw(st.sampled_from([0.25, 0.5, 0.75])), draw(st.sampled_from((*WISHES, None)))
    if guards is None:
        return PersonalizedPrivacy(p=p, column="s", paths=TREE, guard_column="g"), lambda rows: brute.personalized(
            rows, ("q",), p=Fraction(p), column="s", paths=TREE, guard_column="g"
        )
    return PersonalizedPrivacy(p=p, column="s", paths=TREE, guards=guards), lambda rows: brute.personalized(
        rows, ("q",), p=Fraction(p), column="s", paths=TREE, guards=guards
    )


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[str]]:
    rows = draw(st.integers(1, 12))
    names = draw(st.permutations(list(TREES)))[: draw(st.integers(1, 3))]
    return {name: draw(st.lists(st.sampled_from(list(TREES[name])), min_size=rows, max_size=rows)) for name in names}


def problem_of(quasi, values, *models, wishes=None) -> Problem:
    encoded = [column(name, held) for name, held in quasi.items()]
    made = cells(encoded, [column("s", values), column("g", wishes or ["*"] * len(values))]).classes
    return Problem(
        cells=replace(made, measures=measures(made)),
        hierarchies=tuple(Paths(paths=TREES[one.name]).build(ObservedDomain.of(one)) for one in encoded),
        models=models,
        metric=LossMetric(),
    )


def shown(problem, quasi, values, wishes, found):
    """What a reader sees of every row."""
    made = found.recoding(problem)
    names = list(quasi)
    label = {
        tuple(problem.cells.labels[c][problem.cells.keys[c, cell]] for c in range(len(names))): (
            tuple(made.labels[c][made.keys[c, cell]] for c in range(len(names))),
            bool(found.suppressed[cell]),
        )
        for cell in range(problem.cells.count)
    }
    rows = zip(zip(*quasi.values(), strict=True), values, wishes, strict=True)
    return [{"q": label[key][0], "s": value, "g": wish} for key, value, wish in rows if not label[key][1]]


@pytest.mark.parametrize("name", SEARCHES)
@examples(120, whole=True)
@given(quasi=tables(), data=st.data(), model=asked(), limit=st.integers(0, 2), k=st.integers(1, 2))
def test_what_is_found_meets_the_model(name, quasi, data, model, limit, k):
    rows = len(next(iter(quasi.values())))
    values = data.draw(st.lists(st.sampled_from(list(TREE)), min_size=rows, max_size=rows))
    wishes = data.draw(st.lists(st.sampled_from(["low", "any", "8", "", "*"]), min_size=rows, max_size=rows))
    made, literal = model
    problem = replace(problem_of(quasi, values, KAnonymity(k=k), made, wishes=wishes), limit=limit)
    try:
        found = SEARCHES[name](problem, Work())
    except Infeasible as error:
        found, told = None, str(error)
    if found is None:
        assert rows < k or not steady(made, problem.cells).reachable(problem.cells).holds, told
        assert rows < k or "'optimal'" in told, told
        return
    check_outcome(problem, found)
    assert literal(shown(problem, quasi, values, wishes, found))[0]


@examples(200)
@given(data=st.data(), rows=st.integers(2, 14), model=asked())
def test_the_steady_form_implies_the_model_and_joining_keeps_it(data, rows, model):
    made, _ = model
    draw = lambda some: data.draw(st.lists(st.sampled_from(some), min_size=rows, max_size=rows))  # noqa: E731
    fine, values, wishes = draw("abcd"), draw([*TREE]), draw(["low", "any", "8", "*"])
    joined = ["a" if value in "ab" else value for value in fine]
    parts, whole = (classes_of({"q": q, "s": values, "g": wishes}, quasi=["q"]) for q in (fine, joined))
    firm = steady(made, parts)
    assert firm.name == made.name
    assert firm.columns == ("s",)
    assert steady(firm, parts) is firm
    if firm.check(parts).holds:
        assert made.check(parts).holds
        assert firm.check(whole).holds
        for possible in resolved(parts, "s"):
            assert made.check(possible).holds


def test_steady_forms_by_hand():
    """Near 2 are 1 and 3, though 2 is in no class; the coughs are below lung, though only the flu is guarded."""
    pay = classes_of({"q": ["a", "a", "b", "b"], "s": [1, 3, 2, 9]}, quasi=["q"])
    model = EMAnonymity(e=1, m=2, column="s")
    assert model.check(pay).holds
    assert NearAnything(model=model).check(pay).failing.tolist() == [0]
    ill = classes_of({"q": ["a", "a", "b", "b"], "s": ["flu", "cut", "cough", "cough"]}, quasi=["q"])
    paths = {"flu": ("lung",), "cough": ("lung",), "cut": ("skin",)}
    mine = PersonalizedPrivacy(p=0.5, column="s", paths=paths, guards={"flu": "lung"})
    assert mine.check(ill).holds
    firm = steady(mine, ill)
    assert isinstance(firm, GuardedEverywhere)
    assert (firm.nodes, firm.check(ill).failing.tolist()) == (("lung",), [1])


def test_groups_are_judged_as_they_are_read():
    """A known-bad twin: groups that pass alone fail, since ``*`` beside v may be v too; the whole table passes."""
    quasi, values = {"f": list("vyzwxv")}, list("713823")
    problem = problem_of(quasi, values, KAnonymity(k=2), EMAnonymity(e=1, m=1.5, column="s"))
    alone = Mondrian()._cut(problem, Work())
    assert not as_read(problem, alone)
    found = Mondrian()(problem, Work())
    assert as_read(problem, found)
    assert found.loss > alone.loss


def test_what_cannot_be_found_is_refused_with_what_would_do():
    problem = problem_of({"c": ["m", "m", "n", "n"]}, ["1", "2", "1", "2"], EMAnonymity(e=1, m=2, column="s"))
    for name in ("mondrian", "local"):
        with pytest.raises(Infeasible, match=rf"{name} found no groups that meet e-m-anonymity.*'optimal'"):
            SEARCHES[name](problem, Work())
    with pytest.raises(Infeasible, match=r"bottom-up joined all labels and met .* nowhere on its way.*'optimal'"):
        SEARCHES["bottom-up"](problem, Work())


# Released and verified from the written bytes


def plan(name="mondrian", told=None, **wish):
    tree = {
        "columns": {
            "postal_code": {"role": "quasi", "hierarchy": {"kind": "mask"}},
            "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
            "diagnosis": {"role": "sensitive", "hierarchy": {"bundled": "patients/diagnosis"}},
            "wish": {"role": "drop", **wish},
        },
        "privacy": {"k_anonymity": 3, "personalized": {"p": 0.5, **(told or {"guard_column": "wish"})}},
        "algorithm": {"name": name},
    }
    return sf.Plan.parse(tree)


GUARDS = {"B20": "A00-B99", "F41.1": "F41.1"}


def patients(guards):
    frame = sf.datasets.patients(300, seed=3).select("postal_code", "sex", "diagnosis")
    return frame.with_columns(wish=pl.col("diagnosis").replace_strict(guards, default=""))


@pytest.mark.parametrize("name", ["mondrian", "local", "top-down", "bottom-up", "optimal"])
@pytest.mark.parametrize("wishes", ["by value", "published", "hidden"])
def test_releases_verify(name, wishes, tmp_path):
    told = {"guards": GUARDS} if wishes == "by value" else None
    made = sf.release(plan(name, told, role="drop" if wishes == "hidden" else "keep"), patients(GUARDS))
    checked = made.write(tmp_path / "b")
    assert checked.holds, [check for check in checked.checks if not check.holds]
    remarks = [one.detail for one in checked.remarks if one.what == "claim personalized-privacy"]
    assert len(remarks) == (wishes == "hidden")
    assert all("not recomputed: wishes are not published" in one for one in remarks)
    assert ("claims/*/holds" in {one.path for one in checked.stated}) == (wishes == "hidden")


def test_hidden_wishes_are_kept_and_not_told(tmp_path):
    """The classes keep what people wish; rows and claims are those of anybody else who wished for as little."""
    frame = patients({"E11.9": "E11.9", "B20": "A00-B99"})
    made = sf.release(plan(), frame)
    assert as_read(made.prepared.problem, made.outcome)
    assert made.prepared.problem.models[1].guard_column == "wish"
    assert made.write(tmp_path / "b").holds
    assert "wish" not in pl.read_csv(tmp_path / "b" / "data.csv").columns
    stated = json.loads((tmp_path / "b" / "manifest.json").read_text())
    (claim,) = [one for one in stated["claims"] if one["model"] == "personalized-privacy"]
    assert (claim["parameters"]["guards"], claim["parameters"]["guard_column"]) == (None, None)
    nobody = sf.release(plan(), frame.with_columns(wish=pl.lit("")))
    if nobody.rows.sort(nobody.rows.columns).equals(made.rows.sort(made.rows.columns)):
        assert [one.to_json() for one in nobody.claims] == [one.to_json() for one in made.claims]


def test_what_is_reached_without_wishes_by_hand():
    """Of the first class 2/3 lie below lung, and nobody knows whether that is guarded; 1/3 skin is within a half."""
    ill = classes_of({"q": list("aaabb"), "s": ["flu", "cough", "cut", "flu", "cut"]}, quasi=["q"])
    paths = {"flu": ("lung",), "cough": ("lung",), "cut": ("skin",)}
    model = PersonalizedPrivacy(p=0.5, column="s", paths=paths, guards=None)
    found = model.check(ill)
    assert (found.holds, found.reached) == (True, 0.5)
    assert found.note == "wishes are not published: 1 of 2 classes meet it whatever people guard"
    assert model.columns == ("s",)
    assert not model.wished


def test_wishes_that_cannot_be_used_are_refused(tmp_path):
    frame, key = patients(GUARDS), tmp_path / "secret.key"
    key.write_text("ab" * 32)
    with pytest.raises(sf.PlanError, match=r"columns.wish.pseudonym: pseudonyms of wishes would tell"):
        sf.release(plan(role="identifier", pseudonym={"key_file": str(key)}), frame)
    with pytest.raises(sf.SfumatoError, match="wich"):
        sf.release(plan(told={"guard_column": "wich"}), frame)
    with pytest.raises(sf.PlanError, match="exactly one of guards and guard_column"):
        sf.release(plan(told={"column": "diagnosis"}), frame)
