"""Trees shared in place of data: figures 10 to 16 of document 004, measured on the data sets of its table 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from sfumato.core.run_context import Work
from sfumato.mining.diversity_experiment import METHODS, Diversity, DiversityPoint
from sfumato.mining.experiment import Experiment, experiment
from sfumato.mining.sharing_experiment import SharingPoint
from sfumato.reports.papers import Beside, Grid, Shown
from sfumato.reports.plots import Line, Panel, ticks_over

SHARING = ("BASIS", "PGEN", "BASEGEN", "BAGGING")
NAMES: Mapping[str, str] = {"ATP": "ATP-PGEN", "LDM": "LDM-PGEN", "LDD": "LDD", "OPTI": "OPTI"}
DATA = "UCI Adult (class: occupation), Nursery, Car and CMC; the data set Train of table 1 is not public."
SINGLE, SEVERAL = 1, 10
_SAME = 0.005
"""Averages that are nearer than this are taken for equal."""
_SMOOTH = (
    "PGEN draws every attribute that a path does not ask for evenly from its domain; what such attributes say about "
    "the class is lost, and trees that vote keep it. Local trees that are not pruned, and four times as many records, "
    "do not change that here. The paper does not say with which options its trees were learnt."
)
_CLOSER = (
    "The metric counts misses among the records that a tree was learnt from. LDM grows by gain and fits these more "
    "closely than a tree by gain ratio that is pruned; on tested records that does not help it (accuracy)."
)
_TABLES = (
    "Our OPTI and LDD recode by hierarchies of our own, and their rows are read as values drawn from each label; the "
    "paper does not print its hierarchies."
)


@cache
def _measured(full: bool) -> Experiment:
    """All figures come from the same runs, so they are made once."""
    return experiment(quick=not full, work=_WATCH[0])


_WATCH = [Work()]
"""Who is told how far the runs are; not a part of what is remembered."""


def _found(full: bool, work: Work) -> Experiment:
    _WATCH[0] = work
    return _measured(full)


def one_model(*, full: bool, work: Work) -> Shown:
    """Figure 10: accuracy of the global tree (a) and of naive Bayes (b) by the number of sources."""
    points = _found(full, work).sharing
    comparisons = [
        *_above(points, "tree", "accuracy", "PGEN", ("BASEGEN", "BAGGING")),
        *_above(points, "bayes", "accuracy", "PGEN", ("BASEGEN",)),
        _falls(points),
    ]
    panels = [panel for learner in ("tree", "bayes") for panel in _by_sources(points, learner, "accuracy")]
    return Shown(data=DATA, beside=comparisons, grids=[_grid(points, "accuracy")], panels=panels, notes=[_runs(points)])


def several_models(*, full: bool, work: Work) -> Shown:
    """Figure 11: accuracy of trees, rules and naive Bayes learnt from pseudo-data of PGEN."""
    points = [point for point in _found(full, work).sharing if point.method == "PGEN"]
    mean = {
        learner: _mean(point.accuracy for point in points if point.learner == learner)
        for learner in ("tree", "bayes", "rule")
    }
    comparisons = [
        Beside(
            what=f"trees beside {name}, mean accuracy over all data sets and numbers of sources",
            theirs="trees are better",
            ours=f"{mean['tree']:.1%} and {mean[learner]:.1%}",
            holds=mean["tree"] >= mean[learner] - _SAME,
            why="" if mean["tree"] >= mean[learner] - _SAME else _SMOOTH,
        )
        for learner, name in (("rule", "conjunctive rules"), ("bayes", "naive Bayes"))
    ]
    panels = [
        _panel(f"{data}, PGEN", {learner: _line(points, data, learner, "PGEN", "accuracy") for learner in mean})
        for data in _sets(points)
    ]
    return Shown(data=DATA, beside=comparisons, grids=[_grid(points, "accuracy")], panels=panels, notes=[_runs(points)])


def classes(*, full: bool, work: Work) -> Shown:
    """Figure 12: class match of global trees by the number of sources."""
    points = _found(full, work).sharing
    comparisons = _above(points, "tree", "class_match", "PGEN", ("BASEGEN", "BAGGING"))
    panels = _by_sources(points, "tree", "class_match")
    return Shown(
        data=DATA, beside=comparisons, grids=[_grid(points, "class_match")], panels=panels, notes=[_runs(points)]
    )


def paths(*, full: bool, work: Work) -> Shown:
    """Figure 13: path match of global trees learnt from pseudo-data."""
    points = [point for point in _found(full, work).sharing if point.learner == "tree" and point.sources <= 5]
    shared = [
        point for point in points if point.method == "PGEN" and point.sources > 1 and point.path_match is not None
    ]
    most = max((point.path_match or 0.0 for point in shared), default=0.0)
    rare = sum((point.path_match or 0.0) < 0.01 for point in shared)
    comparisons = [
        Beside(
            what="paths that the tree of pseudo-data shares with that of all records, several sources",
            theirs="less than 32 %, often below 1 %",
            ours=f"at most {most:.1%}, below 1 % in {rare} of {len(shared)} cases",
            holds=most < 0.32,
        )
    ]
    panels = _by_sources(points, "tree", "path_match")
    return Shown(
        data=DATA, beside=comparisons, grids=[_grid(points, "path_match")], panels=panels, notes=[_runs(points)]
    )


def accuracy_by_diversity(*, full: bool, work: Work) -> Shown:
    """Figure 14: accuracy of the tree of a single source under (c, l)- and simple l-diversity."""
    return _diverse(full, work, SINGLE, {"accuracy": lambda point: point.accuracy})


def metric_by_diversity(*, full: bool, work: Work) -> Shown:
    """Figure 15: the classification metric of a single source; the smaller, the better."""
    return _diverse(full, work, SINGLE, {"CM": lambda point: point.metric})


def quality_of_ten(*, full: bool, work: Work) -> Shown:
    """Figure 16: ten sources; accuracy of a tree (a) and of naive Bayes (b), and the metric (c)."""
    reads: dict[str, Callable[[DiversityPoint], float | None]] = {
        "accuracy": lambda point: point.accuracy,
        "accuracy of naive Bayes": lambda point: point.bayes,
        "CM": lambda point: point.metric,
    }
    return _diverse(full, work, SEVERAL, reads)


def _runs(points: Sequence[SharingPoint | DiversityPoint]) -> str:
    return f"Every figure is the average of {max((point.runs for point in points), default=0)} runs."


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / max(len(known), 1)


def _sets(points: Sequence[SharingPoint | DiversityPoint]) -> list[str]:
    return list(dict.fromkeys(point.data for point in points))


def _value(point: SharingPoint, key: str) -> float | None:
    value: float | None = getattr(point, key)
    return value


def _line(points: Sequence[SharingPoint], data: str, learner: str, method: str, key: str) -> list[tuple[float, float]]:
    mine = [point for point in points if (point.data, point.learner, point.method) == (data, learner, method)]
    pairs = [(float(point.sources), _value(point, key)) for point in sorted(mine, key=lambda point: point.sources)]
    return [(many, 100 * value) for many, value in pairs if value is not None]


def _panel(title: str, lines: Mapping[str, Sequence[tuple[float, float]]], x: str = "sources") -> Panel:
    drawn = {name: points for name, points in lines.items() if points}
    across = sorted({point[0] for points in drawn.values() for point in points})
    return Panel(
        title=title,
        lines=[Line(name=name, points=points, tone=tone) for tone, (name, points) in enumerate(drawn.items())],
        x=x,
        ticks=across if len(across) > 1 else [*across, *(position + 1 for position in across)] or [0.0, 1.0],
        y=ticks_over([point[1] for points in drawn.values() for point in points]),
        unit=" %",
    )


def _by_sources(points: Sequence[SharingPoint], learner: str, key: str) -> list[Panel]:
    words = key.replace("_", " ")
    return [
        _panel(f"{data}, {words} of {learner}", {name: _line(points, data, learner, name, key) for name in SHARING})
        for data in _sets(points)
    ]


def _above(points: Sequence[SharingPoint], learner: str, key: str, best: str, others: Sequence[str]) -> list[Beside]:
    """The paper's ordering, data set by data set, on the average over all numbers of sources but one."""
    comparisons, words = [], key.replace("_", " ")
    for data in _sets(points):
        mine = [point for point in points if point.data == data and point.learner == learner and point.sources > 1]
        mean = {
            name: _mean(_value(point, key) or 0.0 for point in mine if point.method == name) for name in (best, *others)
        }
        for other in others:
            holds = mean[best] >= mean[other] - _SAME
            comparisons.append(
                Beside(
                    what=f"{data}, {words} of {learner}, several sources: {best} beside {other}",
                    theirs=f"{best} is better",
                    ours=f"{mean[best]:.1%} and {mean[other]:.1%}",
                    holds=holds,
                    why="" if holds else _SMOOTH,
                )
            )
    return comparisons


