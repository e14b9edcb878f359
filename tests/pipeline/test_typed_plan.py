"""A plan of objects is the plan of the same tree; it checks itself when it is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.algorithms.lattice.datafly import datafly
from sfumato.algorithms.mondrian import Mondrian
from sfumato.models import (
    AlphaKAnonymity,
    ConfidenceBounding,
    DeltaPresence,
    DistinctLDiversity,
    DivergenceBounding,
    EMAnonymity,
    EntropyLDiversity,
    KAnonymity,
    KMAnonymity,
    KMap,
    LKCPrivacy,
    PersonalizedPrivacy,
    RecursiveLDiversity,
    RhoUncertainty,
    SimpleLDiversity,
    TCloseness,
    Template,
)
from sfumato.pipeline.catalog.catalog import catalog, requirement
from sfumato.pipeline.catalog.parts import Context
from sfumato.pipeline.plan.columns import ColumnPlan
from sfumato.pipeline.plan.evaluation import AttackPlan
from sfumato.pipeline.plan.hierarchies import _KINDS, builder, builder_tree
from sfumato.pipeline.plan.plan import InputPlan, privacy_tree
from sfumato.tables.code_hierarchies import Codes, Common
from sfumato.tables.hierarchy_builders import Dates, Flat, Grown, Intervals, Mask, OrderedGroups, Quantiles
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.map_squares import Squares
from sfumato.tables.schema import DECLARING, Categories, Numbers, ObservedDomain, Role

ILL = {"flu": ("lung",), "asthma": ("lung",), "ulcer": ("gut",)}
COSTS = (("a", "b"), ((0.0, 1.0), (1.0, 0.0)))
MODELS: list[Any] = [
    KAnonymity(k=5),
    DistinctLDiversity(l=3, column="ill"),
    EntropyLDiversity(l=2.5, column="ill"),
    RecursiveLDiversity(c=2, l=3, column="ill"),
    SimpleLDiversity(l=2, column="ill"),
    TCloseness(t=0.2, column="ill", distance="variational"),
    TCloseness(t=0.3, column="ill", distance="emd-ordered", order=("flu", "asthma", "ulcer"), reference="original"),
    TCloseness(t=0.3, column="ill", distance="emd-hierarchical", paths=ILL),
    TCloseness(t=0.3, column="ill", distance="emd-matrix", order=COSTS[0], costs=COSTS[1]),
    AlphaKAnonymity(alpha=0.5, k=3, column="ill", values=("flu",)),
    ConfidenceBounding(templates=(Template(quasi=("age",), column="ill", value="flu", limit=0.4),)),
    LKCPrivacy(l=2, k=5, column="ill"),
    LKCPrivacy(l=2, k=5, c=0.5, column="ill", values=("flu",)),
    EMAnonymity(e=100, m=2, column="ill"),
    DivergenceBounding(confidence=0.5, column="ill"),
    DivergenceBounding(confidence=0.5, column="ill", far="branch", paths=ILL),
    DeltaPresence(low=0.1, high=0.5),
    KMap(k=4),
    PersonalizedPrivacy(p=0.4, column="ill", paths=ILL, guards={"flu": "lung"}),
    KMAnonymity(k=5, m=2),
    RhoUncertainty(rho=0.3, sensitive=("hiv",), l=2),
]
CONTEXT = Context(
    quasi=("age",), sensitive=("ill",), published=("age", "ill"), paths=lambda _: ILL, costs=lambda *_: COSTS
)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_model_says_what_a_plan_file_would_say(model: Any):
    kind = catalog().part_of(model).judges[-1]
    assert requirement(privacy_tree(model), CONTEXT, catalog(), kind=kind) == (model,)


def test_every_model_of_the_catalog_can_be_an_object():
    assert {model.name for model in MODELS} == set(catalog().models)


BUILDERS: list[Any] = [
    Flat(),
    Mask(side="left", levels=(1, 2)),
    Dates(levels=("month", "year")),
    OrderedGroups(order=("a", "b", "c"), sizes=(2,)),
    Intervals(widths=(5, 10), low=0, high=100),
    Intervals(cuts=((10, 20, 30), (20,)), outside="clamp"),
    Grown(low=0, high=9, grid=0.5),
    Quantiles(groups=(4, 2)),
    Squares(widths=(2, 4)),
    Codes(system="icd-10"),
    Common(keep=(("a", "b"), ("a",))),
]


@pytest.mark.parametrize("made", BUILDERS, ids=repr)
def test_a_builder_says_what_a_plan_file_would_say(made: Any):
    assert builder(builder_tree(made), "columns.x.hierarchy", Path()) == made


def test_a_tree_of_uneven_depth_survives():
    tree = Paths(paths={"a": ("x", "xy"), "b": ("x", "xy"), "c": ("xy",), "d": ()})
    again = builder(builder_tree(tree), "columns.x.hierarchy", Path())
    domain = ObservedDomain.whole("x", Categories(values=("a", "b", "c", "d")))
    assert [level.labels for level in again.build(domain).levels] == [
        level.labels for level in tree.build(domain).levels
    ]


def test_what_a_builder_declares_is_one_type():
    declared = {name: builder_tree(one)["kind"] for one in BUILDERS if (name := type(one).__name__)}
    assert set(declared.values()) == set(_KINDS)
    for one in BUILDERS:
        found = one.declared()
        assert found is None or builder_tree(one)["kind"] in DECLARING
    assert Grown(low=0, high=9, grid=0.5).declared() == Numbers(low=0, high=9, grid=0.5)
    assert Intervals(widths=(5,), low=0, high=9).declared() == Numbers(low=0, high=9, grid=5)
    assert Intervals(widths=(5,), low=0).declared() is None
    assert Paths(paths={"a": ("x",), "b": ()}).declared() == Categories(
        values=("a", "b"), paths={"a": ("x",), "b": ("b",)}
    )


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return sf.datasets.census(300, seed=2)


def test_objects_and_trees_give_the_same_release(people: pl.DataFrame):
    mine = sf.Plan(
        columns={
            "age": {"role": "quasi", "hierarchy": Intervals(widths=(10, 20), low=0, high=100)},  # type: ignore[dict-item]
            "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},  # type: ignore[dict-item]
            "occupation": {"role": "sensitive"},  # type: ignore[dict-item]
        },
        privacy=[KAnonymity(k=4), DistinctLDiversity(l=2, column="occupation")],  # type: ignore[arg-type]
        algorithm=Mondrian(output="boxes"),  # type: ignore[arg-type]
    )
    hierarchy = {"kind": "intervals", "widths": [10, 20], "low": 0, "high": 100}
    tree = sf.Plan.parse(
        {
            "columns": {
                "age": {"role": "quasi", "hierarchy": hierarchy},
                "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
                "occupation": {"role": "sensitive"},
            },
            "privacy": {"k_anonymity": 4, "l_diversity": {"kind": "distinct", "l": 2, "column": "occupation"}},
            "algorithm": {"name": "mondrian", "output": "boxes"},
        }
    )
    assert mine.public() == tree.public() | {"columns": mine.public()["columns"]}
    assert sf.release(mine, people).rows.sort(pl.all()).equals(sf.release(tree, people).rows.sort(pl.all()))


def test_a_notebook_needs_no_plan(people: pl.DataFrame):
    made = sf.release(people, quasi=["age", "sex"], models=[KAnonymity(k=5)], keep=["fnlwgt"])
    assert made.rows.columns == [name for name in people.columns if name in ("age", "sex", "fnlwgt")]
    assert [claim.holds for claim in made.claims] == [True]
    simple = sf.release(people, quasi=["age"], models=KAnonymity(k=5), algorithm=datafly, max_suppressed=0.1)
    assert simple.algorithm == "datafly"
    with pytest.raises(sf.DataError, match="did you mean 'age'"):
        sf.release(people, quasi=["agge"], models=[KAnonymity(k=5)])
    with pytest.raises(sf.PlanError, match="needs a plan, or a frame with quasi"):
        sf.release(people)
    with pytest.raises(sf.PlanError, match="not both"):
        sf.release(simple.plan, people, quasi=["age"])


COLUMNS: dict[str, Any] = {"age": {"role": "quasi", "hierarchy": {"kind": "flat"}}, "ill": {"role": "sensitive"}}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"privacy": {"k_anonimity": 5}}, "privacy.k_anonimity: unknown key; did you mean 'k_anonymity'?"),
        ({"privacy": {"k_anonymity": 0}}, "privacy.k_anonymity: k must be at least 1"),
        ({"algorithm": {"name": "mondriann"}}, "did you mean 'mondrian'?"),
        ({"algorithm": {"name": "diffgen"}}, "algorithm.name: 'diffgen' needs privacy.epsilon; this plan has none"),
        ({"algorithm": {"name": "sets"}}, "algorithm.name: 'sets' needs a column of type set or trajectory"),
        (
            {"algorithm": {"name": "mondrian", "outputt": "boxes"}},
            "algorithm.outputt: unknown key; did you mean 'output'?",
        ),
        (
            {"privacy": {"t_closeness": {"t": 0.2, "distance": "emd-matrix", "costs": 3}}},
            "costs must be a list of lists",
        ),
        ({"privacy": {"t_closeness": {"t": 0.2, "distance": "emd-matrix", "costs": ["a"]}}}, "costs must be a list of"),
        ({"utility": {"metric": "los"}}, "utility.metric: 'los' is not known; did you mean 'loss'?"),
        ({"attack": {"attacks": ["homogenity"]}}, "did you mean 'homogeneity'?"),
        ({"columns": {"age": {"role": "quasi", "hierarchy": {"kind": "masks"}}}}, "did you mean 'mask'?"),
        ({"privacy": {"epsilon": 1, "k_anonymity": 5}}, "privacy.k_anonymity: a differentially private release"),
    ],
)
def test_a_plan_refuses_at_construction(said: dict[str, Any], words: str):
    with pytest.raises(sf.PlanError) as caught:
        sf.Plan.parse({"columns": COLUMNS, "privacy": {"k_anonymity": 5}, **said})
    assert words in str(caught.value)


def test_records_refuse_like_files():
    with pytest.raises(sf.PlanError, match="max_suppressed must be a share"):
        sf.Plan.parse({"columns": COLUMNS, "privacy": {}, "algorithm": {"max_suppressed": 2}})
    with pytest.raises(sf.PlanError, match="is no model"):
        sf.Plan(columns=COLUMNS, privacy=[3])  # type: ignore[arg-type]
    with pytest.raises(sf.PlanError, match="is no algorithm"):
        sf.Plan(columns=COLUMNS, privacy={}, algorithm=print)  # type: ignore[arg-type]
    assert sf.Plan(columns=COLUMNS, privacy={}, input=InputPlan(missing=("?",))).input.missing == ("?",)


def test_numbers_of_numpy_are_numbers():
    hierarchy = {"kind": "intervals", "widths": [np.int64(5)], "low": np.float64(0), "high": np.float64(90)}
    algorithm = {"name": "greedy", "seed": np.int64(3), "max_suppressed": np.float64(0.1)}
    plan = sf.Plan.parse({"columns": {"age": {"role": "quasi", "hierarchy": hierarchy}}, "algorithm": algorithm})
    assert (type(plan.algorithm.seed), type(plan.algorithm.max_suppressed)) == (int, float)


def test_records_keep_the_limits_of_files():
    with pytest.raises(sf.PlanError, match=r"attack\.trials must be at least 20, not 3; fewer show nothing"):
        sf.Plan(columns=COLUMNS, privacy={}, attack=AttackPlan(trials=3))
    with pytest.raises(sf.PlanError, match=r"input\.missing\[1\] must be a text, not 9"):
        sf.Plan(columns=COLUMNS, privacy={}, input=InputPlan(missing=("?", 9)))  # type: ignore[arg-type]
    column = ColumnPlan(role=Role.QUASI, domain_from="publik")  # type: ignore[arg-type]
    with pytest.raises(sf.PlanError, match=r"columns\.age\.domain_from must be one of .* did you mean 'public'"):
        sf.Plan(columns={"age": column}, privacy={})


def test_without_c_lkc_bounds_no_confidence_wherever_it_is_asked():
    plans = [
        sf.Plan.parse({"columns": COLUMNS, "privacy": {"lkc": {"l": 1, "k": 2}}}),
        sf.Plan.parse(
            {
                "columns": {"bag": {"role": "quasi", "type": "set"}, "ill": {"role": "sensitive"}},
                "privacy": {"lkc": {"l": 1, "k": 2}},
            }
        ),
    ]
    frame = pl.DataFrame({"age": list("aabb"), "bag": ["x", "x", "y", "y"], "ill": list("ppqq")})
    for plan in plans:
        made = sf.release(plan, frame.select(list(plan.columns)))
        assert made.claims[0].parameters["c"] == 1.0
