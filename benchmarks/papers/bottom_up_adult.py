"""Bottom-up generalization on Adult: figures 3 and 4 of Wang, Yu, Chakraborty 2004 (document 001)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import altair as alt
import numpy as np
import polars as pl

import sfumato as sf
from measure import table, timed
from pictures import TONES, Line, Panel, panel, save
from sfumato.datasets.uci_adult import adult_folder
from sfumato.ground.work import Work
from sfumato.publish.bottom_up import BottomUp
from sfumato.publish.problem import Problem
from sfumato.sklearn import BottomUpGeneralizer, FullDomainGeneralizer
from sfumato.utility.learners import learnt
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.kinds.table.preparing import prepare
from sfumato.workflow.loading import load_table

TREES = Path("hierarchies") / "fung" / "pais_adult.hchy"
VID = ("occupation", "education", "native-country", "marital-status", "sex", "race", "workclass")
TRAINING = 30_162
KS = (10, 25, 50, 75, 100, 150, 200, 250, 500)
SIGMAS, RHOS = (10, 15, 20, 25, 30), (3, 4, 5, 6, 7)
SEED = 5


def trees() -> dict[str, dict[str, Any]]:
    """The hierarchies of the seven attributes."""
    folder = adult_folder()
    assert folder is not None
    names = {"marital-status": "martial-status"}  # as the file spells it
    file = str((folder / TREES).resolve())
    return {name: {"file": file, "attribute": names.get(name, name)} for name in VID}


def tried(estimator: Any, frame: pl.DataFrame) -> float:
    """The error of a tree that learns from the generalized training set, on the generalized test set."""
    records, classes = frame.select(VID), frame["income"].to_numpy()
    train, test = records[:TRAINING], records[TRAINING:]
    code = (classes == ">50K").astype(np.int64)
    estimator.fit(train, classes[:TRAINING])
    found = learnt(estimator.transform(train), code[:TRAINING], "tree", SEED)
    return float((found.predict(estimator.transform(test)) != code[TRAINING:]).mean())


def errors(frame: pl.DataFrame) -> tuple[list[list[str]], dict[Any, float]]:
    """E for every K, beside the baseline B and the worst error W."""
    base = tried(FullDomainGeneralizer({"k_anonymity": 1}, hierarchies=trees()), frame)
    worst = float((frame["income"][TRAINING:] == ">50K").mean() or 0)
    rows, found = [], {"B": base, "W": worst}
    for k in KS:
        found[k] = tried(BottomUpGeneralizer({"k_anonymity": k}, hierarchies=trees()), frame)
        found["I", k] = tried(
            BottomUpGeneralizer({"k_anonymity": k}, hierarchies=trees(), options={"score": "information"}), frame
        )
        rows.append([str(k), f"{found[k]:.2%}", f"{100 * (found[k] - base):+.2f}", f"{found['I', k]:.2%}"])
    return rows, found


def enlarged(frame: pl.DataFrame, sigma: int, rho: int) -> pl.DataFrame:
    """Every record with sigma - 1 variations that take random leaves in rho random attributes."""
    rng = np.random.default_rng(SEED)
    leaves = {name: sorted(_leaves(name)) for name in VID}
    rows = frame.height * (sigma - 1)
    copies = pl.concat([frame] * (sigma - 1)).select(*VID, "income")
    order = np.argsort(rng.random((rows, len(VID))), axis=1)[:, :rho]
    varied = []
    for place, name in enumerate(VID):
        changed = (order == place).any(axis=1)
        drawn = pl.Series(leaves[name], dtype=pl.String).gather(rng.integers(0, len(leaves[name]), rows))
        varied.append(copies[name].zip_with(pl.Series(~changed), drawn).alias(name))
    return pl.concat([frame.select(*VID, "income"), pl.DataFrame([*varied, copies["income"]])])


def _leaves(name: str) -> list[str]:
    from sfumato.describe.hchy import read_hchy

    tree = trees()[name]
    return list(read_hchy(Path(tree["file"])).attribute(tree["attribute"]).hierarchy.paths)


def posed(frame: pl.DataFrame, k: int) -> Problem:
    """The enlarged table, counted."""
    columns: Mapping[str, Any] = {n: {"role": "quasi", "hierarchy": tree} for n, tree in trees().items()}
    plan = sf.Plan.parse({"columns": {**columns, "income": {"role": "target"}}, "privacy": {"k_anonymity": k}})
    return prepare(plan, load_table(plan, frame, None), None, catalog()).problem


def scaling(frame: pl.DataFrame) -> tuple[list[list[str]], dict[Any, float]]:
    """Seconds of CPU for growing K, sigma and rho, with pruning and with the index alone."""
    rows, found = [], {}
    settings = [(k, 10, 3) for k in KS] + [(150, sigma, 3) for sigma in SIGMAS] + [(150, 3, rho) for rho in RHOS]
    BottomUp()(posed(frame, 10), Work())  # compiled before anything is measured
    tables: dict[tuple[int, int], pl.DataFrame] = {}
    for k, sigma, rho in settings:
        grown = tables.setdefault((sigma, rho), enlarged(frame, sigma, rho))
        problem, counted = timed(lambda grown=grown, k=k: posed(grown, k))  # type: ignore[misc]
        line = [str(k), str(sigma), str(rho), f"{grown.height:,}", f"{problem.cells.count:,}", f"{counted.cpu:.1f} s"]
        for mode in ("pruning", "index"):
            _, cost = timed(lambda problem=problem, mode=mode: BottomUp(mode=mode)(problem, Work()))  # type: ignore[misc]
            found[mode, k, sigma, rho] = cost.cpu
            line.append(f"{cost.cpu:.2f} s")
        rows.append(line)
    return rows, found


def picture(e: dict[Any, float], seconds: dict[Any, float]) -> None:
    """Errors by K, and seconds by K, sigma and rho."""
    grey = "#5f6b76"
    flat = [Line(name=n, points=[(10, 100 * e[n]), (500, 100 * e[n])], tone=grey, dashed=True) for n in ("B", "W")]
    lines = [
        *flat,
        Line(name="E", points=[(k, 100 * e[k]) for k in KS]),
        Line(name="E, I alone", points=[(k, 100 * e["I", k]) for k in KS], tone=TONES[1]),
    ]
    most = 1.2 * max(seconds.values())
    ticks = tuple(np.round(np.linspace(0, most, 5), 1))

    def by(keys: list[tuple[int, tuple[int, int, int]]]) -> list[Line]:
        pairs = zip(("pruning", "index"), TONES, strict=False)
        return [Line(name=m, points=[(x, seconds[(m, *key)]) for x, key in keys], tone=t) for m, t in pairs]

    panels = [
        Panel(
            title="error",
            lines=lines,
            x="K",
            ticks=(10, 25, 50, 100, 250, 500),
            y=(16, 18, 20, 22, 24, 26),
            unit=" %",
            log_y=False,
        ),
        Panel(
            title="CPU, sigma 10, rho 3",
            lines=by([(k, (k, 10, 3)) for k in KS]),
            x="K",
            ticks=(10, 25, 50, 100, 250, 500),
            y=ticks,
            unit=" s",
            log_y=False,
        ),
        Panel(
            title="CPU, K 150, rho 3",
            lines=by([(s, (150, s, 3)) for s in SIGMAS]),
            x="sigma",
            ticks=SIGMAS,
            y=ticks,
            unit=" s",
            log_x=False,
            log_y=False,
        ),
        Panel(
            title="CPU, K 150, sigma 3",
            lines=by([(r, (150, 3, r)) for r in RHOS]),
            x="rho",
            ticks=RHOS,
            y=ticks,
            unit=" s",
            log_x=False,
            log_y=False,
        ),
    ]
    save(
        alt.hconcat(*(panel(one, width=180, height=200, named=True) for one in panels), spacing=20),
        "bottom-up-adult.svg",
    )


def main() -> str:
    """Tables beside the paper's figures, or nothing where Adult is not there."""
    folder = adult_folder()
    if folder is None or not (folder / TREES).exists():
        return ""
    frame = sf.datasets.adult(folder=folder)
    error_rows, found = errors(frame)
    time_rows, seconds = scaling(frame)
    picture(found, seconds)
    title = f"Figure 3: Adult, seven attributes, B {found['B']:.2%} (paper 17.4 %), W {found['W']:.2%} (24.6 %)"
    heads = ["K", "sigma", "rho", "records", "vids", "counted", "pruning", "index"]
    return "\n".join(
        [
            table(title, ["K", "E", "E - B in points (paper: at most 1.1)", "E by information alone"], error_rows),
            table("Figure 4: seconds of CPU (paper: up to 730 s, and 50 s for the index)", heads, time_rows),
        ]
    )


if __name__ == "__main__":
    print(main())
