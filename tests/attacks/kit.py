"""What every attack must pass, and subjects to try it on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import polars as pl
import pytest

from sfumato.attacks.frame.coverage import coverage_of
from sfumato.attacks.frame.promises import allowed
from sfumato.attacks.frame.subject import Coverage, Subject
from sfumato.attacks.frame.trials import Finding, Limit, Outcome, Rate
from sfumato.datasets.synthetic_census import census
from sfumato.describe.hierarchy import Hierarchy
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ParameterError

NUMERIC = frozenset({"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"})
QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "hours-per-week")


class Attack(Protocol):
    """An attack on a whole release."""

    def fits(self, subject: Subject) -> str: ...

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding: ...


def limit_of(subject: Subject, column: str, different: int) -> Limit | None:
    """The limit of whoever reads bounded shares within classes as a bound on what anybody can infer."""
    found = allowed(subject.promises, column, different)
    return Limit(value=found["allowed_by_claims"], why="the claims") if found else None


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


def works_on_the_raw_table(attack: Attack, subject: Subject) -> Finding:
    """Against a table published as it is the attack refutes, or is far above the guesser."""
    assert attack.fits(subject) == ""
    found = attack.run(subject, Chance(seed=1))
    assert found.outcome is Outcome.REFUTED or found.rate.low > 2 * found.naive.high, found
    return found


def learns_nothing_without_the_release(attack: Attack, subject: Subject) -> Finding:
    """Against a release that shows nothing it does no better than guessing, and says so."""
    found = attack.run(subject.without_release(), Chance(seed=1))
    assert found.outcome is Outcome.INCONCLUSIVE, found
    assert found.rate.low <= found.baseline.high, found
    return found


def failed_trials_are_no_resistance(finding: Finding) -> None:
    """Trials that could not be carried out are counted among the trials, and never speak for the release."""
    rate = finding.rate
    assert 0 < rate.failed <= rate.trials
    assert rate.hits <= rate.trials - rate.failed + 1e-9
    every = Rate(hits=0.0, trials=rate.trials, failed=rate.trials)
    lost = Finding(
        attack="", threat="", knows="", does="", rate=every, naive=finding.naive, limit=Limit(value=1, why="")
    )
    assert lost.outcome is Outcome.INCONCLUSIVE


def repeats_under_a_seed(attack: Attack, subject: Subject) -> None:
    """Equal seeds give equal findings."""
    first, second = (attack.run(subject, Chance(seed=7)).to_json() for _ in range(2))
    assert first == second


def refuses(make: Callable[..., object], **options: Any) -> None:
    """Each of these options alone is nonsense."""
    for name, value in options.items():
        with pytest.raises(ParameterError, match=name):
            make(**{name: value})


def passes(attack: Attack, subject: Subject) -> Finding:
    """The whole kit but the options: what it finds on the raw table."""
    found = works_on_the_raw_table(attack, subject)
    learns_nothing_without_the_release(attack, subject)
    repeats_under_a_seed(attack, subject)
    for rate in (found.rate, found.naive, *([found.control] if found.control else [])):
        assert np.isfinite([rate.value, rate.low, rate.high]).all()
    assert "safe" not in str(found.to_json())
    return found
