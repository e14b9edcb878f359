"""Subjects to try an attack on: tables published as they are, or in any other way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from sfumato.attacks.frame.coverage import coverage_of
from sfumato.attacks.frame.promises import allowed
from sfumato.attacks.frame.subject import Coverage, Subject
from sfumato.attacks.frame.trials import Limit
from sfumato.datasets.synthetic_census import census
from sfumato.describe.hierarchy import Hierarchy

NUMERIC = frozenset({"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"})
"""The columns of a census that are numbers."""
QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "hours-per-week")
"""The columns of a census that others may know."""


def texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Every cell as text."""
    return frame.select(pl.all().cast(pl.String).fill_null(""))


def raw_subject(
    people: pl.DataFrame,
    quasi: Sequence[str],
    sensitive: Sequence[str] = (),
    *,
    control: pl.DataFrame | None = None,
    numeric: frozenset[str] = NUMERIC,
    **more: Any,
) -> Subject:
    """A table published as it is."""
    people, control = texts(people), None if control is None else texts(control)
    known = people if control is None else pl.concat([people, control.select(people.columns)])
    return Subject(
        release=people,
        quasi=tuple(quasi),
        sensitive=tuple(sensitive),
        coverage={name: Coverage.plain(known[name].unique(maintain_order=True).to_list()) for name in quasi},
        people=people,
        control=control,
        numeric=numeric & set(people.columns),
        **more,
    )


def released_subject(
    release: pl.DataFrame,
    people: pl.DataFrame,
    quasi: Sequence[str],
    sensitive: Sequence[str] = (),
    *,
    control: pl.DataFrame | None = None,
    numeric: frozenset[str] = NUMERIC,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    **more: Any,
) -> Subject:
    """Any other release of these people: generalized, perturbed or synthetic; labels are read as they are written."""
    release, people = texts(release), texts(people)
    control = None if control is None else texts(control)
    known = people if control is None else pl.concat([people, control.select(people.columns)])
    trees = hierarchies or {}
    return Subject(
        release=release,
        quasi=tuple(quasi),
        sensitive=tuple(sensitive),
        coverage={
            name: coverage_of(
                release[name].unique(maintain_order=True).to_list(),
                known[name].unique(maintain_order=True).to_list(),
                trees.get(name),
            )
            for name in quasi
        },
        people=people,
        control=control,
        numeric=numeric & set(people.columns),
        **more,
    )


def census_subject(rows: int = 1000, *, seed: int = 1, control: bool = True, **more: Any) -> Subject:
    """A census published as it is, with as many other people for control."""
    return raw_subject(
        census(rows, seed=seed), QUASI, ("income",), control=census(rows, seed=seed + 1000) if control else None, **more
    )


def limit_of(subject: Subject, column: str, different: int) -> Limit | None:
    """The limit of whoever reads bounded shares within classes as a bound on what anybody can infer."""
    found = allowed(subject.promises, column, different)
    return Limit(value=found["allowed_by_claims"], why="the claims") if found else None
