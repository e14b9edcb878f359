"""Every attack on releases of Adult by seven algorithms, beside the raw table: what each gains over guessing."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import polars as pl

import sfumato as sf
from measure import table
from sfumato.attacks.finding import Finding, Outcome
from sfumato.attacks.subject import Coverage, Subject
from sfumato.bundles.manifest.sections import is_named
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.pipeline.attack import attack, attacked
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods.method import Audit
from sfumato.pipeline.plan.evaluation import AttackPlan
from sfumato.tables.datasets.uci_adult import adult_folder

QUASI = ("age", "workclass", "education", "marital-status", "relationship", "race", "sex", "native-country")
SECRET, TARGET = "occupation", "income"
TRIALS, SEED = 2000, 7
AGES = {"kind": "grown", "low": 15, "high": 95}


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A way to release Adult."""

    title: str
    privacy: Mapping[str, Any]
    algorithm: Mapping[str, Any]
    grown_ages: bool = False
    """Whether intervals of ages are grown; otherwise they come from the bundled hierarchy."""

    def plan(self, secrets: Sequence[str]) -> sf.Plan:
        """Eight quasi-identifiers; the occupation is the secret, and the class where epsilon is spent."""
        columns: dict[str, Any] = {
            name: {"role": "quasi", "hierarchy": AGES if name == "age" and self.grown_ages else _bundled(name)}
            for name in QUASI
        }
        if "epsilon" in self.privacy:
            columns[SECRET] = {"role": "target", "values": list(secrets)}
        else:
            columns |= {SECRET: {"role": "sensitive", "hierarchy": _bundled(SECRET)}, TARGET: {"role": "target"}}
        tree = {"columns": columns, "privacy": dict(self.privacy), "algorithm": dict(self.algorithm)}
        return sf.Plan.parse({**tree, "attack": {"run": False}})


def _bundled(name: str) -> dict[str, str]:
    return {"bundled": f"census/{name}"}


