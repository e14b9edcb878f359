"""A model that was learnt from shared trees, kept in a folder with where it came from.

A decision tree is kept as a document of our own. Other classifiers are kept by skops or as ONNX where those are
installed; neither runs code when it is read. A pickle does, so one is written and read only where that is asked for.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import BundleError, DataError, MissingExtra, ParameterError
from sfumato.core.extras import require
from sfumato.core.input_files import read_text
from sfumato.core.short_repr import Brief
from sfumato.core.strict_parsing import read_json
from sfumato.mining.attributes import Attribute
from sfumato.mining.document_json import attributes_of, head_json, read_tree, target_of, write_tree
from sfumato.mining.prediction import predicted
from sfumato.mining.records import Records, read_like
from sfumato.mining.tree_document import TreeDocument
from sfumato.mining.tree_learning import TreeLearner
from sfumato.tables.schema import Categories

Format = Literal["json", "skops", "onnx", "pickle"]
FILES: Mapping[str, str] = {"json": "model.json", "skops": "model.skops", "onnx": "model.onnx", "pickle": "model.pkl"}
PROVENANCE = "provenance.json"
TREE = "tree"
"""Our own learner, whose model is a document."""
KNOWN: Mapping[str, str] = {
    "forest": "sklearn.ensemble.RandomForestClassifier",
    "logistic": "sklearn.linear_model.LogisticRegression",
    "naive-bayes": "sklearn.naive_bayes.GaussianNB",
    "nearest": "sklearn.neighbors.KNeighborsClassifier",
}
"""Short names of some classifiers of scikit-learn."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LearntModel(Brief):
    """A classifier over the attributes of shared trees."""

    attributes: tuple[Attribute, ...]
    """What it reads."""
    target: str
    """The class column."""
    classes: tuple[str, ...]
    """The classes."""
    learner: str
    """How it was learnt."""
    model: Any
    """A tree of ours, or a fitted classifier of scikit-learn."""
    provenance: Mapping[str, Any]
    """Where it came from."""

    def predicted(self, rows: Any) -> NDArray[np.int64]:
        """The class of every row, by code."""
        records = rows if isinstance(rows, Records) else self.read(rows)
        if isinstance(self.model, TreeDocument):
            return predicted(self.model, records)
        return np.asarray(self.model.predict(_filled(records).matrix()), np.int64)

    def read(self, rows: Any) -> Records:
        """Rows of a frame as the model reads them."""
        return read_like(rows, attributes=self.attributes, target=self.target, classes=self.classes)

    def predict(self, rows: Any) -> NDArray[np.object_]:
        """The class of every row, by name."""
        return np.array(self.classes, object)[self.predicted(rows)]


def _filled(records: Records) -> Records:
    """A number that is not known is read as the middle of its range."""
    columns = []
    for attribute, column in zip(records.attributes, records.columns, strict=True):
        low, high = (attribute.domain.low, attribute.domain.high) if attribute.numeric else (0, 0)  # type: ignore[union-attr]
        columns.append(np.where(np.isnan(column), (low + high) / 2, column) if attribute.numeric else column)
    return Records(
        attributes=records.attributes,
        columns=tuple(columns),
        target=records.target,
        classes=records.classes,
        codes=records.codes,
    )


def classifier_of(learner: str, options: Mapping[str, Any] | None = None) -> Any:
    """A classifier by a short name or by its place in scikit-learn; our own for ``tree``."""
    settings = dict(options or {})
    if learner == TREE:
        try:
            return TreeLearner(**settings)
        except TypeError as fault:
            raise ParameterError(f"learner {learner}: {fault}") from None
    place = KNOWN.get(learner, learner)
    module, _, name = place.rpartition(".")
    if not module.startswith("sklearn."):
        known = ", ".join((TREE, *KNOWN))
        raise ParameterError(
            f"learner must be one of {known}, or a classifier of scikit-learn such as sklearn.svm.SVC, not {learner!r}"
        )
    require("sklearn", f"the learner {learner}")
    try:
        classifier = getattr(import_module(module), name)(**settings)
    except (ImportError, AttributeError, TypeError) as fault:
        raise ParameterError(f"learner {learner!r}: {fault}") from None
    from sklearn.base import is_classifier

    if not is_classifier(classifier):
        raise ParameterError(f"learner {learner!r} is no classifier")
    return classifier


def learnt_model(
    records: Records, learner: str, options: Mapping[str, Any], provenance: Mapping[str, Any]
) -> LearntModel:
    """A classifier fitted on records."""
    classifier = classifier_of(learner, options)
    try:
        model = (
            classifier(records)
            if isinstance(classifier, TreeLearner)
            else classifier.fit(records.matrix(), records.codes)
        )
    except ValueError as fault:
        raise DataError(f"learner {learner!r}: {fault}") from None
    return LearntModel(
        attributes=records.attributes,
        target=records.target,
        classes=records.classes,
        learner=learner,
        model=model,
        provenance=provenance,
    )


