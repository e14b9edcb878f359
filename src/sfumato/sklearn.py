"""Estimators in the manner of scikit-learn: find a recoding in ``fit``, apply it to any records in ``transform``.

>>> from sfumato.sklearn import TopDownSpecializer
>>> TopDownSpecializer(privacy={"k_anonymity": 2}).algorithm
'top-down'

What ``transform`` gives is recoded, but only the records that were fitted are known to meet the requirement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.arguments import one_of
from sfumato.core.errors import DataError, ParameterError
from sfumato.core.extras import extra
from sfumato.metrics.learners import Words, covered, ends_read, values_read
from sfumato.metrics.metric import Reals
from sfumato.pipeline.apply import Outside
from sfumato.pipeline.methods.table.release import TableRelease
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import release
from sfumato.tables.frames import from_frame, to_native
from sfumato.tables.hierarchy import TOP
from sfumato.tables.table import Table

extra("sklearn.base", "sfumato.sklearn")

from sklearn.base import BaseEstimator, TransformerMixin  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402

__all__ = ["BottomUpGeneralizer", "FullDomainGeneralizer", "TopDownSpecializer"]

Output = Literal["features", "labels"]
_CLASS = "class of a record"


class _Recoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What the estimators share; options of their own are keys of ``[algorithm]`` in a plan."""

    algorithm: ClassVar[str]

    def __init__(
        self,
        privacy: Mapping[str, Any] | None = None,
        *,
        hierarchies: Mapping[str, Mapping[str, Any]] | None = None,
        sensitive: str | None = None,
        options: Mapping[str, Any] | None = None,
        outside: Outside = "top",
        output: Output = "features",
    ) -> None:
        """Remember how to fit.

        ``privacy`` and ``hierarchies`` are as in a plan (k-anonymity with k = 5; numbers grown or shown, others shown
        or starred, where nothing is said). ``sensitive`` names a column that is no quasi-identifier. ``output`` is
        numbers for a learner (the smallest and largest number of an interval, the share of a label's values under each
        node) or the labels themselves.
        """
        self.privacy = privacy
        self.hierarchies = hierarchies
        self.sensitive = sensitive
        self.options = options
        self.outside = outside
        self.output = output

    def fit(self, records: Any, classes: Any = None) -> _Recoder:
        """Find a recoding of the records that meets the requirement, for telling the classes if there are any."""
        one_of("output", self.output, ("features", "labels"))
        table = _table(records)
        if table.rows == 0:
            raise DataError("the table has no rows; there is nothing to fit")
        if _CLASS in table.names:
            raise DataError(f"the records must not have a column {_CLASS!r}; it is kept for the classes")
        frame = table.frame
        if classes is not None:
            if np.ndim(classes) != 1:
                raise ParameterError("classes must be a list with one class for each record")
            if len(classes) != frame.height:
                raise ParameterError(f"classes must be as many as records, {frame.height}, not {len(classes)}")
            frame = frame.with_columns(pl.Series(_CLASS, [str(class_name) for class_name in classes], dtype=pl.String))
        plan = Plan.parse(self._plan(table, target=classes is not None))
        self.release_ = cast("TableRelease", release(plan, frame))
        self.feature_names_in_ = np.array(table.names, dtype=object)
        self.n_features_in_ = len(table.names)
        problem = self.release_.prepared.problem
        self.features_ = {name: _features(self.release_, place) for place, name in enumerate(problem.cells.quasi)}
        return self

    def transform(self, records: Any) -> Any:
        """The records under the recoding that was found."""
        check_is_fitted(self, "release_")
        table = _table(records)
        absent = [name for name in self.features_ if name not in table.names]
        if absent:
            raise DataError(f"the records have no column {absent[0]!r}; they have {', '.join(table.names)}")
        if table.rows == 0:
            raise DataError("the records have no rows; there is nothing to recode")
        release = self.release_.transform(table.frame, outside=self.outside)
        if self.output == "labels":
            return _like(release.rows, records)
        parts = [_label_features(release.rows[name], table_) for name, table_ in self.features_.items()]
        return np.concatenate(parts, axis=1) if parts else np.zeros((release.rows.height, 0))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """What the columns of ``transform`` are."""
        check_is_fitted(self, "release_")
        if self.output == "labels":
            return np.array([n for n in self.release_.rows.columns if n != _CLASS], dtype=object)
        wide = [(name, next(iter(table.values())).shape[0]) for name, table in self.features_.items()]
        return np.array([f"{name}_{n}" for name, many in wide for n in range(many)], dtype=object)

    def _plan(self, table: Table, *, target: bool) -> dict[str, Any]:
        given = dict(self.hierarchies or {})
        strange = [name for name in given if name not in table.names]
        if strange:
            raise ParameterError(f"hierarchies must be for columns of the records, not {strange[0]!r}")
        columns: dict[str, Any] = {}
        for name in table.names:
            if name == self.sensitive:
                columns[name] = {"role": "sensitive"}
                continue
            kind = table.column(name).kind
            numeric = kind in ("integer", "real")
            columns[name] = {
                "role": "quasi",
                "type": kind,
                "hierarchy": given.get(name, {"kind": "grown" if numeric else "flat"}),
            }
        if self.sensitive is not None and self.sensitive not in columns:
            raise ParameterError(f"sensitive must be a column of the records, not {self.sensitive!r}")
        return {
            "columns": {**columns, **({_CLASS: {"role": "target"}} if target else {})},
            "privacy": dict(self.privacy or {"k_anonymity": 5}),
            "algorithm": {"name": self.algorithm, **(self.options or {})},
            "attack": {"run": False},
        }