CONTENDERS = (
    Contender(title="optimal k = 5", privacy={"k_anonymity": 5}, algorithm={"name": "optimal", "max_suppressed": 0.04}),
    Contender(title="Mondrian k = 5", privacy={"k_anonymity": 5}, algorithm={"name": "mondrian"}),
    Contender(
        title="Mondrian entropy l = 3",
        privacy={"l_diversity": {"kind": "entropy", "l": 3}},
        algorithm={"name": "mondrian"},
    ),
    Contender(title="Mondrian t = 0.2", privacy={"t_closeness": 0.2}, algorithm={"name": "mondrian"}),
    Contender(
        title="top-down LKC 2, 20, 50 %",
        privacy={"lkc": {"l": 2, "k": 20, "c": 0.5, "column": SECRET}},
        algorithm={"name": "top-down"},
        grown_ages=True,
    ),
    Contender(title="Anatomy l = 3", privacy={"l_diversity": {"l": 3}}, algorithm={"name": "anatomy", "seed": SEED}),
    Contender(title="DiffGen epsilon = 1", privacy={"epsilon": 1}, algorithm={"name": "diffgen"}, grown_ages=True),
)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What the attacks found on one release."""

    title: str
    found: Audit
    seconds: float

    def finding(self, attack: str) -> Finding | None:
        """That of one attack, if it was made."""
        return next((one for one in self.found.findings if one.attack == attack), None)


def raw(people: pl.DataFrame, control: pl.DataFrame) -> Audit:
    """The attacks on the table itself, without names."""
    texts, others = (frame.select([*QUASI, SECRET]).cast(pl.String) for frame in (people, control))
    subject = Subject(
        release=texts,
        quasi=QUASI,
        sensitive=(SECRET,),
        beside=(SECRET,),
        coverage={name: Coverage.plain(sorted({*texts[name], *others[name]})) for name in QUASI},
        people=texts,
        control=others,
        trees=_tree(people[SECRET]),
        numeric=frozenset({"age"}),
    )
    return attacked(subject, AttackPlan(attacks=("all",), trials=TRIALS), Work(), Chance(seed=SEED))


def _tree(secrets: pl.Series) -> dict[str, dict[str, tuple[str, ...]]]:
    """What lies above each occupation, as the plans have it."""
    from sfumato.tables.hierarchy_files import hierarchy_files

    lines = hierarchy_files("census")[SECRET].read_text().splitlines()
    paths = {leaf: tuple(above[:-1]) for leaf, *above in (line.split(";") for line in lines)}
    return {SECRET: {value: paths[value] for value in secrets.unique().sort()}}


def measured(people: pl.DataFrame, control: pl.DataFrame) -> list[Measured]:
    """Make each release, write it, and attack what was written."""
    began = time.perf_counter()
    found = [Measured(title="raw table", found=raw(people, control), seconds=time.perf_counter() - began)]
    secrets = people[SECRET].unique().sort().to_list()
    for one in CONTENDERS:
        with tempfile.TemporaryDirectory() as place:
            plan, folder = one.plan(secrets), Path(place) / "out"
            sf.release(plan, people).write(folder)
            began = time.perf_counter()
            posterior = attack(folder, people, control=control, plan=plan, attacks=("all",), trials=TRIALS, seed=SEED)
            found.append(Measured(title=one.title, found=posterior, seconds=time.perf_counter() - began))
    return found


def gain(one: Finding | None) -> str:
    """The excess over the baseline with its interval; a star where a claim is refuted, brackets where nothing shows."""
    if one is None or one.outcome is Outcome.NOT_TRIED:
        return "" if one is None else str(one.outcome)
    low, high = one.risk_interval
    gained = f"{100 * one.risk:.1f} ({100 * low:.1f} to {100 * high:.1f})"
    if one.outcome is Outcome.INCONCLUSIVE:
        return f"[{gained}]"
    return f"{gained} *" if one.limit is not None and one.outcome is Outcome.REFUTED else gained


def against(one: Finding | None) -> str:
    """How often it works, and how often without the release."""
    if one is None:
        return ""
    tried = f"{100 * one.rate.value:.1f}" if one.rate.carried_out else str(one.outcome)
    return f"{tried} / {100 * one.baseline.value:.1f}"


FIGURES = (
    ("occupation known for certain (homogeneity, surely_known)", "homogeneity", "surely_known"),
    ("largest share of an occupation among fitting rows, mean (homogeneity, confidence)", "homogeneity", "confidence"),
    ("branch of occupations known for certain (similarity, surely_known)", "similarity", "surely_known"),
    ("largest rise of a belief, as a factor (skewness, ratio_worst)", "skewness", "ratio_worst"),
    ("people whom one row fits by two known values (lkc-adversary, below_2)", "lkc-adversary", "below_2"),
    ("members told from others, AUC (membership, auc)", "membership", "auc"),
    ("lines of a register linked (fellegi-sunter, linked)", "fellegi-sunter", "linked"),
)


def figure(one: Finding | None, name: str) -> str:
    """One figure of a finding."""
    return "" if one is None or name not in one.figures else f"{one.figures[name]:.3f}"


def _titles(name: str, found: Sequence[Measured]) -> list[str]:
    """An attack in every form in which it was made; none where it fits no release."""
    made = dict.fromkeys(one.attack for audit in found for one in audit.found.findings)
    return [title for title in made if is_named(title, name)]


def tables(found: Sequence[Measured], people: int, control: int) -> list[str]:
    """Gains, rates, and the figures behind them."""
    heads = ["attack", *(one.title for one in found)]
    title = f"Adult, {people:,} rows, {control:,} control people, {TRIALS:,} trials: gain over the baseline in %"
    names = [title for name in catalog().attacking("table") for title in _titles(name, found)]
    times = ["seconds of the audit", *(f"{one.seconds:.1f}" for one in found)]
    return [
        table(title, heads, [[name, *(gain(one.finding(name)) for one in found)] for name in names]),
        "Empty: the attack does not fit. In brackets: inconclusive. A star: a claim of the release is refuted.\n",
        table(
            "How often it works / without the release, in %",
            heads,
            [*([name, *(against(one.finding(name)) for one in found)] for name in names), times],
        ),
        table(
            "Figures behind it",
            ["figure", *heads[1:]],
            [[posterior, *(figure(one.finding(attack), name) for one in found)] for posterior, attack, name in FIGURES],
        ),
    ]


def main() -> str:
    """The tables, or nothing where Adult is not there."""
    folder = adult_folder()
    if folder is None:
        return ""
    frame = sf.datasets.adult(folder=folder)
    order = np.random.Generator(np.random.PCG64(SEED)).permutation(frame.height)
    third = frame.height // 3
    control, people = frame[np.sort(order[:third])], frame[np.sort(order[third:])]
    return "\n".join(tables(measured(people, control), people.height, control.height))


if __name__ == "__main__":
    print(main())
