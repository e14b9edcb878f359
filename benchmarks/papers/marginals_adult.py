"""Noisy marginals on Adult: learners on the released rows, beside diffprivlib's private learners on the same split."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import polars as pl

from measure import table, timed
from sfumato.algorithms.marginals import Marginals
from sfumato.algorithms.private_table import NoisyTable, PrivateTable
from sfumato.core.run_context import Work
from sfumato.papers.diffgen_adult import CLASSES, behind, domains, private
from sfumato.papers.setup import CLASS, adult_data

EPSILONS = (0.1, 0.25, 0.5, 1.0)
RUNS = 10
WANTED = ("diffprivlib==0.6.6", "scikit-learn==1.5.2")
"""It does not run with the scikit-learn of the tests, so it gets an environment of its own."""
PEER = Path(__file__).parent / "diffprivlib_peer.py"
AIMS = {0.1: 81.0, 0.25: 82.5, 0.5: 83.0, 1.0: 83.5}
Rows = np.ndarray[tuple[int, ...], np.dtype[Any]]


def expanded(made: NoisyTable) -> tuple[Rows, Rows]:
    """The released rows as codes of their labels, and their classes."""
    groups = np.repeat(np.arange(made.keys.shape[1]), made.counts.sum(axis=1))
    kinds = np.repeat(np.tile(np.arange(made.counts.shape[1]), made.keys.shape[1]), made.counts.ravel())
    return made.keys[:, groups].T, kinds


def read(made: NoisyTable, other: PrivateTable) -> Rows:
    """New records as codes of the release's labels."""
    codes = behind(other)[0]
    return np.stack([cut.of_code[one] for cut, one in zip(made.cut, codes, strict=True) if cut is not None], axis=1)


def one_hot(codes: Rows, sizes: Sequence[int]) -> Rows:
    """One feature per label."""
    return np.concatenate(
        [np.eye(size, dtype=np.float32)[codes[:, n]] for n, size in enumerate(sizes) if size > 1], axis=1
    )


def learners(sizes: Sequence[int]) -> Mapping[str, Callable[[Rows, Rows, Rows], Rows]]:
    """Learners of scikit-learn by name: rows, classes and new rows in, classes out."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.tree import DecisionTreeClassifier

    def plain(model: Any) -> Callable[[Rows, Rows, Rows], Rows]:
        return lambda rows, kinds, new: model.fit(rows, kinds).predict(new)

    def hot(rows: Rows, kinds: Rows, new: Rows) -> Rows:
        fitted = LogisticRegression(max_iter=300).fit(one_hot(rows, sizes), kinds)
        return np.asarray(fitted.predict(one_hot(new, sizes)))

    grown = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=20, ccp_alpha=2e-4, random_state=0)
    return {
        "logistic regression": hot,
        "naive Bayes": plain(CategoricalNB(min_categories=list(sizes))),
        "decision tree": plain(grown),
        "gradient boosting": plain(HistGradientBoostingClassifier(max_iter=50, random_state=0)),
    }


def accuracies(made: NoisyTable, test: PrivateTable) -> dict[str, float]:
    """Per cent of the test rows that each learner gets right."""
    rows, kinds = expanded(made)
    new, truth = read(made, test), behind(test)[1]
    known = learners([len(labels) for labels in made.labels])
    if len(np.unique(kinds)) < len(CLASSES):
        return dict.fromkeys(known, 100 * float((truth == (kinds[0] if len(kinds) else 0)).mean()))
    return {name: 100 * float((learn(rows, kinds, new) == truth).mean()) for name, learn in known.items()}


def releases(train: PrivateTable, test: PrivateTable) -> list[list[str]]:
    """One line per epsilon: the means of all runs, with their deviations."""
    lines = []
    for epsilon in EPSILONS:
        found, seconds, kept = [], [], []
        for _ in range(RUNS):
            made, cost = timed(lambda e=epsilon: Marginals(epsilon=e)(train, Work()))  # type: ignore[misc]
            seconds.append(cost.cpu)
            kept.append(int(made.effort["measured with the class"]))
            found.append(accuracies(made, test))
        told = [_mean([one[name] for one in found]) for name in found[0]]
        lines.append([f"{epsilon:g}", *told, f"{AIMS[epsilon]:g}", f"{np.mean(kept):.1f}", f"{np.mean(seconds):.2f} s"])
    return lines


def _mean(found: Sequence[float]) -> str:
    return f"{np.mean(found):.2f} ± {np.std(found, ddof=1):.2f}"


def encoded(frame: pl.DataFrame, given: Mapping[str, Any]) -> tuple[Rows, tuple[Rows, Rows]]:
    """Adult as numbers for diffprivlib, labels by their declared codes, with the declared bounds."""
    made = private(frame, given)
    columns = [
        frame[one.name].to_numpy().astype(float) if one.kind == "number" else codes.astype(float)
        for one, codes in zip(made.attributes, behind(made)[0], strict=True)
    ]
    bounds = [(one.low, one.high) if one.kind == "number" else (0.0, len(one.values) - 1.0) for one in made.attributes]
    low, high = (np.array(side) for side in zip(*bounds, strict=True))
    return np.stack(columns, axis=1), (low, high)


def diffprivlib_learners(train: pl.DataFrame, test: pl.DataFrame, given: Mapping[str, Any]) -> list[list[str]]:
    """Private learners that release a model, not rows: the same split and declared bounds; none if it cannot be had."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        rows, (low, high) = encoded(train, given)
        np.savez(
            place / "adult.npz",
            rows=rows,
            kinds=behind(private(train, given))[1],
            new=encoded(test, given)[0],
            truth=behind(private(test, given))[1],
            low=low,
            high=high,
        )
        python = place / "peer" / "bin" / "python"
        steps = (
            [sys.executable, "-m", "venv", str(place / "peer")],
            [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *WANTED],
            [str(python), str(PEER), str(place / "adult.npz"), json.dumps(EPSILONS), str(RUNS)],
        )
        for step in steps:
            done = subprocess.run(step, capture_output=True, check=False, text=True)
            if done.returncode:
                return []
    return [[name, *map(_mean, runs)] for name, runs in json.loads(done.stdout).items()]


def main() -> str:
    """The tables, or nothing where Adult is not there."""
    data = adult_data()
    if data.folder is None:
        return ""
    warnings.simplefilter("ignore")
    frame = data.frame
    given = domains([name for name in frame.columns if name != CLASS])
    parts = frame[: data.training], frame[data.training :]
    train, test = (private(one, given) for one in parts)
    heads = ["epsilon", *learners([]), "aim", "measured with the class", "CPU of a release"]
    said = [
        table(
            f"Noisy marginals, pure epsilon: accuracy in % on {test.rows:,} test rows, {RUNS} runs",
            heads,
            releases(train, test),
        )
    ]
    lines = diffprivlib_learners(*parts, given)
    heads = ["learner", *map(str, EPSILONS)]
    peer = f"{', '.join(WANTED)}: accuracy in %, {RUNS} runs"
    said.append(table(peer, heads, lines) if lines else "diffprivlib could not be installed; it was not run.\n")
    return "\n".join(said)


if __name__ == "__main__":
    print(main())
