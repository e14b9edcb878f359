"""Mining before and after graded grouping: tables 2 and 3, figures 3, 4 and 5 of document 002, on Adult."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.algorithms.graded_pseudonyms import GradedPseudonyms
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.counts.k_means import lloyd, nearest, weighted_step
from sfumato.mining.document_json import tree_json, tree_of
from sfumato.mining.naive_bayes import CountedBayes
from sfumato.mining.prediction import path_match, predicted
from sfumato.mining.records import Records, read_records
from sfumato.mining.tree_document import TreeDocument
from sfumato.mining.tree_learning import TreeLearner
from sfumato.papers.setup import adult_data
from sfumato.pipeline.graded_sites import items_behind, tree_behind
from sfumato.pipeline.rules import rules as mined_rules
from sfumato.reports.papers import Beside, Grid, Shown
from sfumato.tables.graded_grouping import GradedGrouping, read_terms
from sfumato.tables.graded_secret import GradedNumbers, GradedSecret
from sfumato.tables.schema import Categories, Numbers
from sfumato.tables.table import Table

COLUMNS = ("age", "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex",
           "native-country")  # fmt: skip
"""What the document looks at."""
LOW, HIGH, RANGES = 15, 95, 5
AGES = (30, 40, 70, 25, 15, 58, 73, 37, 90)
THEIRS = ("2", "2.667", "4.667", "1.667", "1", "3.867", "4.867", "2.467", "5.99")
"""Table 3 for k = 5."""
Whole = NDArray[np.int64]
Rule = tuple[Sequence[str], Sequence[str], int, float]
_KEY = bytes(range(32))
"""A study needs the same codes in every run."""
_SPLIT = "They do not say how they split records or which options of WEKA they chose."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """The same rows twice."""

    before: pl.DataFrame
    """As they are."""
    after: pl.DataFrame
    """With codes for age and aliases for education."""
    secret: GradedSecret
    """What leads back."""
    training: int
    """How many rows, from the first on, are learnt from."""
    words: str
    """What these rows are."""


@cache
def adult_pair() -> Pair:
    """Adult before and after."""
    data = adult_data()
    frame = data.frame.select(COLUMNS)
    terms = read_terms(
        {
            "age": {"low": LOW, "high": HIGH, "categories": RANGES},
            "education": frame["education"].unique().sort().to_list(),
        }
    )
    secret = GradedSecret(key=_KEY, terms=terms)
    pseudonyms = GradedPseudonyms.columns(Table(frame=frame), secret)
    after = frame.with_columns(pseudonyms["age"].cast(pl.Float64), pseudonyms["education"])
    return Pair(before=frame, after=after, secret=secret, training=data.training, words=data.words)


def values(*, full: bool, work: Work) -> Shown:
    """Table 3: nine numbers and their codes for five categories of width 15."""
    five = GradedGrouping(limits=tuple(map(Fraction, range(15, 91, 15))), values=(1, 2, 3, 4, 5))
    codes = five.codes(AGES)
    comparisons = [
        Beside(
            what=f"{age}, k = 5",
            theirs=theirs,
            ours=code,
            holds=abs(float(code) - float(theirs)) <= (0.01 if age == 90 else 0.0005),
            why="only the largest number is moved, to 0.999 above its value" if age == 90 else "",
        )
        for age, theirs, code in zip(AGES, THEIRS, codes, strict=True)
    ]
    back = five.numbers(codes)
    kept = float(np.corrcoef(AGES, [float(code) for code in codes])[0, 1])
    comparisons += [
        Beside(
            what="read back",
            theirs="interpreted by the parties",
            ours=", ".join(back),
            holds=back == [str(age) for age in AGES],
        ),
        Beside(what="correlation", theirs="1", ours=f"{kept:.6f}", holds=kept > 0.999),
    ]
    notes = ["The columns k = 3 and k = 4 of the document fit no one set of categories, and are not compared."]
    return Shown(data="The nine numbers of the document.", beside=comparisons, notes=notes)


def rules(*, full: bool, work: Work) -> Shown:
    """Table 2: the best rules of both tables, age left out as in the document."""
    pair = adult_pair()
    wanted = (("Apriori", 10, ">= 0.91"), ("Tertius", 11, ">= 0.95"), ("Predictive Apriori", 100, ">= 0.9941"))
    comparisons = [_same_rules(pair, *_rules_of(pair, 100))]
    for name, many, confidence in wanted:
        _, before_rules, other = _rules_of(pair, many)
        least = [sorted((rule[3] for rule in some), reverse=True)[:many][-1] for some in (before_rules, other)]
        comparisons.append(
            Beside(
                what=f"{name}: least confidence of the best {many} rules",
                theirs=f"{many} rules {confidence}, before and after",
                ours=f"{least[0]:.4f} before, {least[1]:.4f} after",
                holds=least[0] == least[1],
                why="" if name == "Apriori" else "ours are rules of frequent sets; that search asks for something else",
            )
        )
    return Shown(data=pair.words, beside=comparisons)


def _same_rules(pair: Pair, support: float, before_rules: list[Rule], other: list[Rule]) -> Beside:
    back = [(items_behind(a, pair.secret), items_behind(c, pair.secret), n, share) for a, c, n, share in other]
    same = _as_set(before_rules) == _as_set(back)
    return Beside(
        what=f"all rules with support {support:g} and confidence 0.9: translated, those of the original",
        theirs="information loss is nil",
        ours=f"{len(before_rules):,} before, {len(other):,} after, {'equal' if same else 'different'}",
        holds=same,
    )


def _rules_of(pair: Pair, many: int) -> tuple[float, list[Rule], list[Rule]]:
    """Support goes down in steps of 0.05, as WEKA's does, until there are so many rules."""
    for step in range(19, 0, -1):
        support = step / 20
        rule_lists = [_mined(frame, support) for frame in (pair.before, pair.after)]
        if len(rule_lists[0]) >= many:
            break
    return support, rule_lists[0], rule_lists[1]


