"""Releases of tables compared by a frontier: their axes of privacy and utility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from sfumato.attacks.risk import risk
from sfumato.bundles.manifest.document import plain
from sfumato.core.claims import Claim, titled
from sfumato.metrics.classification import Trial
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.frontier.axes import ACCURACY, Axis, Record, accuracy_axis
from sfumato.pipeline.methods.table.problem import prepare
from sfumato.pipeline.methods.table.release import TableRelease
from sfumato.pipeline.plan.evaluation import Grid, Tree
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import Release
from sfumato.tables.table import Table

# The axes on which releases of tables are compared: risk, class sizes, claims and attacks; metrics and accuracy.


DEFAULT_METRICS = ("loss", "discernibility-ratio")
"""The default axes of utility; both mean the same for every k, as class-size (in units of k) does not."""


def privacy_axes(records: Sequence[Record]) -> tuple[Axis, ...]:
    """The risk measures, and what each promise reached where that says more."""
    verified_records = [record for record in records if record["status"] == "verified"]
    axes = [
        _risk("highest risk", "prosecutor", "odds", "the highest chance to pick the row of a person known to be in it"),
        _risk("average risk", "marketer", "share", "the share of rows matched rightly by whoever tries to match all"),
    ]
    if any(record["risk"]["population_known"] for record in verified_records):
        meaning = "the highest chance to pick the row of a person known to be in the population"
        axes.append(_risk("journalist risk", "journalist", "odds", meaning))
    smallest = Axis(
        name="smallest class",
        meaning="the rows of the smallest group that share their quasi-identifiers, by the stricter reading",
        better="higher",
        how="count",
        read=lambda record: min(record["smallest_class"].values()),
    )
    claims = [axis for axis in _claim_axes(verified_records) if not _same(axis, smallest, verified_records)]
    attacks = dict.fromkeys(name for record in verified_records for name in record.get("attacks", {}))
    return (*axes, smallest, *claims, *map(_attack, attacks))


def _attack(name: str) -> Axis:
    meaning = f"what attack {name} gains over guessing without the release"
    return Axis(
        name=f"attack {name}",
        meaning=meaning,
        better="lower",
        how="share",
        read=lambda record: record.get("attacks", {}).get(name),
    )


def utility_axes(metrics: Sequence[str], *, target: bool) -> tuple[Axis, ...]:
    """The chosen metrics; where there is a target, also the accuracy of a classifier."""
    names = tuple(metrics) or DEFAULT_METRICS
    if target and ACCURACY not in names:
        names = (*names, ACCURACY)
    return tuple(accuracy_axis() if name == ACCURACY else _metric(name) for name in names)


def _risk(name: str, field: str, how: Literal["odds", "share"], meaning: str) -> Axis:
    return Axis(name=name, meaning=meaning, better="lower", how=how, read=lambda record: record["risk"][field])


def _metric(name: str) -> Axis:
    part = catalog().metrics[name]
    return Axis(
        name=name,
        meaning=part.meaning,
        better=part.make.direction,
        how="number",
        read=lambda record: record["utility"].get(name),
    )


def _claim_axes(records: Sequence[Record]) -> list[Axis]:
    """One axis for each model and column that some point makes a promise about."""
    axes: dict[tuple[str, str | None, int], Axis] = {}
    for record in records:
        for (model, column, turn), claim in _turns(record).items():
            of = f" of {column}" if column else ""
            name = f"{model}{of}" + (f" ({turn + 1})" if turn else "")
            meaning = f"the worst value of {model}{of} over all groups; required is {claim['sense']} a limit"
            axes.setdefault(
                (model, column, turn),
                Axis(
                    name=name,
                    meaning=meaning,
                    better="higher" if claim["sense"] in ("at least", "above") else "lower",
                    how="number",
                    read=lambda each, key=(model, column, turn): _turns(each).get(key, {}).get("reached"),  # type: ignore[misc]
                ),
            )
    return list(axes.values())


def _turns(record: Record) -> dict[tuple[str, str | None, int], Mapping[str, Any]]:
    """A record's claims by model, column and, where several have the same, their turn."""
    claims: dict[tuple[str, str | None, int], Mapping[str, Any]] = {}
    for claim in record["claims"]:
        turn = sum(key[:2] == (claim["model"], claim["column"]) for key in claims)
        claims[claim["model"], claim["column"], turn] = claim
    return claims


