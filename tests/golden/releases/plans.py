"""The plans of the golden releases: every kind of release, every algorithm, nearly every model and metric.

Paths start at this folder. Tables are small, so that every search ends by itself long before any time limit.
"""

from __future__ import annotations

from typing import Any

Tree = dict[str, Any]

SEED = 7
FULL_BUNDLES = ("optimal-k", "trajectory-lkc", "diffgen-gini-sets")
"""Their bundles have a report."""

FLAT: Tree = {"kind": "flat"}
JOBS: Tree = {
    "Office": {"Leading": ["Exec-managerial", "Prof-specialty"], "Clerical": ["Adm-clerical", "Sales", "Tech-support"]},
    "Hands": {
        "Making": ["Craft-repair", "Machine-op-inspct"],
        "Moving": ["Transport-moving", "Handlers-cleaners", "Farming-fishing"],
    },
    "Service": {"Homes": ["Other-service", "Priv-house-serv"], "Guards": ["Protective-serv", "Armed-Forces"]},
}
GOODS: Tree = {
    "Any": {
        "drinks": {"alcohol": ["beer", "wine"], "soft drinks": ["cola", "juice", "tea"]},
        "food": {"dairy": ["milk", "cheese"], "bakery": ["bread", "cake"], "fruit": ["apple", "pear"]},
        "care": {"pharmacy": ["pills", "test"]},
    }
}
CODES: Tree = {"Any": {"1*": ["11", "12"], "2*": ["21", "22"], "3*": ["31", "32"]}}


def bundled(name: str) -> Tree:
    return {"bundled": name}


def intervals(*widths: int, low: int = 0, high: int = 100) -> Tree:
    return {"kind": "intervals", "widths": list(widths), "low": low, "high": high}


def quasi(hierarchy: Tree, **more: Any) -> Tree:
    return {"role": "quasi", "hierarchy": hierarchy, **more}


def role(name: str, **more: Any) -> Tree:
    return {"role": name, **more}


def plan(
    path: str,
    columns: Tree,
    privacy: Tree,
    algorithm: Tree,
    *,
    metric: str | None = None,
    read: Tree | None = None,
    **more: Tree,
) -> Tree:
    """A seeded plan of a table."""
    steered = {} if metric is None else {"utility": {"metric": metric}}
    return {
        "input": {"path": f"tables/{path}", **(read or {})},
        "columns": columns,
        "privacy": privacy,
        "algorithm": {"seed": SEED, **algorithm},
        **steered,
        **more,
    }


def private(path: str, columns: Tree, epsilon: Any, algorithm: Tree, **more: Tree) -> Tree:
    """A plan of a private release, which has no seed."""
    return {
        "input": {"path": f"tables/{path}"},
        "columns": columns,
        "privacy": {"epsilon": epsilon},
        "algorithm": algorithm,
        **more,
    }


AGE = quasi(intervals(10, 20, 40))
CUT_AGE = quasi({"kind": "intervals", "cuts": [[25, 35, 45, 60], [35, 60]], "low": 17, "high": 70, "outside": "clamp"})
HOURS = quasi(intervals(10, 20, 40))
SEX = quasi(bundled("census/sex"))
RACE = quasi(bundled("census/race"))
EDUCATION = quasi(bundled("census/education"))
MARRIED = quasi({"file": "tables/marital.csv"})
JOB: Tree = {"role": "sensitive", "hierarchy": {"tree": JOBS}}
BORN = quasi({"kind": "dates", "levels": ["year", "decade"]}, type="date")
POST = quasi({"kind": "mask", "from": "right", "levels": [2, 3, 4]}, type="text")
WORK = quasi(bundled("patients/job"))
NO_HEADER: Tree = {"header": False, "delimiter": ";", "names": ["age", "sex", "hours", "union", "job", "income"]}
RACES = quasi(
    {
        "kind": "groups",
        "groups": {"most": ["White", "Black"], "few": ["Asian-Pac-Islander", "Other", "Amer-Indian-Eskimo"]},
    }
)
UNION = quasi({"kind": "groups", "order": ["none", "old", "new", "both"], "sizes": [2]})

