"""Releases of several parties on Adult: figures 5.4 and 5.5 of the thesis.

A joint release is that of one table, row for row; the tests show it. So its error is measured on one table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.algorithms.problem import Outcome, Problem, Recoded
from sfumato.core.run_context import Work
from sfumato.counts.keys import Ids
from sfumato.metrics.classification import Study
from sfumato.metrics.metric import Ruler
from sfumato.papers.lkc import prepared, prepared_columns, requirement, specialized
from sfumato.papers.setup import CLASS, LEARNER, adult_data, flat
from sfumato.pipeline.methods.table.studies import study
from sfumato.reports.papers import Beside, Grid, Shown
from sfumato.reports.plots import Line, Panel, ticks_over

TAXATION = ("hours-per-week", "capital-gain", "capital-loss", "workclass", "occupation")
"""The second party of table 5.5; the first has the other columns."""
PARTIES = 3
_L, _C = 4, 0.2
_GREEDY = (
    "C = 20 % leaves room for five to eight labels, and the search is greedy: at K = 40 it takes two splits of "
    "capital-loss early, after which no label of education is allowed any more; at K = 60 it takes education."
)


def vertical(*, full: bool, work: Work) -> Shown:
    """Figure 5.4: what each party's own columns tell, and what the integrated release tells."""
    ks = _ks(full)
    frame = adult_data().frame
    mine = [name for name in frame.columns if name not in (*TAXATION, CLASS)]
    alone = {"SE(A)": _own(frame.select(*mine, CLASS)), "SE(B)": _own(frame.select(*TAXATION, CLASS))}
    base, errors = _base(), _central(ks, work)
    best = min(100 * (min(alone.values()) - errors[k]) for k in ks)
    comparisons = [
        Beside(what="SE(A): the first party's own table", theirs="17.7 %", ours=f"{alone['SE(A)']:.1%}", why=LEARNER),
        Beside(what="SE(B): the second party's own table", theirs="17.9 %", ours=f"{alone['SE(B)']:.1%}"),
        Beside(what="CE at K = 100", theirs="16.8 %", ours=f"{errors[100]:.1%}"),
        Beside(
            what="both parties gain by the integration, at every K (points, at least)",
            theirs="about 1.5",
            ours=f"{best:.1f}",
            holds=best > 0,
            why="" if best > 0 else _GREEDY,
        ),
    ]
    return _shown({"CE": errors}, ks, {**alone, "BE": base.baseline, "UE": base.upper_bound}, comparisons)


def horizontal(*, full: bool, work: Work) -> Shown:
    """Figure 5.5: integrate, then generalize; beside three parties that generalize, then integrate."""
    ks = _ks(full)
    lost: dict[int, float] = {}
    base = _base()
    together = _central(ks, work, lost)
    parted = {k: _naive(base, k, work) for k in ks}
    apart = {k: error for k, (error, _) in parted.items()}
    more = {k: parted[k][1] - lost[k] for k in ks}
    cost, left = ([100 * x for x in line] for line in _gaps(base, [apart[k] for k in ks]))
    comparisons = [
        Beside(what="CE - BE in points, generalize then integrate", theirs="3.8 to 8.2", ours=_span(cost), why=LEARNER),
        Beside(what="UE - CE in points, generalize then integrate", theirs="1.7 to 6.1", ours=_span(left)),
        Beside(
            what="the joint release is better at every K",
            theirs="significantly",
            ours=_span([100 * (apart[k] - together[k]) for k in ks]) + " points",
            holds=all(together[k] <= apart[k] for k in ks),
            why=f"It depends on K, and more rows do not always lead to a finer cut. {_GREEDY}",
        ),
        Beside(
            what="information lost by generalizing first (loss metric, beyond that of the joint release)",
            theirs="significant",
            ours=f"{min(more.values()):.3f} to {max(more.values()):.3f}",
            holds=min(more.values()) > 0,
            why="" if min(more.values()) > 0 else "As above: the parts take other labels than the whole.",
        ),
    ]
    lines = {"integrate, then generalize": together, "generalize, then integrate": apart}
    return _shown(lines, ks, {"BE": base.baseline, "UE": base.upper_bound}, comparisons)


def _ks(full: bool) -> tuple[int, ...]:
    return (20, 40, 60, 80, 100) if full else (20, 60, 100)


def _train(rows: int) -> NDArray[np.bool_]:
    return np.asarray(np.arange(rows) < adult_data().training)


