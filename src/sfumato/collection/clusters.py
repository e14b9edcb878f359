"""Clusters of an aggregate distribution: k-means on cells that weigh as much as people stand behind them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.collection.channels import Reals, Whole
from sfumato.collection.joint_distribution import JointDistribution
from sfumato.core.arguments import at_least
from sfumato.core.errors import DataError, ParameterError
from sfumato.core.extras import extra
from sfumato.core.randomness import Chance
from sfumato.counts.k_means import lloyd, nearest, weighted_step

extra("sklearn.base", "mining on distributions")

from sklearn.base import BaseEstimator, ClusterMixin  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402


class AggregateKMeans(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Centres that are nearest, in the mean square, to a reconstructed distribution of several numbers.

    Claim: no step makes the mean squared distance larger (Lloyd); the best of some starts is kept.
    Cost: grows with the cells of the joint, not with answers.
    Source: document 000, section 20.2.2: clusters need the distribution alone.
    """

    def __init__(self, n_clusters: int = 2, *, n_init: int = 8, max_iter: int = 300, random_state: int = 0) -> None:
        """Remember how to fit."""
        self.n_clusters, self.n_init, self.max_iter, self.random_state = n_clusters, n_init, max_iter, random_state

    def fit(self, X: JointDistribution, y: Any = None) -> AggregateKMeans:  # noqa: N803
        """Find the centres of a joint distribution; every range counts alike."""
        at_least("n_clusters", self.n_clusters, 1)
        points, weights = self._points(X)
        if int((weights > 0).sum()) < self.n_clusters:
            raise ParameterError(f"n_clusters must be at most {int((weights > 0).sum())}, the cells that hold anybody")
        rng = Chance(seed=self.random_state).generator()
        tried = [self._lloyd(points, weights, rng) for _ in range(self.n_init)]
        self.inertia_, centres = min(tried, key=lambda run: run[0])
        self.cluster_centers_ = centres * self.spans_ + self.lows_
        self.labels_ = nearest(points, centres)[0].reshape(X.shares.shape)
        self.n_features_in_ = len(X.channels)
        return self

    def predict(self, X: Any) -> Whole:  # noqa: N803
        """The cluster of every record."""
        check_is_fitted(self)
        given = np.asarray(X, np.float64)
        if given.ndim != 2 or given.shape[1] != self.n_features_in_:
            raise DataError(f"X must have {self.n_features_in_} columns; its shape is {given.shape}")
        return nearest((given - self.lows_) / self.spans_, (self.cluster_centers_ - self.lows_) / self.spans_)[0]

    def _points(self, joint: JointDistribution) -> tuple[Reals, Reals]:
        """The middles of all cells, each range from 0 to 1, and their weights."""
        edges = [channel.edges for channel in joint.channels]
        if any(column_edges is None for column_edges in edges):
            raise ParameterError("clusters are of numbers; leave categories out of the joint")
        known = [column_edges for column_edges in edges if column_edges is not None]
        self.lows_ = np.array([column_edges[0] for column_edges in known])
        self.spans_ = np.array([column_edges[-1] - column_edges[0] for column_edges in known])
        middles = [(column_edges[1:] + column_edges[:-1]) / 2 for column_edges in known]
        grid = np.stack([coordinates.reshape(-1) for coordinates in np.meshgrid(*middles, indexing="ij")], axis=1)
        return np.asarray((grid - self.lows_) / self.spans_), joint.shares.reshape(-1)

    def _lloyd(self, points: Reals, weights: Reals, rng: np.random.Generator) -> tuple[float, Reals]:
        centres = points[rng.choice(len(points), size=1, p=weights / weights.sum())]
        while len(centres) < self.n_clusters:  # k-means++: far cells are likely to be next
            far = weights * nearest(points, centres)[1]
            chance = far if far.sum() > 0 else weights
            centres = np.vstack([centres, points[rng.choice(len(points), p=chance / chance.sum())]])
        return lloyd(weighted_step(points, weights), centres, most=self.max_iter)