TABLES: dict[str, Tree] = {
    "optimal-k": plan(
        "people.csv",
        {"age": AGE, "sex": SEX, "race": RACE, "education": EDUCATION, "occupation": JOB, "fnlwgt": role("keep")},
        {"k_anonymity": 3},
        {"name": "optimal", "max_suppressed": 0.12},
    ),
    "optimal-star-entropy": plan(
        "people.csv",
        {"age": CUT_AGE, "sex": SEX, "education": EDUCATION, "occupation": role("sensitive"), "income": role("target")},
        {"k_anonymity": 3, "l_diversity": {"kind": "entropy", "l": 2.5}},
        {"name": "optimal", "max_suppressed": 0.15, "suppressed": "star"},
        metric="ncp",
    ),
    "optimal-exempt-missing": plan(
        "holes.csv",
        {"age": AGE, "race": RACE, "education": EDUCATION, "sex": SEX, "occupation": role("sensitive")},
        {"k_anonymity": 3},
        {"name": "optimal", "max_suppressed": 0.25, "suppressed": "star", "exempt_suppressed": True},
        metric="discernibility",
        read={"missing": ["?"]},
    ),
    "optimal-drop-recursive": plan(
        "holes.csv",
        {"age": AGE, "race": RACE, "education": EDUCATION, "occupation": JOB, "hours": role("keep")},
        {
            "l_diversity": {"kind": "recursive", "c": 3, "l": 2},
            "t_closeness": {"t": 0.45, "distance": "emd-hierarchical"},
            "reading": "value",
        },
        {"name": "optimal", "max_suppressed": 0.1},
        metric="entropy",
        read={"missing": ["?"], "on_missing": "drop"},
    ),
    "optimal-wildcard": plan(
        "holes.csv",
        {"age": AGE, "race": RACE, "education": EDUCATION, "sex": SEX, "occupation": role("sensitive")},
        {"k_anonymity": 4, "l_diversity": 2, "reading": "wildcard"},
        {"name": "optimal", "max_suppressed": 0.04},
        read={"missing": ["?"]},
    ),
    "samarati": plan(
        "patients.tsv",
        {"name": role("identifier"), "birth_date": BORN, "sex": quasi(FLAT), "job": WORK,
         "diagnosis": role("sensitive")},
        {"k_anonymity": 3},
        {"name": "samarati", "max_suppressed": 0.15},
        metric="height",
    ),
    "incognito": plan(
        "people.csv",
        {"age": quasi({"kind": "quantiles", "groups": [8, 4, 2]}), "sex": quasi(FLAT), "race": RACES,
         "marital-status": MARRIED, "occupation": role("sensitive")},
        {"l_diversity": {"kind": "distinct", "l": 2}},
        {"name": "incognito", "max_suppressed": 0.12},
        metric="precision",
    ),
    "datafly": plan(
        "patients.tsv",
        {"birth_date": quasi({"kind": "dates"}, type="date"), "postal_code": POST, "sex": quasi(FLAT),
         "diagnosis": role("sensitive")},
        {"k_anonymity": 3},
        {"name": "datafly", "max_suppressed": 0.2},
    ),
    "greedy-ordered": plan(
        "people.csv",
        {"age": AGE, "sex": SEX, "education": EDUCATION, "workclass": quasi(bundled("census/workclass")),
         "hours-per-week": role("sensitive", type="integer")},
        {"k_anonymity": 2, "t_closeness": {"t": 0.25, "distance": "emd-ordered"}},
        {"name": "greedy", "max_suppressed": 0.05},
    ),
    "greedy-population": plan(
        "sample.csv",
        {"age": AGE, "sex": SEX, "race": RACE, "education": EDUCATION, "occupation": role("keep")},
        {"delta_presence": {"low": 0.0, "high": 0.75}, "k_map": 6},
        {"name": "greedy", "max_suppressed": 0.1},
        metric="class-size",
        read={"population": "tables/population.csv"},
    ),
    "k-optimize-alpha": plan(
        "few.csv",
        {"age": quasi(intervals(10, 20, 40)), "union": UNION, "sex": quasi(FLAT), "job": role("sensitive")},
        {"alpha_k": {"alpha": 0.6, "k": 4}},
        {"name": "k-optimize", "max_suppressed": 0.2},
        metric="ncp",
        read=NO_HEADER,
    ),
    "k-optimize-classes": plan(
        "few.csv",
        {"union": UNION, "sex": quasi(FLAT), "hours": quasi(intervals(20, 40)), "income": role("target")},
        {"k_anonymity": 5},
        {"name": "k-optimize", "output": "hierarchy"},
        metric="classification",
        read=NO_HEADER,
    ),
    "mondrian": plan(
        "people.csv",
        {"age": AGE, "sex": SEX, "race": RACE, "education": EDUCATION, "hours-per-week": HOURS, "occupation": JOB},
        {"k_anonymity": 3, "l_diversity": {"kind": "simple", "l": 2}},
        {"name": "mondrian"},
        metric="ncp",
    ),
    "mondrian-relaxed-boxes": plan(
        "people.csv",
        {"age": AGE, "hours-per-week": HOURS, "race": RACE, "occupation": role("sensitive")},
        {"k_anonymity": 5},
        {"name": "mondrian", "strict": False, "order": "ordered", "cut": "any", "output": "boxes"},
    ),
    "mondrian-means": plan(
        "people.csv",
        {"age": AGE, "hours-per-week": HOURS, "sex": SEX, "occupation": role("sensitive")},
        {"alpha_k": {"alpha": 0.5, "k": 4, "values": ["Sales", "Craft-repair"]}},
        {"name": "mondrian", "order": "ordered", "choose": "width", "cut": "median", "output": "means"},
    ),
    "mondrian-gain-missing": plan(
        "holes.csv",
        {"age": quasi(intervals(5, 20)), "education": EDUCATION, "race": RACE, "sex": SEX, "income": role("target"),
         "occupation": role("sensitive")},
        {"k_anonymity": 4, "t_closeness": 0.6},
        {"name": "mondrian", "choose": "gain", "cut": "any"},
        metric="classification",
        read={"missing": ["?"]},
    ),
    "local-closeness": plan(
        "people.csv",
        {"age": AGE, "sex": SEX, "race": RACE, "education": EDUCATION, "occupation": role("sensitive")},
        {"k_anonymity": 2, "t_closeness": {"t": 0.45, "distance": "emd-equal"}},
        {"name": "local", "max_suppressed": 0.05},
        metric="discernibility-ratio",
    ),
    "local-optimum-star": plan(
        "patients.tsv",
        {"birth_date": BORN, "postal_code": POST, "sex": quasi(FLAT), "job": WORK, "diagnosis": role("sensitive")},
        {"k_anonymity": 3},
        {"name": "local", "method": "optimum", "max_suppressed": 0.05, "suppressed": "star"},
    ),
    "cell-suppression": plan(
        "people.csv",
        {"age": AGE, "sex": SEX, "race": RACE, "education": EDUCATION, "occupation": role("sensitive")},
        {"k_anonymity": 3, "l_diversity": {"kind": "distinct", "l": 2}},
        {"name": "cell-suppression", "base": "datafly", "aside": 0.3},
    ),
    "hilbert": plan(
        "people.csv",
        {"age": AGE, "hours-per-week": HOURS, "education": EDUCATION, "occupation": role("sensitive")},
        {"k_anonymity": 3, "l_diversity": {"kind": "distinct", "l": 3}},
        {"name": "hilbert", "curve": "hilbert", "output": "boxes"},
    ),
    "top-down-lkc": plan(
        "people.csv",
        {"age": quasi({"kind": "grown", "low": 0, "high": 100}), "hours-per-week": quasi({"kind": "grown"}),
         "sex": SEX, "marital-status": MARRIED, "occupation": role("sensitive"), "income": role("target")},
        {"lkc": {"l": 2, "k": 2, "c": 0.6, "values": ["Sales", "Exec-managerial"]}},
        {"name": "top-down", "splits": "best"},
        metric="classification",
    ),
    "top-down-valid": plan(
        "people.csv",
        {"age": quasi({"kind": "grown", "low": 0, "high": 100}), "education": EDUCATION, "race": RACE,
         "occupation": role("sensitive")},
        {"k_anonymity": 4, "l_diversity": {"kind": "entropy", "l": 3}},
        {"name": "top-down", "splits": "valid", "max_suppressed": 0.05},
    ),
    "bottom-up-information": plan(
        "people.csv",
        {"age": quasi({"kind": "grown"}), "sex": SEX, "marital-status": MARRIED, "income": role("target")},
        {"k_anonymity": 3},
        {"name": "bottom-up"},
    ),
    "bottom-up-beam": plan(
        "people.csv",
        {"age": quasi({"kind": "grown"}), "sex": SEX, "education": EDUCATION, "occupation": role("sensitive")},
        {"k_anonymity": 3, "l_diversity": 2},
        {"name": "bottom-up", "score": "loss", "mode": "plain", "beam": 3, "partial": True, "suppress": True},
    ),
    "anatomy": plan(
        "people.csv",
        {"age": AGE, "sex": SEX, "education": EDUCATION, "occupation": role("sensitive"), "income": role("target")},
        {"l_diversity": {"kind": "simple", "l": 3}},
        {"name": "anatomy"},
    ),
    "microaggregation": plan(
        "people.csv",
        {"age": AGE, "hours-per-week": HOURS, "fnlwgt": quasi({"kind": "grown"}), "occupation": role("sensitive")},
        {"k_anonymity": 4, "l_diversity": {"kind": "entropy", "l": 2}},
        {"name": "microaggregation", "block": 100},
    ),
    "auto-confidence-personalized": plan(
        "people.csv",
        {"age": AGE, "sex": SEX, "education": EDUCATION, "occupation": JOB, "income": role("sensitive")},
        {
            "confidence": [
                {"quasi": ["age", "sex"], "column": "occupation", "value": "Sales", "limit": 0.4},
                {"quasi": ["education"], "column": "income", "value": ">50K", "limit": 0.7},
            ],
            "personalized": {
                "p": 0.6, "column": "occupation", "guards": {"Sales": "Clerical", "Craft-repair": "Making"},
            },
        },
        {"max_suppressed": 0.1},
    ),
    "auto-distances-parquet": plan(
        "people.csv",
        {"sex": SEX, "race": RACE, "education": EDUCATION, "occupation": role("sensitive"),
         "income": role("sensitive"), "hours-per-week": role("sensitive", type="integer")},
        {
            "k_anonymity": 2,
            "e_m": {"e": 2, "m": 1.1, "column": "hours-per-week"},
            "lkc": {"l": 2, "k": 3, "c": 0.8, "column": "occupation"},
            "t_closeness": [
                {"t": 0.6, "distance": "variational", "column": "occupation"},
                {"t": 0.9, "distance": "kl", "column": "income"},
                {"t": 0.35, "distance": "emd-matrix", "file": "tables/costs.csv", "column": "income"},
            ],
        },
        {"max_suppressed": 0.1},
        output={"format": "parquet"},
    ),
}  # fmt: skip