def chosen_format(learner: str, format_name: str | None) -> Format:
    """How a model is kept: as asked, or the first way that runs no code when it is read; never a pickle unasked."""
    ways: Sequence[Format] = ("json",) if learner == TREE else ("skops", "onnx", "pickle")
    needs = {"skops": "skops", "onnx": "skl2onnx"}
    if format_name is not None and format_name not in ways:
        raise ParameterError(f"format must be one of {', '.join(ways)} for the learner {learner}, not {format_name!r}")
    for way in ways if format_name is None else (format_name,):
        if way == "pickle" and format_name is None:
            break
        if way not in needs or find_spec(needs[way]) is not None:
            return way  # type: ignore[return-value]
        if format_name is not None:
            raise MissingExtra(f"format {way} needs {needs[way]}, which is not installed; pip install {needs[way]}")
    raise MissingExtra(
        f"a model of {learner} is kept without code by skops or as ONNX; install one (pip install skops, or skl2onnx), "
        "or ask for --format pickle: reading a pickle runs whatever code it holds"
    )


def write_model(folder: Path, model: LearntModel, how: Format) -> None:
    """Write a model and its provenance into an empty folder."""
    data = _dumps(how)(model)
    (folder / FILES[how]).write_bytes(data)
    provenance = {
        **model.provenance,
        "learner": model.learner,
        "format": how,
        "file": FILES[how],
        "sha256": sha256(data).hexdigest(),
        **head_json(model.attributes, model.target, model.classes),
    }
    (folder / PROVENANCE).write_text(json.dumps(provenance, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _dumps(how: Format) -> Callable[[LearntModel], bytes]:
    if how == "json":
        return lambda model: write_tree(model.model).encode()
    if how == "pickle":
        return lambda model: pickle.dumps(model.model)
    if how == "skops":
        return lambda model: bytes(import_module("skops.io").dumps(model.model))
    return _onnx


def _onnx(model: LearntModel) -> bytes:
    convert, kinds = import_module("skl2onnx"), import_module("skl2onnx.common.data_types")
    width = sum(
        len(attribute.domain.values) if isinstance(attribute.domain, Categories) else 1
        for attribute in model.attributes
    )
    onnx_model = convert.convert_sklearn(model.model, initial_types=[("rows", kinds.FloatTensorType([None, width]))])
    return bytes(onnx_model.SerializeToString())


class _Session:
    """A model kept as ONNX, run by onnxruntime."""

    def __init__(self, data: bytes) -> None:
        if find_spec("onnxruntime") is None:
            raise MissingExtra("the model is kept as ONNX, which needs onnxruntime; pip install onnxruntime")
        self._run = import_module("onnxruntime").InferenceSession(data)

    def predict(self, rows: NDArray[np.float64]) -> Any:
        """As a classifier of scikit-learn."""
        return self._run.run(None, {"rows": rows.astype(np.float32)})[0]


def read_model_folder(folder: Path, *, allow_pickle: bool = False, trusted: Sequence[str] = ()) -> LearntModel:
    """A model from a folder; a pickle is loaded only where that is allowed, and by skops only types that it knows.

    ``trusted`` are more types that skops may load, such as the trees of a forest, from whoever is trusted.
    """
    try:
        provenance = read_json(read_text(folder / PROVENANCE))
        how, name = provenance["format"], provenance["file"]
        attributes, (target, classes) = attributes_of(provenance["attributes"]), target_of(provenance["target"])
        if FILES.get(how) != name:
            raise BundleError(f"{folder}: {name!r} is no model of format {how!r}")
        data = (folder / name).read_bytes()
    except (OSError, ValueError, LookupError, TypeError) as fault:
        raise BundleError(f"{folder} holds no model of `sfumato tree learn`: {fault}") from None
    if sha256(data).hexdigest() != provenance["sha256"]:
        raise BundleError(f"{folder / name} was changed after it was written")
    if how == "pickle" and not allow_pickle:
        raise BundleError(
            f"{folder / name} is a pickle: reading it runs whatever code it holds. If you trust whoever wrote it, say "
            "so (--allow-pickle, or allow_pickle=True)"
        )
    return LearntModel(
        attributes=attributes,
        target=target,
        classes=classes,
        learner=str(provenance["learner"]),
        model=_loads(how, data, folder, trusted),
        provenance=provenance,
    )


def _loads(how: str, data: bytes, folder: Path, trusted: Sequence[str]) -> Any:
    if how == "json":
        return read_tree(data.decode())
    if how == "pickle":
        return pickle.loads(data)
    if how == "onnx":
        return _Session(data)
    if find_spec("skops") is None:
        raise MissingExtra(f"{folder} is kept by skops, which is not installed; pip install skops")
    try:
        return import_module("skops.io").loads(data, trusted=list(trusted) or None)
    except (
        Exception
    ) as fault:  # whatever skops finds in a file that is none of its own, or of types that it does not trust
        raise BundleError(f"{folder}: skops refuses the model (--trust names a type): {fault}") from None