def _own(frame: pl.DataFrame) -> float:
    """The error of a tree on one party's own values."""
    preparation = prepared_columns(frame, {"k_anonymity": 2})
    return study(preparation, "tree", _train(frame.height)).baseline


def _base() -> Study:
    frame = adult_data().frame
    return study(prepared(frame, requirement(_L, 20, _C)).at("rows"), "tree", _train(frame.height))


def _central(ks: Sequence[int], work: Work, lost: dict[int, float] | None = None) -> dict[int, float]:
    frame, errors = adult_data().frame, {}
    for number, k in enumerate(ks):
        work.advance("joint release", number, len(ks))
        preparation = prepared(frame, requirement(_L, k, _C))
        outcome = specialized(preparation, work)
        if lost is not None:
            lost[k] = float("nan") if outcome is None else outcome.loss
        errors[k] = (
            float("nan")
            if outcome is None
            else study(preparation, "tree", _train(frame.height)).errors(outcome).released
        )
    return errors


def _naive(base: Study, k: int, work: Work) -> tuple[float, float]:
    """The error on parts that were generalized each by itself, and what they lost."""
    frame, recodings = adult_data().frame, []
    parts = [np.arange(number, frame.height, PARTIES) for number in range(PARTIES)]
    for part in parts:
        preparation = prepared(frame[part], requirement(_L, k, _C)).at("rows")
        outcome = specialized(preparation, work)
        if outcome is None:
            return float("nan"), float("nan")
        recodings.append(outcome.recoding(preparation.problem))
    problem = base.problem
    if not isinstance(problem, Problem):
        raise TypeError("the study is not of a problem")
    put = Outcome.of(problem, _put_together(recodings, parts), np.zeros(frame.height, np.bool_), {})
    return base.errors(put).released, put.loss


def _put_together(recodings: Sequence[Recoded], parts: Sequence[Ids]) -> Recoded:
    """The labels of all parts' rows, in the order of the whole table."""
    rows = sum(map(len, parts))
    columns = range(len(recodings[0].labels))
    labels = [list(dict.fromkeys(label for recoding in recodings for label in recoding.labels[c])) for c in columns]
    keys = np.zeros((len(columns), rows), np.int32)
    rulers = []
    for c in columns:
        place = {label: code for code, label in enumerate(labels[c])}
        sizes, steps = np.zeros(len(place)), np.zeros(len(place))
        for recoding, part in zip(recodings, parts, strict=True):
            codes = np.array([place[label] for label in recoding.labels[c]], np.int32)
            keys[c, part] = codes[recoding.keys[c]]
            sizes[codes], steps[codes] = recoding.rulers[c].sizes, recoding.rulers[c].steps
        first = recodings[0].rulers[c]
        rulers.append(
            Ruler(sizes=sizes, steps=steps, total=first.total, height=first.height, continuous=first.continuous)
        )
    return Recoded(labels=tuple(map(tuple, labels)), keys=keys, rulers=tuple(rulers), forms=recodings[0].forms)


def _gaps(base: Study, errors: Sequence[float]) -> tuple[list[float], list[float]]:
    return [error - base.baseline for error in errors], [base.upper_bound - error for error in errors]


def _span(values: Sequence[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}"


def _shown(
    errors: Mapping[str, Mapping[int, float]],
    ks: Sequence[int],
    compared: Mapping[str, float],
    comparisons: Sequence[Beside],
) -> Shown:
    """One chart by K, and a table of everything, in per cent."""
    drawn = [
        Line(name=name, points=[(k, 100 * line[k]) for k in ks], tone=n)
        for n, (name, line) in enumerate(errors.items())
    ]
    drawn += flat(ks, {name: 100 * y for name, y in compared.items()})
    heights = ticks_over(
        [*(100 * line[k] for line in errors.values() for k in ks), *(100 * y for y in compared.values())]
    )
    title = f"classification error, L = {_L}, C = {_C:.0%}"
    rows = [[str(k), *(f"{100 * line[k]:.2f}" for line in errors.values())] for k in ks]
    rows += [[name, *[f"{100 * y:.2f}"] * len(errors)] for name, y in compared.items()]
    grid = Grid(title="errors, in %", heads=["K", *errors], rows=rows)
    panel = Panel(title=title, lines=drawn, x="K", ticks=list(ks), y=heights, unit=" %")
    return Shown(data=adult_data().words, beside=comparisons, grids=[grid], panels=[panel])