PLACES: Tree = {"West": ["a", "b", "c"], "Centre": ["d", "e", "f"], "East": ["g", "h"]}

ITEMS: dict[str, Tree] = {
    "trajectory-lkc": plan(
        "city.csv",
        {"id": role("identifier"), "path": role("quasi", type="trajectory"), "diagnosis": role("sensitive")},
        {"lkc": {"l": 2, "k": 4, "c": 0.6, "values": ["Flu", "Fever"]}},
        {"support": 0.05},
    ),
    "trajectory-squares": plan(
        "riders.csv",
        {
            "person": role("identifier"),
            "sex": role("keep"),
            "tariff": role("sensitive"),
            "path": {
                "role": "quasi",
                "type": "trajectory",
                "long": {"file": "tables/points.csv", "id": "person", "x": "x", "y": "y", "time": "time"},
                "grid": {"low": [0, 0], "high": [8, 8], "step": 1},
                "clock": {"step": "1h", "split": "1d"},
                "outside": "drop",
                "hierarchy": {"kind": "squares", "widths": [2, 4]},
                "time_hierarchy": intervals(6, 12, high=24),
            },
        },
        {"lkc": {"l": 2, "k": 3, "c": 0.9}},
        {"name": "trajectory", "support": 0.03},
    ),
    "trajectory-mixed": plan(
        "rides.csv",
        {
            "age": quasi(intervals(20, 40, high=120)),
            "sex": quasi(FLAT),
            "path": role("quasi", type="trajectory", hierarchy={"tree": {"N": ["S01", "S02", "S03", "S04"],
                                                                         "S": ["S05", "S06", "S07", "S08"]}}),
            "status": role("sensitive"),
        },
        {"lkc": {"l": 2, "k": 3, "c": 0.8, "values": ["Senior"]}, "km": {"k": 3, "m": 2}},
        {"name": "trajectory", "score": "ratio", "support": 0.05},
    ),
    "sets-km-tree": plan(
        "baskets.csv",
        {"basket": role("quasi", type="set", hierarchy={"tree": GOODS}), "town": role("keep")},
        {"km": {"k": 4, "m": 2}},
        {"name": "sets", "support": 0.05},
    ),
    "sets-rho": plan(
        "baskets.csv",
        {"basket": role("quasi", type="set"), "town": quasi(FLAT)},
        {"rho_uncertainty": {"rho": 0.3, "sensitive": ["test", "pills"], "l": 2}},
        {"name": "sets", "by": "suppression", "score": "gain", "support": 0.05},
    ),
    "sets-long-local": plan(
        "buys.csv",
        {"basket": role("quasi", type="set", long={"id": "who", "item": "what"}), "ill": role("sensitive")},
        {"km": {"k": 6, "m": 2}},
        {"name": "sets", "by": "suppression", "scope": "local", "support": 4},
    ),
}  # fmt: skip

