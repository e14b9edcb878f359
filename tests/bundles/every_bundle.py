"""A bundle of every type and shape: the golden ones, and those that need parties, links, parts or a stream."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import sfumato as sf
from sfumato.pipeline.linked.plan import LinkedPlan
from sfumato.pipeline.linked.release import release_linked
from tests.bundles.forged_bundles import CENSUS, plan_of
from tests.golden.releases.comparing import BUNDLES
from tests.pipeline.linked_tables import laid_out
from tests.pipeline.test_joint_bundles import ASKED, results, session, write_joint
from tests.streaming import streams


def _released(name: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        plan, frame = plan_of(name, folder)
        sf.release(plan, frame).write(folder / "out")
        return folder / "out"

    return write


def _observed(folder: Path) -> Path:
    columns = {"sex": CENSUS["sex"], "income": {"role": "target"}}
    plan = sf.Plan.parse({"columns": columns, "privacy": {"epsilon": 1.0, "domains": "observed"}})
    sf.release(plan, sf.datasets.census(300, seed=9)).write(folder / "out")
    return folder / "out"


def _discovered(folder: Path) -> Path:
    columns = {
        "sex": {"role": "quasi", "domain_from": "discover"},
        "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 100}},
        "income": {"role": "target", "values": ["<=50K", ">50K"]},
    }
    privacy = {"epsilon": 4.0, "delta": "1/1000000"}
    plan = sf.Plan.parse({"columns": columns, "privacy": privacy, "algorithm": {"name": "marginals"}})
    sf.release(plan, sf.datasets.census(900, seed=9)).write(folder / "out")
    return folder / "out"


def _parts(folder: Path) -> Path:
    frame = sf.datasets.census(500, seed=3)
    tree = {"columns": {name: spec for name, spec in CENSUS.items() if spec["role"] == "quasi"}}
    frame.select(list(tree["columns"])).write_csv(folder / "people.csv")
    plan = sf.Plan.parse(
        {
            **tree,
            "input": {"path": "people.csv", "engine": "duckdb"},
            "privacy": {"k_anonymity": 5},
            "algorithm": {"max_suppressed": 0.1},
            "output": {"format": "parts"},
            "attack": {"run": False},
        },
        folder=folder,
    )
    sf.release(plan).write(folder / "out")
    return folder / "out"


def _stream(folder: Path) -> Path:
    lines = streams.HEADER + "".join(streams.lines(230))
    streams.run(streams.plan(), streams.Pieces(lines.encode()), folder)
    return folder / "out"


def _linked(folder: Path) -> Path:
    release_linked(LinkedPlan.load(laid_out(folder))).write(folder / "out")
    return folder / "out"


@cache
def _joint_results() -> Mapping[str, object]:
    return results()


def _joint(name: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        write_joint(folder / "out", _joint_results()[name], session(name), force=False)
        return folder / "out"

    return write


MADE: Mapping[str, Callable[[Path], Path]] = {
    "people": _released("people"),
    "keyed": _released("keyed"),
    "observed": _observed,
    "discovered": _discovered,
    "parts": _parts,
    "stream": _stream,
    "linked": _linked,
    **{f"joint-{name}": _joint(name) for name in ASKED},
}
GOLDEN = tuple(sorted(path.name for path in BUNDLES.iterdir()))
NAMES = (*GOLDEN, *MADE)


@cache
def _made(name: str) -> Path:
    folder = Path(mkdtemp(prefix="sfumato-bundle-"))
    return MADE[name](folder)


def copied(name: str, folder: Path) -> Path:
    """A copy of a bundle that may be changed."""
    return Path(shutil.copytree(BUNDLES / name if name in GOLDEN else _made(name), folder / "copy"))
