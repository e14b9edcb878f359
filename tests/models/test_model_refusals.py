"""Each parameter just outside its limits is refused by name; so is data that a model cannot judge."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest

from sfumato.core.errors import DataError, ParameterError, UnknownColumn
from sfumato.models.composition import AllOf
from sfumato.models.confidence import ConfidenceBounding, DivergenceBounding, Template
from sfumato.models.e_m_anonymity import EMAnonymity
from sfumato.models.k_anonymity import AlphaKAnonymity, KAnonymity
from sfumato.models.l_diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveLDiversity,
    SimpleLDiversity,
)
from sfumato.models.lkc import LKCPrivacy
from sfumato.models.personalized import PersonalizedPrivacy
from sfumato.models.presence import DeltaPresence, KMap
from sfumato.models.t_closeness import TCloseness
from sfumato.testing.models import classes_of

PATHS = {"flu": ("lung",), "hiv": ("blood",)}
GOOD: dict[type, dict[str, Any]] = {
    KAnonymity: {"k": 2},
    DistinctLDiversity: {"l": 2, "column": "ill"},
    EntropyLDiversity: {"l": 2, "column": "ill"},
    RecursiveLDiversity: {"c": 2, "l": 2, "column": "ill"},
    SimpleLDiversity: {"l": 2, "column": "ill"},
    AlphaKAnonymity: {"alpha": 0.5, "k": 2, "column": "ill", "values": ("hiv",)},
    Template: {"quasi": ("a",), "column": "ill", "value": "hiv", "limit": 0.5},
    ConfidenceBounding: {"templates": (Template(column="ill", value="hiv", limit=0.5),)},
    LKCPrivacy: {"l": 2, "k": 2, "c": 0.5, "column": "ill", "values": ("hiv",)},
    EMAnonymity: {"e": 1, "m": 2, "column": "pay"},
    DivergenceBounding: {"confidence": 0.5, "column": "ill", "far": "branch", "paths": PATHS},
    DeltaPresence: {"low": 0.1, "high": 0.5},
    KMap: {"k": 2},
    PersonalizedPrivacy: {"p": 0.5, "column": "ill", "paths": PATHS, "guards": {"flu": "lung"}},
    TCloseness: {"t": 0.2, "column": "ill", "distance": "variational"},
    AllOf: {"models": (KAnonymity(k=2),)},
}
NO_WHOLE = [0, -1, 1.0, 2.5, nan, inf, True, "2", None]
NO_NUMBER = [nan, inf, -inf, True, "0.5", None]
NO_SHARE = [0, -0.1, 1.0000001, *NO_NUMBER]
NO_TEXT = ["", None, 3, True]
NO_TEXTS = ["hiv", ["hiv"], ("hiv", "hiv"), (3,), None]
BAD: dict[tuple[type, str], list[Any]] = {
    (KAnonymity, "k"): NO_WHOLE,
    (DistinctLDiversity, "l"): NO_WHOLE,
    (DistinctLDiversity, "column"): NO_TEXT,
    (EntropyLDiversity, "l"): [0.999, *NO_NUMBER],
    (EntropyLDiversity, "column"): NO_TEXT,
    (RecursiveLDiversity, "c"): [0, -1, *NO_NUMBER],
    (RecursiveLDiversity, "l"): NO_WHOLE,
    (RecursiveLDiversity, "column"): NO_TEXT,
    (SimpleLDiversity, "l"): [0.999, 0, *NO_NUMBER],
    (SimpleLDiversity, "column"): NO_TEXT,
    (AlphaKAnonymity, "alpha"): NO_SHARE,
    (AlphaKAnonymity, "k"): NO_WHOLE,
    (AlphaKAnonymity, "column"): NO_TEXT,
    (AlphaKAnonymity, "values"): NO_TEXTS,
    (Template, "quasi"): [*NO_TEXTS, ("",)],
    (Template, "column"): NO_TEXT,
    (Template, "value"): NO_TEXT,
    (Template, "limit"): NO_SHARE,
    (ConfidenceBounding, "templates"): [(), [], None, "x", ("x",)],
    (LKCPrivacy, "l"): NO_WHOLE,
    (LKCPrivacy, "k"): NO_WHOLE,
    (LKCPrivacy, "c"): NO_SHARE,
    (LKCPrivacy, "column"): NO_TEXT,
    (LKCPrivacy, "values"): NO_TEXTS,
    (EMAnonymity, "e"): [-0.001, *NO_NUMBER],
    (EMAnonymity, "m"): [0.999, *NO_NUMBER],
    (EMAnonymity, "column"): NO_TEXT,
    (EMAnonymity, "relative"): [0, 1, None, "yes"],
    (DivergenceBounding, "confidence"): NO_SHARE,
    (DivergenceBounding, "column"): NO_TEXT,
    (DivergenceBounding, "far"): ["value", "far", None],
    (DivergenceBounding, "paths"): [None, {}, {"flu": "lung"}],
    (DeltaPresence, "low"): [-0.001, 0.51, 1.001, *NO_NUMBER],
    (DeltaPresence, "high"): [0.099, 1.001, -1, *NO_NUMBER],
    (KMap, "k"): NO_WHOLE,
    (PersonalizedPrivacy, "p"): NO_SHARE,
    (PersonalizedPrivacy, "column"): NO_TEXT,
    (PersonalizedPrivacy, "paths"): [None, "x", {"flu": "lung"}, {1: ("lung",)}, {"flu": (1,)}],
    (PersonalizedPrivacy, "guards"): ["x", {"flu": 1}, {}],
    (PersonalizedPrivacy, "guard_column"): ["wish", "", 3],
    (TCloseness, "t"): [-0.001, *NO_NUMBER],
    (TCloseness, "column"): NO_TEXT,
    (TCloseness, "distance"): ["emd", "", None, 1],
    (TCloseness, "reference"): ["orig", None],
    (TCloseness, "order"): NO_TEXTS,
    (TCloseness, "paths"): [None, {"flu": "lung"}],
    (TCloseness, "costs"): [None, [[0]], ((0,),), (0,)],
    (AllOf, "models"): [(), [KAnonymity(k=2)], None, (3,), KAnonymity(k=2)],
}


@pytest.mark.parametrize("model", GOOD, ids=lambda model: model.__name__)
def test_good_parameters_are_accepted(model: type) -> None:
    built = model(**GOOD[model])
    assert replace(built) == built


@pytest.mark.parametrize(
    ("model", "parameter", "value"),
    [(model, parameter, value) for (model, parameter), values in BAD.items() for value in values],
)
def test_each_parameter_is_refused_by_name(model: type, parameter: str, value: object) -> None:
    with pytest.raises(ParameterError, match=rf"\b{parameter}\b"):
        model(**{**GOOD[model], parameter: value})


@pytest.mark.parametrize(
    "costs",
    [
        ((0, 1), (1, 0, 1)),
        ((0, 1),),
        ((0, -1), (1, 0)),
        ((0.1, 1), (1, 0)),
        ((0, nan), (1, 0)),
        ((0, True), (1, 0)),
        ((0, "1"), (1, 0)),
    ],
)
def test_costs_must_be_a_square_without_price_for_staying(costs: Any) -> None:
    with pytest.raises(ParameterError, match="costs"):
        TCloseness(t=0.1, column="ill", distance="emd-matrix", order=("flu", "hiv"), costs=costs)


@pytest.mark.parametrize(("distance", "needed"), [("emd-matrix", "costs"), ("emd-hierarchical", "paths")])
def test_distances_that_need_more_say_what(distance: Any, needed: str) -> None:
    with pytest.raises(ParameterError, match=f"{needed} must be given"):
        TCloseness(t=0.1, column="ill", distance=distance)


def test_limits_themselves_are_accepted() -> None:
    KAnonymity(k=1)
    EntropyLDiversity(l=1, column="ill")
    AlphaKAnonymity(alpha=1, k=1, column="ill", values=("",))
    LKCPrivacy(l=1, k=1, c=1.0, column="ill")
    EMAnonymity(e=0, m=1, column="pay")
    DeltaPresence(low=0, high=0)
    DeltaPresence(low=1, high=1)
    TCloseness(t=0, column="ill", distance="kl")


TABLE = classes_of({"a": ["x", "x"], "ill": ["flu", "hiv"], "pay": [1, 2], "wish": ["lung", "moon"]}, quasi=["a"])


@pytest.mark.parametrize("model", [m for m in GOOD if "column" in GOOD[m] and m is not Template])
def test_unknown_sensitive_column(model: type) -> None:
    with pytest.raises(UnknownColumn, match="nowhere"):
        model(**{**GOOD[model], "column": "nowhere"}).check(TABLE)


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (EMAnonymity(e=1, m=2, column="ill"), "numeric"),
        (TCloseness(t=0.1, column="ill", distance="emd-ordered"), "listed in order"),
        (TCloseness(t=0.1, column="ill", distance="emd-ordered", order=("flu",)), "'hiv'"),
        (TCloseness(t=0.1, column="ill", distance="emd-hierarchical", paths={"flu": ()}), "'hiv'"),
        (TCloseness(t=0.1, column="ill", distance="emd-matrix", order=("flu",), costs=((0,),)), "'hiv'"),
        (PersonalizedPrivacy(p=0.5, column="ill", paths={"flu": ()}, guards={"flu": "flu"}), "'hiv'"),
        (PersonalizedPrivacy(p=0.5, column="ill", paths=PATHS, guards={"flu": "moon"}), "'moon'"),
        (PersonalizedPrivacy(p=0.5, column="ill", paths=PATHS, guard_column="wish"), "'moon'"),
        (KMap(k=2), "population"),
        (DeltaPresence(low=0, high=1), "population"),
        (ConfidenceBounding(templates=(Template(quasi=("zip",), column="ill", value="hiv", limit=1),)), "'zip'"),
    ],
)
def test_data_that_cannot_be_judged(model: Any, told: str) -> None:
    with pytest.raises(DataError, match=told):
        model.check(TABLE)


def test_a_table_that_is_not_part_of_the_population() -> None:
    one = classes_of({"a": ["x", "y"]}, quasi=["a"])
    two = classes_of({"a": ["x", "x", "y"]}, quasi=["a"])
    with pytest.raises(DataError, match=r"not part of the population: 1 classes .*'x'.* with 2 rows against 1"):
        DeltaPresence(low=0, high=1).check(replace(two, population=one))