DECLARED_AGE = quasi({"kind": "grown", "low": 0, "high": 100, "grid": 5})
DECLARED_HOURS = quasi(intervals(10))
INCOME = role("target", values=["<=50K", ">50K"])

PRIVATE: dict[str, Tree] = {
    "diffgen-gini-sets": private(
        "stays.csv",
        {"age": DECLARED_AGE, "sex": role("quasi", values=["Female", "Male"]), "income": INCOME,
         "codes": role("quasi", type="set", separator=" ", hierarchy={"tree": CODES})},
        12,
        {"name": "diffgen", "specializations": 6},
    ),
    "diffgen-max-counts": private(
        "stays.csv",
        {"age": DECLARED_AGE, "education": EDUCATION, "sex": SEX, "income": INCOME},
        "3/2",
        {"name": "diffgen", "score": "max", "specializations": 8, "output": "counts"},
    ),
    "diffgen-gain-plain": private(
        "stays.csv",
        {"hours": DECLARED_HOURS, "age": DECLARED_AGE, "sex": SEX, "income": INCOME},
        6.0,
        {"name": "diffgen", "score": "gain", "consistent": False, "kept": 0.4},
    ),
    "marginals": private(
        "stays.csv",
        {"age": DECLARED_AGE, "hours": DECLARED_HOURS, "education": EDUCATION, "sex": SEX, "income": INCOME},
        1.0,
        {},
    ),
    "marginals-counts": private(
        "stays.csv",
        {"age": DECLARED_AGE, "education": EDUCATION, "sex": SEX},
        "5",
        {"name": "marginals", "bins": 8, "output": "counts"},
        output={"format": "parquet"},
    ),
    "marginals-workload": private(
        "stays.csv",
        {"age": DECLARED_AGE, "hours": DECLARED_HOURS, "education": EDUCATION, "income": INCOME},
        2,
        {"name": "marginals", "workload": [["age", "hours"]]},
    ),
}  # fmt: skip