def _falls(points: Sequence[SharingPoint]) -> Beside:
    """PGEN loses accuracy as sources get more."""
    ends = []
    for data in _sets(points):
        line = _line(points, data, "tree", "PGEN", "accuracy")
        ends.append(line[-1][1] <= line[0][1] + 100 * _SAME)
    return Beside(
        what="accuracy of PGEN with the most sources beside one source",
        theirs="it decreases",
        ours=f"lower on {sum(ends)} of {len(ends)} data sets",
        holds=all(ends),
    )


def _grid(points: Sequence[SharingPoint], key: str) -> Grid:
    rows = []
    for point in points:
        value = _value(point, key)
        if value is not None:
            rows.append([point.data, str(point.sources), point.learner, point.method, f"{value:.1%}"])
    return Grid(
        title=f"{key.replace('_', ' ')}, everything measured",
        heads=["data", "sources", "global model", "method", key.replace("_", " ")],
        rows=rows,
    )


def _diverse(
    full: bool, work: Work, sources: int, reads: Mapping[str, Callable[[DiversityPoint], float | None]]
) -> Shown:
    points = [point for point in _found(full, work).diversity if point.sources == sources]
    comparisons = [comparison for what, read in reads.items() for comparison in _orderings(points, what, read)]
    panels = [panel for what, read in reads.items() for panel in _by_l(points, what, read)]
    heads = ["data", "requirement", "method", *reads, "sources that could publish"]
    rows = [
        [point.data, _asked(point.requirement), NAMES[point.method], *(_told(read(point)) for read in reads.values()),
         f"{point.published:.0%}"]
        for point in points
    ]  # fmt: skip
    grid = Grid(title=f"{sources} source{'s' * (sources > 1)}, everything measured", heads=heads, rows=rows)
    return Shown(data=DATA, beside=comparisons, grids=[grid], panels=panels, notes=[_runs(points)])


