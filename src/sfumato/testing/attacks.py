"""The kit that every attack must pass, and subjects to try an attack on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Protocol, Self, TypeVar

import polars as pl

from sfumato.attacks.finding import FEWEST, Finding, Limit, Outcome, Rate
from sfumato.attacks.guarantees import allowed
from sfumato.attacks.labels import coverage_of
from sfumato.attacks.subject import Coverage, Subject
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from sfumato.tables.datasets.synthetic_census import census
from sfumato.tables.hierarchy import Hierarchy

# Subjects to try an attack on: tables published as they are, or in any other way.


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
    limits = allowed(subject.promises, column, different)
    return Limit(value=limits["allowed_by_claims"], why="the claims") if limits else None


# The kit that every attack must pass: it works where nothing is hidden, and learns nothing where nothing is shown.
#
# On the unchanged table an attack succeeds; on a table that shows nothing it is no better than guessing, and says so;
# a trial that could not be carried out is never counted for the release; equal seeds give equal findings; no finding
# says that a release resists. ``BrokenAttack`` is raised where one of these does not hold. Where the subject comes
# from is the caller's business; ``sfumato.testing.attacks`` has some.


_PRAISE = re.compile(r"\bsaf(e|ely|ety)\b")


class SubjectLike(Protocol):
    """What can be attacked: a table, or records that are sets."""

    def without_release(self) -> Self:
        """The same people behind a release that shows nothing."""


S = TypeVar("S", bound=SubjectLike, contravariant=True)  # noqa: PLC0105  an attack takes it and gives none


class Attack(Protocol[S]):
    """An attack on a whole release."""

    def fits(self, subject: S) -> str:
        """Why it cannot be made on this subject; empty if it can."""

    def run(self, subject: S, chance: Chance, limit: Limit | None = None) -> Finding:
        """Make it."""


class BrokenAttack(AssertionError):
    """An attack does not do what every attack does."""


_RUNS = 6
"""How often an attack is made with one seed."""


def check_attack(attack: Attack[S], subject: S, *, works: bool = True) -> Finding:
    """Run the whole kit but the options; gives what the attack finds on the subject, which must show something.

    An attack that looks for what a plain table need not have, such as groups that are unlike all others, is told so by
    ``works=False``: that it finds something must then be shown on a subject of its own.
    """
    finding = works_on_the_raw_table(attack, subject) if works else attack.run(subject, Chance(seed=1))
    check_finding(finding)
    check_finding(learns_nothing_without_the_release(attack, subject))
    repeats_under_a_seed(attack, subject)
    holds_against_a_limit(attack, subject)
    if finding.rate.failed:
        failed_trials_are_no_resistance(finding)
    return finding


def works_on_the_raw_table(attack: Attack[S], subject: S) -> Finding:
    """Against a table published as it is the attack refutes, or is far above the guesser."""
    why = attack.fits(subject)
    _demand(why == "", attack, f"it fits the subject, but says {why!r}")
    finding = attack.run(subject, Chance(seed=1))
    law = f"it works on the raw table, where it found {finding}"
    _demand(finding.outcome is Outcome.REFUTED or finding.rate.low > 2 * finding.naive.high, attack, law)
    return finding


def learns_nothing_without_the_release(attack: Attack[S], subject: S) -> Finding:
    """Against a release that shows nothing it does no better than guessing, and says so."""
    finding = attack.run(subject.without_release(), Chance(seed=1))
    law = f"it learns nothing from a release that shows nothing, where it found {finding}"
    nothing = (Outcome.INCONCLUSIVE, Outcome.NOT_TRIED)
    _demand(finding.outcome in nothing and finding.rate.low <= finding.baseline.high, attack, law)
    return finding


def failed_trials_are_no_resistance(finding: Finding) -> None:
    """Trials that could not be carried out are counted among the trials, and never speak for the release."""
    rate = finding.rate
    _demand(0 < rate.failed <= rate.trials, finding.attack, f"failed trials are counted among the trials, not {rate}")
    _demand(rate.hits <= rate.trials - rate.failed + 1e-9, finding.attack, f"no failed trial is a hit, not {rate}")
    speaks_for_release = finding.outcome is Outcome.NOT_REFUTED and rate.carried_out < FEWEST
    _demand(
        not speaks_for_release,
        finding.attack,
        f"{rate.carried_out} trials that were carried out say nothing for the release",
    )
    every = Rate(hits=0.0, trials=rate.trials, failed=rate.trials)
    lost = Finding(
        attack="", threat="", knows="", does="", rate=every, naive=finding.naive, limit=Limit(value=1, why="")
    )
    _demand(lost.outcome is Outcome.NOT_TRIED, finding.attack, "where every trial failed, nothing was tried")


def repeats_under_a_seed(attack: Attack[S], subject: S) -> None:
    """Equal seeds give equal findings; several runs, because one that draws for itself may draw the same twice."""
    first, *others = (attack.run(subject, Chance(seed=7)).to_json() for _ in range(_RUNS))
    for other in others:
        _demand(first == other, attack, f"equal seeds give equal findings, not {first} and {other}")


def holds_against_a_limit(attack: Attack[S], subject: S) -> None:
    """What was promised is in the finding: a limit that is handed in is the one that is held against it."""
    limit = Limit(value=1.0, why="the claim that nothing is hidden")
    finding = attack.run(subject, Chance(seed=1), limit)
    _demand(finding.limit == limit, attack, f"the limit that it is given is in its finding, not {finding.limit}")
    _demand(finding.outcome is not Outcome.REFUTED, attack, "nothing refutes a promise of nothing")


def check_finding(finding: Finding) -> None:
    """Rates lie in their intervals, the excess in its own, the outcome follows, and it can be written down."""
    for rate in (finding.rate, finding.naive, *([finding.control] if finding.control else [])):
        figures = (rate.value, rate.low, rate.high)
        _demand(all(map(isfinite, figures)), finding.attack, f"rates are finite, not {figures}")
        inside = rate.low - 1e-9 <= rate.value <= rate.high + 1e-9
        _demand(inside, finding.attack, f"a rate lies in its interval, not {figures}")
    low, high = finding.risk_interval
    _demand(
        low - 1e-9 <= finding.risk <= high + 1e-9, finding.attack, f"the excess {finding.risk} lies in {low} to {high}"
    )
    _demand(0 <= finding.risk <= 1, finding.attack, f"the excess is a share, not {finding.risk}")
    refuted = finding.outcome is Outcome.REFUTED
    limit = finding.baseline.high if finding.limit is None else finding.limit.value
    _demand(not refuted or finding.rate.low > limit, finding.attack, "only a rate surely above the limit refutes")
    untried = finding.outcome is Outcome.NOT_TRIED
    _demand(
        untried == (not finding.rate.carried_out), finding.attack, "without a trial that was carried out: not tried"
    )
    _demand(
        all((finding.threat, finding.knows, finding.does)), finding.attack, "it says what it threatens, knows and does"
    )
    document = json.dumps(finding.to_json())
    _demand(not _PRAISE.search(document), finding.attack, "no finding says that a release resists")


def refuses(make: Callable[..., object], **options: Any) -> None:
    """Each of these options alone is nonsense, and is refused by its name."""
    for name, value in options.items():
        try:
            make(**{name: value})
        except ParameterError as error:
            _demand(name in str(error), make, f"the refusal of {name} = {value!r} names it, not {str(error)!r}")
        else:
            raise BrokenAttack(f"{make!r} breaks: {name} = {value!r} is refused")


def _demand(true: bool, attack: object, law: str) -> None:
    if not true:
        raise BrokenAttack(f"{attack!r} breaks: {law}")