def _mined(frame: pl.DataFrame, support: float) -> list[Rule]:
    named = [name for name in COLUMNS if name != "age"]
    rule_table = mined_rules(frame.select(named), columns=named, min_support=support, min_confidence=0.9).frame()
    return list(rule_table.select("antecedent", "consequent", "rows", "confidence").iter_rows())


def _as_set(rules: Sequence[Rule]) -> set[object]:
    return {(frozenset(a), frozenset(c), rows, confidence) for a, c, rows, confidence in rules}


def classes(*, full: bool, work: Work) -> Shown:
    """Figure 3 and the figures around it: a tree that tells marital status, and clusters."""
    pair = adult_pair()
    (tree, before_classes), (mined, other) = (_tree(pair, frame) for _, frame in _frames(pair))
    predictions = {"before": before_classes, "after": other}
    back = tree_of(tree_behind(tree_json(mined), pair.secret))
    same_paths = path_match(tree, back) == 1.0
    comparisons = [
        _equal(pair, "marital-status", "accuracy of a tree, class marital status", "85.55 %", predictions, _SPLIT),
        _alike("confusion matrix of the tree, figure 3", predictions),
        Beside(
            what="the miner's tree, translated at a site",
            theirs="interpreted by the parties",
            ours=f"{'every path' if same_paths else 'not every path'} is that of the original's tree",
            holds=same_paths,
        ),
    ]
    by_name = int((_tree(pair, pair.after, ordered=False)[1] != before_classes).sum())
    squares = {what: _clusters(frame) for what, frame in _frames(pair)}
    first, second = squares.values()
    comparisons.append(
        Beside(
            what="sum of squared errors within two clusters",
            theirs="92,466 before and after",
            ours=f"{first[0]:,.3f} before, {second[0]:,.3f} after",
            holds=abs(first[0] - second[0]) <= 1e-9 * first[0],
            why="they have 35,561 records, and do not say how their distances are scaled",
        )
    )
    same = bool((first[1] == second[1]).all())
    words = "equal" if same else "different"
    comparisons.append(Beside(what="cluster of every record", theirs="equal", ours=words, holds=same))
    note = (
        "The learner breaks ties by the order of values. Here aliases are declared in the order of the values behind "
        f"them; in the order of their names {by_name:,} of {len(before_classes):,} records get another class."
    )
    return Shown(data=pair.words, beside=comparisons, grids=[_confusion(pair, before_classes)], notes=[note])


