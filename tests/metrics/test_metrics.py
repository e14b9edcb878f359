"""Metrics equal their literal definitions, and their bounds bound."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.lattice.frequencies import Rollup
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import (
    NCP,
    AverageClassSize,
    ClassificationMetric,
    Discernibility,
    DiscernibilityRatio,
    Height,
    LossMetric,
    NonUniformEntropy,
    Precision,
)
from sfumato.metrics.metric import Metric, Ruler, View
from sfumato.tables.hierarchy_builders import Intervals
from sfumato.tables.schema import ObservedDomain
from tests.brute import metrics as brute
from tests.example_tables import column, problem_cells, quasi_rows
from tests.weights import examples

PAIRS = [
    (LossMetric(), brute.loss),
    (NCP(), brute.ncp),
    (Discernibility(), brute.discernibility),
    (DiscernibilityRatio(), brute.discernibility_ratio),
    (ClassificationMetric(), brute.classification),
    (Height(), brute.height),
    (Precision(), brute.precision),
    (NonUniformEntropy(), brute.entropy),
    (AverageClassSize(k=2), lambda release: brute.class_size(release, 2)),
]


def views(quasi, target, hidden_classes):
    """Every node of the lattice as a metric sees it and as the literal definition sees it."""
    made, hierarchies = problem_cells(quasi, {"y": target})
    rollup = Rollup(made.classes, hierarchies)
    rows = list(zip(*quasi.values(), strict=True))
    for levels in product(*(range(h.height + 1) for h in hierarchies)):
        node = rollup.at(levels)
        classes = rollup.classes(node)
        hidden = np.array([(i * 7 + 3) % 5 < hidden_classes for i in range(classes.count)], bool)
        rulers = tuple(Ruler.at(h, n) for h, n in zip(hierarchies, levels, strict=True))
        view = View(classes=classes, suppressed=hidden, rulers=rulers, target="y")
        row_class = rollup.ids(node)[made.row_cell]
        literal = brute.Published(
            rows=rows,
            paths=[
                {leaf: [lv.labels[lv.parent[code]] for lv in h.levels] for code, leaf in enumerate(h.levels[0].labels)}
                for h in hierarchies
            ],
            sizes=[[dict(zip(lv.labels, lv.sizes, strict=True)) for lv in h.levels] for h in hierarchies],
            totals=[h.total for h in hierarchies],
            continuous=[h.continuous for h in hierarchies],
            levels=levels,
            suppressed=frozenset(int(i) for i in np.flatnonzero(hidden[row_class])),
            target=target,
        )
        yield levels, hierarchies, made, view, literal


@examples(60)
@given(quasi=quasi_rows(), data=st.data(), hidden=st.integers(0, 4))
def test_equal_their_definitions(quasi, data, hidden):
    rows = len(next(iter(quasi.values())))
    target = data.draw(st.lists(st.sampled_from(["p", "q"]), min_size=rows, max_size=rows))
    for levels, _, _, view, literal in views(quasi, target, hidden):
        for metric, definition in PAIRS:
            if metric.name == "height" and view.suppressed.all():
                continue
            assert metric.measure(view) == pytest.approx(definition(literal), abs=1e-9), (metric.name, levels)


@examples(40)
@given(quasi=quasi_rows(), data=st.data())
@pytest.mark.parametrize("metric", [metric for metric, _ in PAIRS], ids=lambda m: m.name)
def test_kit(metric: Metric, quasi, data):
    """Nothing done costs the minimum, everything suppressed the maximum; floors and bounds hold along the lattice."""
    rows = len(next(iter(quasi.values())))
    target = data.draw(st.lists(st.sampled_from(["p", "q"]), min_size=rows, max_size=rows))
    losses = {}
    for levels, hierarchies, made, view, _ in views(quasi, target, 0):
        loss = metric.loss(view)
        losses[levels] = loss
        counts = [
            np.bincount(codes, weights=made.classes.sizes, minlength=len(h.levels[0].labels)).astype(np.int64)
            for codes, h in zip(made.classes.keys, hierarchies, strict=True)
        ]
        floors = metric.floors(hierarchies, counts)
        if floors is not None:
            assert sum(f[n] for f, n in zip(floors, levels, strict=True)) == pytest.approx(loss.value, abs=1e-9)
        assert loss.coarser <= loss.value + 1e-9
        assert metric.low - 1e-9 <= metric.measure(view) <= metric.high + 1e-9
    for low, high in product(losses, losses):
        if all(a <= b for a, b in zip(low, high, strict=True)):
            assert losses[low].coarser <= losses[high].value + 1e-9
    least, most = losses[min(losses)].value, losses[max(losses)].value
    assert least <= min(one.value for one in losses.values()) + 1e-9
    assert most >= max(one.value for one in losses.values()) - 1e-9


def test_intervals_are_measured_by_width():
    ages = column("age", ["1", "5", "12", "99"])
    real = column("size", ["1.5", "5.25", "12.0", "99.5"])
    by_count = Intervals(widths=(10,), low=0, high=99).build(ObservedDomain.of(ages))
    by_width = Intervals(widths=(10,), low=0, high=100).build(ObservedDomain.of(real))
    assert LossMetric().cost(Ruler.at(by_count, 0)).tolist() == [0.0] * 4
    assert LossMetric().cost(Ruler.at(by_count, 1)).tolist() == pytest.approx([9 / 99, 9 / 99, 9 / 99])
    assert LossMetric().cost(Ruler.at(by_width, 1)).tolist() == pytest.approx([0.1, 0.1, 0.1])
    assert LossMetric().cost(Ruler.at(by_width, 2)).tolist() == [1.0]
    assert cells([ages]).classes.count == 4