def _same(axis: Axis, other: Axis, records: Sequence[Record]) -> bool:
    return all(axis.value(record) == other.value(record) for record in records)


# How releases of tables are compared by a frontier.


DEFAULT_ALGORITHMS = ("auto", "mondrian", "datafly")
"""What is compared with the plan's own algorithm by default."""
DEFAULT_K = (2, 5, 10, 25)
"""The values of k, beside the plan's own, where there is no grid."""


class TableComparison:
    """Tables are compared by risk, class sizes and claims, and by metrics and a classifier."""

    def algorithms(self, plan: Plan) -> tuple[Tree, ...]:
        """The plan's own algorithm, and some that work differently."""
        own = plan.algorithm.name
        others = [name for name in DEFAULT_ALGORITHMS if name != "auto" or own not in ("optimal", "greedy")]
        return tuple({"name": name} for name in dict.fromkeys([own, *others]))

    def grid(self, plan: Plan) -> Grid:
        """Some values of k, where k-anonymity is asked for."""
        k = plan.privacy.get("k_anonymity")
        if not isinstance(k, int) or isinstance(k, bool):
            return {}
        return {"privacy.k_anonymity": tuple(sorted({*DEFAULT_K, k}))}

    def attack(self, plan: Plan) -> Tree:
        """What the frontier names, or nothing."""
        if not plan.frontier.attacks:
            return {"run": False}
        accept = list(catalog().chosen_attacks(plan.frontier.attacks))
        control = {} if plan.attack.control is None else {"control": plan.attack.control}
        return {"attacks": list(plan.frontier.attacks), "trials": plan.attack.trials, "accept": accept, **control}

    def measured(self, release: Release, table: Table) -> dict[str, Any]:
        """Risk, claims, losses, and what a classifier reaches."""
        table_release = cast("TableRelease", release)
        problem = table_release.prepared.problem
        record = {
            "algorithm_used": table_release.algorithm,
            "proven_optimal": table_release.outcome.proven,
            "claims": [_claim(claim) for claim in table_release.claims],
            "rows": table_release.prepared.rows,
            "suppressed_rows": table_release.suppressed_rows,
            "classes": table_release.classes.count,
            "smallest_class": table_release.smallest_class,
            "risk": table_release.risk,
            "attacks": {
                finding.attack: finding.risk if finding.rate.carried_out else None
                for finding in table_release.audit.findings
            },
            "utility": dict(table_release.utility),
            "accuracy": None if problem.target is None else Trial(problem).released(table_release.outcome),
        }
        return plain(record)  # type: ignore[no-any-return]

    def original(self, plan: Plan, table: Table, population: Table | None) -> dict[str, Any]:
        """Its risks, and what the classifier reaches on it."""
        prepared = prepare(plan, table, population, catalog())
        cells, problem = prepared.problem.cells, prepared.problem
        trial = None if problem.target is None else Trial(problem)
        return {
            "rows": prepared.rows,
            "classes": cells.count,
            "risk": risk(cells.sizes, cells.population_sizes()[0] if cells.population else None).to_json(),
            "target": problem.target,
            "accuracy": None if trial is None else {"original": trial.original, "majority": trial.majority},
        }

    def privacy(self, records: Sequence[Record]) -> tuple[Axis, ...]:
        """Risks, class sizes, claims, attacks."""
        return privacy_axes(records)

    def utility(self, metrics: Sequence[str], *, target: bool) -> tuple[Axis, ...]:
        """Metrics and accuracy."""
        return utility_axes(metrics, target=target)

    def refuse_pick(self) -> None:
        """A point may be chosen by its figures."""


def _claim(claim: Claim) -> Mapping[str, Any]:
    return {
        "model": claim.model,
        "title": titled(claim.model, claim.parameters),
        "column": claim.parameters.get("column"),
        "sense": claim.sense,
        "limit": claim.limit,
        "reached": claim.reached,
        "holds": claim.holds,
    }
