"""A package from outside that brings one part of each kind."""

from __future__ import annotations

from sfumato.pipeline.catalog.parts import AlgorithmPart, AttackPart, MetricPart, ModelPart, Parts
from sfumato_sample import sample_builders as build
from sfumato_sample.sample_attacks import OneColumn, OneItem
from sfumato_sample.sample_formats import PIPES
from sfumato_sample.sample_items import DropRare, ItemSupport
from sfumato_sample.sample_metrics import Weather, WorstColumn
from sfumato_sample.sample_models import Crowd, PSensitive
from sfumato_sample.sample_private import FirstColumn
from sfumato_sample.sample_searches import Stairs, staircase

PARTS = Parts(
    models=(
        ModelPart(
            make=PSensitive,
            key="p_sensitive",
            build=build.p_sensitive,
            plan="p_sensitive = { p = 2, k = 5 }",
            meaning="Every group has at least {k} rows and shows at least {p} values of {column}.",
            limits="It does not see that one of the {p} values may be far more frequent than the others.",
            promises=build.p_sensitive_promises,
        ),
        ModelPart(
            make=Crowd,
            key="crowd",
            build=build.crowd,
            plan="crowd = 10",
            meaning="Every released combination fits at least {k} people of the population.",
            limits="It does not protect people who are known to be in the table.",
            needs=("population",),
        ),
        ModelPart(
            make=ItemSupport,
            key="item_support",
            build=build.item_support,
            plan="item_support = 5",
            meaning="Whoever knows one item of a person finds at least {k} records.",
            limits="It does not protect against somebody who knows two items.",
            promises=build.item_support_promises,
            judges=("items",),
        ),
    ),
    metrics=(
        MetricPart(make=WorstColumn, meaning="the share of its hierarchy that the worst column climbed"),
        MetricPart(make=Weather, meaning="something that nobody can tell"),
    ),
    algorithms=(
        AlgorithmPart(name="stairs", run=Stairs),
        AlgorithmPart(name="staircase", run=staircase),
        AlgorithmPart(name="drop-rare", run=DropRare, solves="items"),
        AlgorithmPart(name="first-column", run=FirstColumn, solves="private", needs=("integers",)),
    ),
    attacks=(
        AttackPart(name=OneColumn.name, make=lambda trials: OneColumn(trials=trials), quick=True),
        AttackPart(name=OneItem.name, make=lambda trials: OneItem(trials=trials), attacks="items"),
    ),
    formats=(PIPES,),
)