class TopDownSpecializer(_Recoder):
    """Top-down specialization: from all ``*`` downwards while the requirement holds, best for telling the classes."""

    algorithm = "top-down"


class BottomUpGeneralizer(_Recoder):
    """Bottom-up generalization: from the values upwards until the requirement holds, losing least about the classes."""

    algorithm = "bottom-up"


class FullDomainGeneralizer(_Recoder):
    """The full-domain optimum: one level for each column, with the least loss that the requirement allows."""

    algorithm = "optimal"


def _table(records: Any) -> Table:
    """Records as a table; an array gets the columns x0, x1, ..."""
    if isinstance(records, np.ndarray | list):
        cells = np.asarray(records)
        if cells.ndim != 2:
            raise DataError(f"records must have rows and columns, not {cells.ndim} dimensions")
        records = pl.DataFrame({f"x{n}": cells[:, n].tolist() for n in range(cells.shape[1])}, strict=False)
    names: list[Any] = list(getattr(records, "columns", ()))
    if hasattr(records, "set_axis") and any(not isinstance(name, str) for name in names):
        records = records.set_axis([str(name) for name in names], axis=1)
    table = from_frame(records)
    reals = [name for name in table.names if table.frame[name].dtype.is_float()]
    return replace(table, frame=table.frame.with_columns(pl.col(reals).fill_nan(None))) if reals else table


def _like(rows: pl.DataFrame, records: Any) -> Any:
    """Rows as the kind of frame that came in, with its index where all rows are there."""
    if not hasattr(records, "columns"):
        return rows
    native: Any = to_native(rows, records)
    if hasattr(records, "index") and hasattr(native, "set_axis") and len(records) == len(native):
        return native.set_axis(records.index, axis=0)
    return native


def _features(release: Any, place: int) -> dict[str, Reals]:
    """What each label of a column means to a learner."""
    problem, recoding = release.prepared.problem, release.outcome.recoding(release.prepared.problem)
    hierarchy, numbers = problem.hierarchies[place], problem.number(place)
    words = Words.of(recoding, place)
    cover = covered(hierarchy, numbers, words, problem.cells.keys[place], recoding.keys[place])
    whole = np.full((1, cover.shape[1]), 1.0 / max(cover.shape[1], 1))
    every = np.concatenate([cover, whole])
    meaning = ends_read(every, numbers) if numbers is not None else every @ values_read(hierarchy, None, "tree")
    return {label: meaning[n] for n, label in enumerate([*words.labels, TOP]) if label != TOP or n == len(cover)}


def _label_features(labels: pl.Series, table: Mapping[str, Reals]) -> Reals:
    """Rows x features; a label that was never fitted says as little as ``*``."""
    names = labels.cast(pl.String).fill_null(TOP)
    distinct = names.unique(maintain_order=True)
    rows = np.array([table.get(name, table[TOP]) for name in distinct]).reshape(len(distinct), -1)
    place = {name: n for n, name in enumerate(distinct)}
    return np.asarray(rows[np.array([place[name] for name in names], np.int64)])
