"""Checking every model on 30,000 rows, against pycanon on the checks that it has."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

from pycanon import anonymity

import sfumato as sf
from measure import table, timed
from sfumato.models import (
    AlphaKAnonymity,
    ConfidenceBounding,
    DistinctLDiversity,
    EMAnonymity,
    EntropyLDiversity,
    KAnonymity,
    LKCPrivacy,
    PersonalizedPrivacy,
    RecursiveLDiversity,
    SimpleLDiversity,
    TCloseness,
    Template,
)
from tables import subject

SENSITIVE = "occupation"


def models(values: list[str]) -> list[tuple[str, object]]:
    """One of each, with limits that nearly every class fails: nothing is cut short by passing."""
    tree = {value: (value[0],) for value in values}
    count = len(values)
    costs = tuple(tuple(abs(i - j) / (count - 1) for j in range(count)) for i in range(count))
    return [
        ("k-anonymity", KAnonymity(k=2)),
        ("distinct l", DistinctLDiversity(l=2, column=SENSITIVE)),
        ("entropy l", EntropyLDiversity(l=2.0, column=SENSITIVE)),
        ("recursive (c,l)", RecursiveLDiversity(c=2.0, l=2, column=SENSITIVE)),
        ("simple l", SimpleLDiversity(l=2.0, column=SENSITIVE)),
        ("(alpha,k)", AlphaKAnonymity(alpha=0.5, k=2, column=SENSITIVE)),
        ("t, equal", TCloseness(t=0.2, column=SENSITIVE, distance="emd-equal")),
        ("t, KL", TCloseness(t=0.2, column=SENSITIVE, distance="kl")),
        ("t, ordered", TCloseness(t=0.2, column=SENSITIVE, distance="emd-ordered", order=tuple(values))),
        ("t, hierarchical", TCloseness(t=0.2, column=SENSITIVE, distance="emd-hierarchical", paths=tree)),
        (
            "t, cost matrix",
            TCloseness(t=0.2, column=SENSITIVE, distance="emd-matrix", order=tuple(values), costs=costs),
        ),
        (
            "confidence",
            ConfidenceBounding(templates=(Template(column=SENSITIVE, value=values[0], limit=0.5, quasi=()),)),
        ),
        ("LKC, L = 3", LKCPrivacy(l=3, k=2, c=0.5, column=SENSITIVE)),
        ("(e,m)", EMAnonymity(e=2, m=2.0, column="age")),
        ("personalized", PersonalizedPrivacy(p=0.5, column=SENSITIVE, paths=tree, guards={values[0]: values[0][0]})),
    ]


def main() -> str:
    """Every model's check, the six that pycanon has too, and a whole verification."""
    one = subject()
    quasi = [name for name in one.frame.columns if name != SENSITIVE]
    classes = sf.classes(one.frame, quasi=quasi, counted=[SENSITIVE, "age"])
    values = list(classes.tally(SENSITIVE).values)
    peers = _peers(one.frame.to_pandas(), quasi)
    rows, total = [], 0.0
    for name, model in models(values):
        _, cost = timed(lambda model=model: model.check(classes), repeat=3)
        total += cost.wall
        peer = peers.get(name)
        theirs = "" if peer is None else f"{timed(peer)[1].wall:.1f} s"
        rows.append([name, f"{cost.wall * 1000:.1f} ms", theirs])
    rows.append(["all of these", f"{total * 1000:.0f} ms", ""])
    rows.append(["whole `verify` of a bundle of the same rows", f"{_verified(one, quasi) * 1000:.0f} ms", ""])
    title = f"Checks on {one.name}, {classes.rows:,} rows in {classes.count:,} classes"
    return table(title, ["model", "sfumato", "pycanon"], rows)


def _peers(frame: object, quasi: list[str]) -> dict[str, Callable[[], object]]:
    warnings.simplefilter("ignore")
    return {
        "k-anonymity": lambda: anonymity.k_anonymity(frame, quasi),
        "distinct l": lambda: anonymity.l_diversity(frame, quasi, [SENSITIVE]),
        "entropy l": lambda: anonymity.entropy_l_diversity(frame, quasi, [SENSITIVE]),
        "recursive (c,l)": lambda: anonymity.recursive_c_l_diversity(frame, quasi, [SENSITIVE]),
        "(alpha,k)": lambda: anonymity.alpha_k_anonymity(frame, quasi, [SENSITIVE]),
        "t, equal": lambda: anonymity.t_closeness(frame, quasi, [SENSITIVE]),
    }


def _verified(one: object, quasi: list[str]) -> float:
    """A bundle that keeps every row as it is (k = 1) is the heaviest one to verify."""
    tree = {
        "columns": {name: {"role": "quasi", "hierarchy": {"kind": "flat"}} for name in quasi}
        | {SENSITIVE: {"role": "sensitive"}},
        "privacy": {"k_anonymity": 1, "l_diversity": {"l": 1}, "t_closeness": 1.0, "lkc": {"l": 3, "k": 1, "c": 1.0}},
    }
    with tempfile.TemporaryDirectory() as place:
        sf.release(sf.Plan.parse(tree), one.frame).write(Path(place) / "out")
        return timed(lambda: sf.verify(Path(place) / "out"), repeat=3)[1].wall


if __name__ == "__main__":
    print(main())