def bayes(*, full: bool, work: Work) -> Shown:
    """Figures 4 and 5: naive Bayes that tells the work class."""
    pair = adult_pair()
    predictions = {what: _bayes(pair, frame) for what, frame in _frames(pair)}
    comparisons = [
        _equal(pair, "workclass", "accuracy of naive Bayes, class work class", "equal before and after", predictions),
        _alike("class of every record", predictions),
    ]
    ages = [frame["age"].cast(pl.Float64).to_numpy() for _, frame in _frames(pair)]
    for what, (before_value, other) in (
        ("mean", [age.mean() for age in ages]),
        ("standard deviation", [age.std() for age in ages]),
    ):
        ours = f"{before_value:.3f}, {other:.3f}"
        comparisons.append(
            Beside(what=f"{what} of age", theirs="differs", ours=ours, holds=bool(before_value != other))
        )
    note = "Age is told by 20 equal parts of its range; WEKA takes a normal curve."
    return Shown(data=pair.words, beside=comparisons, notes=[note])


def _frames(pair: Pair) -> tuple[tuple[str, pl.DataFrame], tuple[str, pl.DataFrame]]:
    return ("before", pair.before), ("after", pair.after)


def _records(pair: Pair, frame: pl.DataFrame, target: str, *, ordered: bool = True) -> Records:
    """Age on its grid: years, or the sixteenth of a range; values, if ordered, in the order of the original's."""
    age, schools = pair.secret.columns["age"], pair.before["education"].unique().sort().to_list()
    years = Numbers(low=LOW, high=HIGH, grid=1)
    if frame is pair.after and isinstance(age, GradedNumbers):
        first = age.grouping.values[0]
        years = Numbers(low=first, high=first + RANGES, grid=RANGES / (HIGH - LOW))
        schools = [pair.secret.columns["education"].shown(school) for school in schools]
    education = {"education": Categories(values=tuple(schools))} if ordered else {}
    return read_records(frame, target=target, domains={"age": years, **education})


def _tree(pair: Pair, frame: pl.DataFrame, *, ordered: bool = True) -> tuple[TreeDocument, Whole]:
    """A tree, and the class that it tells of every record that it was not learnt from."""
    records = _records(pair, frame, "marital-status", ordered=ordered)
    tree = TreeLearner()(records.take(slice(pair.training)))
    return tree, predicted(tree, records.take(slice(pair.training, None)))


def _bayes(pair: Pair, frame: pl.DataFrame) -> Whole:
    records = _records(pair, frame, "workclass")
    learnt = CountedBayes.learnt(records.take(slice(pair.training)))
    return learnt.predicted(records.take(slice(pair.training, None)))


def _clusters(frame: pl.DataFrame) -> tuple[float, Whole]:
    """Two clusters: numbers scaled to [0, 1], and two different values of a category at a distance of 1."""
    age = frame["age"].cast(pl.Float64).to_numpy()
    parts = [((age - age.min()) / np.ptp(age))[:, None]]
    parts += [frame.select(name).to_dummies().to_numpy() / np.sqrt(2) for name in COLUMNS[1:]]
    points = np.concatenate(parts, axis=1)
    start = points[np.sort(Chance(seed=10).generator().permutation(len(points))[:2])]
    squares, centres = lloyd(weighted_step(points, np.ones(len(points))), start, most=100)
    return squares, nearest(points, centres)[0]


def _equal(pair: Pair, target: str, what: str, theirs: str, predictions: Mapping[str, Whole], why: str = "") -> Beside:
    """The accuracy before and after."""
    true = _truth(pair, target)
    before_share, other = (float((prediction == true).mean()) for prediction in predictions.values())
    return Beside(
        what=what,
        theirs=theirs,
        ours=f"{before_share:.2%} before, {other:.2%} after",
        holds=before_share == other,
        why=why,
    )


def _alike(what: str, predictions: Mapping[str, Whole]) -> Beside:
    before_classes, other = predictions.values()
    apart = int((before_classes != other).sum())
    ours = (
        f"equal, {len(before_classes):,} records"
        if not apart
        else f"{apart:,} of {len(before_classes):,} records differ"
    )
    return Beside(what=what, theirs="equal", ours=ours, holds=not apart)


def _truth(pair: Pair, target: str) -> Whole:
    names = pair.before[target].unique().sort().to_list()
    return np.array([names.index(label) for label in pair.before[target][pair.training :].to_list()], np.int64)


def _confusion(pair: Pair, prediction: Whole) -> Grid:
    """Records by true and told class."""
    names = pair.before["marital-status"].unique().sort().to_list()
    counts = np.zeros((len(names), len(names)), np.int64)
    np.add.at(counts, (_truth(pair, "marital-status"), prediction), 1)
    rows = [[name, *(f"{count:,}" for count in row)] for name, row in zip(names, counts.tolist(), strict=True)]
    return Grid(title="confusion matrix of the tree, before and after", heads=["true", *names], rows=rows)
