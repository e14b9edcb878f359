"""The literal metrics against numbers worked out by hand."""

from __future__ import annotations

from math import isclose, log2

import pytest

from tests.brute import metrics
from tests.brute.metrics import Published

JOBS = {
    "cook": ("cook", "food", "*"),
    "baker": ("baker", "food", "*"),
    "clerk": ("clerk", "office", "*"),
}
JOB_SIZES = ({"cook": 1, "baker": 1, "clerk": 1}, {"food": 2, "office": 1}, {"*": 3})
AGES = {age: (age, "[0-50)" if float(age) < 50 else "[50-100]", "*") for age in ("20.5", "40.0", "60.0")}
AGE_SIZES = (dict.fromkeys(AGES, 0.0), {"[0-50)": 50.0, "[50-100]": 50.0}, {"*": 100.0})

# Rows 0 and 1 become (food, 20.5) and (food, 40.0); row 2 (office, 60.0); row 3 is suppressed.
RELEASE = Published(
    rows=(("cook", "20.5"), ("baker", "20.5"), ("clerk", "60.0"), ("cook", "40.0")),
    paths=(JOBS, AGES),
    sizes=(JOB_SIZES, AGE_SIZES),
    totals=(3, 100.0),
    continuous=(False, True),
    levels=(1, 1),
    suppressed=frozenset({3}),
    target=("yes", "no", "yes", "yes"),
)
TOP = Published(
    rows=(("cook", "20.5"), ("clerk", "60.0")),
    paths=(JOBS, AGES),
    sizes=(JOB_SIZES, AGE_SIZES),
    totals=(3, 100.0),
    continuous=(False, True),
    levels=(2, 0),
    target=("yes", "no"),
)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # jobs 1/2, 1/2, 0, suppressed 1; ages 1/2 three times, suppressed 1
        (metrics.loss, (0.5 + 0.5 + 0 + 1 + 0.5 * 3 + 1) / 8),
        (metrics.ncp, (2 / 3 + 2 / 3 + 0 + 1 + 0.5 * 3 + 1) / 8),
        (metrics.discernibility, 2 * 2 + 1 + 1 * 4),
        (metrics.discernibility_ratio, 9 / 16),
        (metrics.classification, (1 + 1) / 4),
        (metrics.height, 2),
        (metrics.precision, 1 - (6 * 0.5 + 2) / 8),
        # jobs: cook 2 of food 3, baker 1 of food 3, clerk certain, the suppressed cook 2 of 4;
        # ages: 20.5 is 2 of [0-50) 3, twice, 60.0 certain, the suppressed 40.0 is 1 of 4;
        # all suppressed: jobs cook 2/4 twice, baker and clerk 1/4; ages the same
        (metrics.entropy, (log2(3 / 2) + log2(3) + 0 + 1 + 2 * log2(3 / 2) + 0 + 2) / (2 * (1 + 1 + 2 + 2))),
        (lambda release: metrics.class_size(release, 2), 4 / 3 / 2),
    ],
)
def test_a_release_with_a_suppressed_row(metric, expected):
    assert isclose(metric(RELEASE), expected)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (metrics.loss, 0.5),
        (metrics.ncp, 0.5),
        (metrics.discernibility, 2),
        (metrics.discernibility_ratio, 0.5),
        (metrics.classification, 0),
        (metrics.height, 2),
        (metrics.precision, 0.5),
        (metrics.entropy, 0.5),
        (lambda release: metrics.class_size(release, 1), 1),
    ],
)
def test_one_column_shown_and_one_hidden(metric, expected):
    assert isclose(metric(TOP), expected)
