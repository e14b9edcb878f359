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
    base, found = _base(), _central(ks, work)
    best = min(100 * (min(alone.values()) - found[k]) for k in ks)
    beside = [
        Beside(what="SE(A): the first party's own table", theirs="17.7 %", ours=f"{alone['SE(A)']:.1%}", why=LEARNER),
        Beside(what="SE(B): the second party's own table", theirs="17.9 %", ours=f"{alone['SE(B)']:.1%}"),
        Beside(what="CE at K = 100", theirs="16.8 %", ours=f"{found[100]:.1%}"),
        Beside(
            what="both parties gain by the integration, at every K (points, at least)",
            theirs="about 1.5",
            ours=f"{best:.1f}",
            holds=best > 0,
            why="" if best > 0 else _GREEDY,
        ),
    ]
    return _shown({"CE": found}, ks, {**alone, "BE": base.baseline, "UE": base.upper_bound}, beside)


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
    beside = [
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
    return _shown(lines, ks, {"BE": base.baseline, "UE": base.upper_bound}, beside)


def _ks(full: bool) -> tuple[int, ...]:
    return (20, 40, 60, 80, 100) if full else (20, 60, 100)


def _train(rows: int) -> NDArray[np.bool_]:
    return np.asarray(np.arange(rows) < adult_data().training)


def _own(frame: pl.DataFrame) -> float:
    """The error of a tree on one party's own values."""
    one = prepared_columns(frame, {"k_anonymity": 2})
    return study(one, "tree", _train(frame.height)).baseline


def _base() -> Study:
    frame = adult_data().frame
    return study(prepared(frame, requirement(_L, 20, _C)).at("rows"), "tree", _train(frame.height))


def _central(ks: Sequence[int], work: Work, lost: dict[int, float] | None = None) -> dict[int, float]:
    frame, found = adult_data().frame, {}
    for number, k in enumerate(ks):
        work.advance("joint release", number, len(ks))
        one = prepared(frame, requirement(_L, k, _C))
        made = specialized(one, work)
        if lost is not None:
            lost[k] = float("nan") if made is None else made.loss
        found[k] = float("nan") if made is None else study(one, "tree", _train(frame.height)).errors(made).released
    return found


def _naive(base: Study, k: int, work: Work) -> tuple[float, float]:
    """The error on parts that were generalized each by itself, and what they lost."""
    frame, made = adult_data().frame, []
    parts = [np.arange(number, frame.height, PARTIES) for number in range(PARTIES)]
    for part in parts:
        one = prepared(frame[part], requirement(_L, k, _C)).at("rows")
        outcome = specialized(one, work)
        if outcome is None:
            return float("nan"), float("nan")
        made.append(outcome.recoding(one.problem))
    problem = base.problem
    if not isinstance(problem, Problem):
        raise TypeError("the study is not of a problem")
    put = Outcome.of(problem, _put_together(made, parts), np.zeros(frame.height, np.bool_), {})
    return base.errors(put).released, put.loss


def _put_together(made: Sequence[Recoded], parts: Sequence[Ids]) -> Recoded:
    """The labels of all parts' rows, in the order of the whole table."""
    rows = sum(map(len, parts))
    columns = range(len(made[0].labels))
    labels = [list(dict.fromkeys(label for one in made for label in one.labels[c])) for c in columns]
    keys = np.zeros((len(columns), rows), np.int32)
    rulers = []
    for c in columns:
        place = {label: code for code, label in enumerate(labels[c])}
        sizes, steps = np.zeros(len(place)), np.zeros(len(place))
        for one, part in zip(made, parts, strict=True):
            codes = np.array([place[label] for label in one.labels[c]], np.int32)
            keys[c, part] = codes[one.keys[c]]
            sizes[codes], steps[codes] = one.rulers[c].sizes, one.rulers[c].steps
        first = made[0].rulers[c]
        rulers.append(
            Ruler(sizes=sizes, steps=steps, total=first.total, height=first.height, continuous=first.continuous)
        )
    return Recoded(labels=tuple(map(tuple, labels)), keys=keys, rulers=tuple(rulers), forms=made[0].forms)


def _gaps(base: Study, errors: Sequence[float]) -> tuple[list[float], list[float]]:
    return [one - base.baseline for one in errors], [base.upper_bound - one for one in errors]


def _span(values: Sequence[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}"


def _shown(
    found: Mapping[str, Mapping[int, float]],
    ks: Sequence[int],
    compared: Mapping[str, float],
    beside: Sequence[Beside],
) -> Shown:
    """One chart by K, and a table of everything, in per cent."""
    drawn = [
        Line(name=name, points=[(k, 100 * line[k]) for k in ks], tone=n) for n, (name, line) in enumerate(found.items())
    ]
    drawn += flat(ks, {name: 100 * y for name, y in compared.items()})
    heights = ticks_over(
        [*(100 * line[k] for line in found.values() for k in ks), *(100 * y for y in compared.values())]
    )
    title = f"classification error, L = {_L}, C = {_C:.0%}"
    rows = [[str(k), *(f"{100 * line[k]:.2f}" for line in found.values())] for k in ks]
    rows += [[name, *[f"{100 * y:.2f}"] * len(found)] for name, y in compared.items()]
    grid = Grid(title="errors, in %", heads=["K", *found], rows=rows)
    panel = Panel(title=title, lines=drawn, x="K", ticks=list(ks), y=heights, unit=" %")
    return Shown(data=adult_data().words, beside=beside, grids=[grid], panels=[panel])
