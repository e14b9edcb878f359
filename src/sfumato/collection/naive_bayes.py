"""Naive Bayes on reconstructed distributions: one for every class and column (document 000, section 20.2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.collection.channels import Reals
from sfumato.collection.reconstruction import Method, Stopping, reconstruct
from sfumato.collection.region_counts import (
    Asked,
    cells_for,
    channel_of,
    classes_of,
    columns_of,
    shown_evidence,
    true_cells,
)
from sfumato.core.arguments import above
from sfumato.core.errors import ParameterError
from sfumato.core.extras import extra

extra("sklearn.base", "mining on distributions")

from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402


class ReconstructedNaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns from randomized columns and true classes, and classifies records that were not randomized.

    Claim: where nothing was randomized it is naive Bayes of the cells, as scikit-learn's ``CategoricalNB``.
    Source: document 000, section 20.2.2.
    """

    def __init__(
        self,
        questions: Sequence[Asked] = (),
        *,
        method: Method = "em",
        stopping: Stopping | None = None,
        cells: int | None = None,
        alpha: float = 1.0,
    ) -> None:
        """Remember how to fit; ``alpha`` is added to every count, ``cells`` are those of numbers."""
        self.questions, self.method, self.stopping = questions, method, stopping
        self.cells, self.alpha = cells, alpha

    def fit(self, X: Any, y: Any) -> ReconstructedNaiveBayes:  # noqa: N803
        """Reconstruct every column of the shown records, class by class."""
        given = columns_of(X, self.questions)
        classes, codes = classes_of(y, len(given[0]))
        cells = self.cells or cells_for(len(codes))
        tables = []
        for question, column in zip(self.questions, given, strict=True):
            seen = shown_evidence(question, column, cells)
            parts = [seen.take(codes == n) for n in range(len(classes))]
            method: Any = "em" if self.method == "bayes" and seen.channel.densities is None else self.method
            tables.append(np.array([reconstruct(p, method=method, stopping=self.stopping).counts for p in parts]))
        return self.fit_counts(tables, classes, cells=cells)

    def fit_counts(self, tables: Sequence[Reals], classes: Any, *, cells: int) -> ReconstructedNaiveBayes:
        """Learn from counts: for each question a table of classes x cells, whole or real, wherever it comes from."""
        above("alpha", self.alpha, 0)
        self.channels_ = [channel_of(question, cells) for question in self.questions]
        wanted = [(len(classes), channel.cells) for channel in self.channels_]
        if [table.shape for table in tables] != wanted:
            raise ParameterError(f"tables must have the shapes {wanted}, not {[table.shape for table in tables]}")
        self.classes_ = np.asarray(classes)
        sizes = tables[0].sum(axis=1)
        self.class_log_prior_ = np.log(sizes / sizes.sum())
        smoothed = [table + self.alpha for table in tables]
        self.feature_log_prob_ = [np.log(table / table.sum(axis=1, keepdims=True)) for table in smoothed]
        self.n_features_in_ = len(self.questions)
        return self

    def predict_log_proba(self, X: Any) -> Reals:  # noqa: N803
        """The logarithm of each class's probability."""
        check_is_fitted(self)
        score = np.array(0.0)
        for question, channel, logs, column in zip(
            self.questions, self.channels_, self.feature_log_prob_, columns_of(X, self.questions), strict=True
        ):
            score = score + logs[:, true_cells(question, channel, column)].T
        score = score + self.class_log_prior_
        peak = score.max(axis=1, keepdims=True)
        return np.asarray(score - peak - np.log(np.exp(score - peak).sum(axis=1, keepdims=True)))

    def predict_proba(self, X: Any) -> Reals:  # noqa: N803
        """Each class's probability."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The most likely class of every record."""
        return self.classes_[self.predict_log_proba(X).argmax(axis=1)]