def _told(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.1%}"


def _asked(requirement: Diversity) -> str:
    return f"l = {requirement.l}, simple" if requirement.c is None else f"l = {requirement.l}, c = {requirement.c:g}"


def _orderings(
    points: Sequence[DiversityPoint], what: str, read: Callable[[DiversityPoint], float | None]
) -> list[Beside]:
    """ATP beside each other method, on the requirements that both could meet."""
    comparisons, less = [], what == "CM"
    for data in _sets(points):
        value = {(point.requirement, point.method): read(point) for point in points if point.data == data}
        for other in METHODS[1:]:
            both = [
                (mine, theirs)
                for (requirement, method), mine in value.items()
                if method == "ATP" and mine is not None and (theirs := value.get((requirement, other))) is not None
            ]
            if not both:
                continue
            mine, theirs = (_mean(pair[n] for pair in both) for n in (0, 1))
            holds = mine <= theirs + _SAME if less else mine >= theirs - _SAME
            comparisons.append(
                Beside(
                    what=f"{data}, {what}: {NAMES['ATP']} beside {NAMES[other]}, {len(both)} requirements",
                    theirs=f"{NAMES['ATP']} is {'lower' if less else 'higher'}",
                    ours=f"{mine:.1%} and {theirs:.1%}",
                    holds=holds,
                    why="" if holds else _TABLES if other in ("LDD", "OPTI") else _CLOSER if less else _SMOOTH,
                )
            )
    return comparisons


def _by_l(points: Sequence[DiversityPoint], what: str, read: Callable[[DiversityPoint], float | None]) -> list[Panel]:
    """A panel for every data set and c, methods along l."""
    panels = []
    for data in _sets(points):
        for c in dict.fromkeys(point.requirement.c for point in points if point.data == data):
            mine = [point for point in points if point.data == data and point.requirement.c == c]
            lines = {
                NAMES[name]: [
                    (float(point.requirement.l), 100 * value)
                    for point in mine
                    if point.method == name and (value := read(point)) is not None
                ]
                for name in METHODS
            }
            title = f"{data}, {what}, " + ("simple l-diversity" if c is None else f"c = {c:g}")
            if any(lines.values()):
                panels.append(_panel(title, lines, x="l"))
    return panels