OTHERS: dict[str, Tree] = {
    "mondrian-distributions": plan(
        "people.csv",
        {"age": AGE, "hours-per-week": HOURS, "sex": SEX, "occupation": role("sensitive")},
        {"k_anonymity": 6},
        {"name": "mondrian", "output": "distributions"},
    ),
    "optimal-divergence": plan(
        "people.csv",
        {"age": AGE, "sex": SEX, "race": RACE, "occupation": JOB},
        {"k_anonymity": 5, "divergence": {"confidence": 0.6, "far": "branch"}},
        {"name": "optimal", "max_suppressed": 0.1},
    ),
    "swapping": plan(
        "people.csv",
        {"age": AGE, "sex": SEX, "education": EDUCATION, "occupation": role("sensitive"), "income": role("target")},
        {},
        {"name": "swapping", "rate": 0.3, "within": {"sex": 0, "age": 1}},
    ),
    "graded": plan(
        "people.csv",
        {"age": role("sensitive"), "hours-per-week": role("sensitive"), "marital-status": role("sensitive"),
         "sex": role("keep"), "income": role("target")},
        {},
        {"name": "graded", "secret": "tables/sites.secret"},
    ),
    "condense": plan(
        "people.csv",
        {"age": role("quasi"), "hours-per-week": role("quasi"), "sex": role("keep"), "occupation": role("sensitive"),
         "income": role("target")},
        {"indistinguishable_groups": 8},
        {"name": "condense", "per_class": True, "bounds": {"age": [0, 100]}},
        attack={"trials": 100},
    ),
    "condense-distributions": plan(
        "people.csv",
        {"age": role("quasi"), "hours-per-week": role("quasi"), "fnlwgt": role("sensitive"), "sex": role("keep")},
        {"indistinguishable_groups": 10},
        {"name": "condense", "groups": "k-means", "output": "distributions"},
        attack={"trials": 100},
    ),
    "hide-items": plan(
        "baskets.csv",
        {"basket": role("quasi", type="set")},
        {"hidden_rules": {"file": "tables/secret.toml", "min_support": 0.02, "min_confidence": 0.1, "margin": 0.1}},
        {"name": "hide-items"},
        attack={"trials": 100},
    ),
    "tree": {
        "input": {"path": "tables/people.csv"},
        "columns": {
            "age": role("quasi", hierarchy={"kind": "grown", "low": 0, "high": 120, "grid": 5}),
            "education": role("quasi"),
            "sex": role("quasi", values=["Female", "Male"]),
            "occupation": role("target"),
        },
        "privacy": {"k_anonymity": 5, "l_diversity": {"kind": "recursive", "c": 5, "l": 3}},
        "algorithm": {"name": "atp", "seed": SEED},
        "attack": {"trials": 100},
        "tree": {},
    },
    "collected": {
        "input": {"path": "tables/answers.csv"},
        "collection": {"spec": "tables/survey.json"},
        "columns": {"sex": role("keep")},
        "algorithm": {"name": "reconstruct", "seed": SEED, "cells": 6},
    },
}  # fmt: skip

PLANS: dict[str, Tree] = {**TABLES, **ITEMS, **PRIVATE, **OTHERS}
