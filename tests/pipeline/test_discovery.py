"""Domains that are found by noise: what they cost, what they show, and that one person more shows nothing."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms.private_table import NoisyTable, PrivateTable
from sfumato.attacks.noise_audit import audit_noise
from sfumato.core.errors import ParameterError, PlanError
from sfumato.core.run_context import Work
from sfumato.dp.accounting import Promise, Purse, delta_of, epsilon_of
from sfumato.dp.events import Approximate, Concentrated, Pure, from_json
from sfumato.dp.noise import chosen_keys, counted
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.catalog.parts import AlgorithmPart
from sfumato.pipeline.methods.private.domains import candidates, prepared
from sfumato.pipeline.methods.private.plan import budget_of, foreseen, searches
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.table import Table
from tests.bundles.forging import failing, forge, manifest_of
from tests.weights import examples

SURE = 1 - 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """The smallest private algorithm that takes rho too: noisy counts of the classes, everything else is ``*``."""

    epsilon: Any = None
    rho: Any = None

    def __call__(self, table: PrivateTable, work: Work) -> NoisyTable:
        unit: Any = "epsilon" if self.rho is None else "rho"
        purse = Purse(whole=Fraction(self.epsilon if self.rho is None else self.rho), unit=unit)
        noisy = counted(table.counts.root(table.figures).total().reshape(1, -1), purse.cost(purse.whole, "the classes"))
        names = tuple(one.name for one in table.attributes)
        keys = np.zeros((len(names), 1), np.int32)
        counts = np.maximum(noisy.values, 0)
        return NoisyTable(columns=names, labels=(("*",),) * len(names), keys=keys, counts=counts, event=noisy.event)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    part = AlgorithmPart(name="classes", run=Classes, solves="private", needs=("integers",))
    monkeypatch.setitem(catalog().algorithms, "classes", part)  # type: ignore[arg-type]


def people(rows: int = 3000) -> pl.DataFrame:
    dice = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": dice.integers(22, 88, rows),
            "job": dice.choice(["cook", "smith"], rows),
            "class": dice.choice(["y", "n"], rows),
            "who": [f"p{n // 3}" for n in range(rows)],
        }
    )


RANGE = {"role": "quasi", "hierarchy": {"kind": "grown"}, "domain_from": "discover"}
VALUES = {"role": "quasi", "domain_from": "discover"}
APPROXIMATE = {"epsilon": 2, "delta": 1e-6}


def plan(
    privacy: dict[str, Any], algorithm: str = "classes", source: dict[str, Any] | None = None, **columns: Any
) -> Plan:
    every = {"age": RANGE, "class": {"role": "target", "values": ["y", "n"]}, "who": {"role": "identifier"}} | columns
    said = {"name": algorithm, "output": "counts"}
    return Plan.parse({"input": source or {}, "columns": every, "privacy": privacy, "algorithm": said})


@pytest.mark.parametrize("algorithm", ["diffgen", "marginals"])
def test_a_range_is_found_and_paid_for(algorithm: str, tmp_path: Path) -> None:
    """At epsilon 5 of 10 a part of the range with 100 records or more is missed less than once in e^400."""
    asked = plan({"epsilon": 10, "discovery": "1/2"}, algorithm)
    made = sf.release(asked, people())
    assert made.write(tmp_path / "out").holds
    manifest = manifest_of(tmp_path / "out")
    assert manifest["domains"]["columns"]["age"] == {
        "kind": "number",
        "low": 20,
        "high": 100,
        "grid": 1,
        "from": "discovered",
    }
    event = from_json(manifest["ledger"])
    assert epsilon_of(event) == 10
    assert manifest["ledger"]["parts"][0]["parts"] == [{"kind": "pure", "epsilon": "5", "what": "range of age"}]
    assert "found by noise, paid for from the budget" in (tmp_path / "out" / "report.html").read_text()
    assert sf.verify_again(tmp_path / "out", plan=asked, original=people()).holds


def test_values_are_found_with_a_delta_and_rare_ones_become_other(tmp_path: Path) -> None:
    """A value of one record passes with probability 1e-6 / 2 at most, one of 1,000 is missed once in e^30."""
    rare = pl.concat([people(), people(1).with_columns(job=pl.lit("zoo keeper"), age=pl.lit(113, pl.Int64))])
    target = {"role": "target", "domain_from": "discover", "other": "unknown"}
    asked = plan(APPROXIMATE | {"discovery": 0.5}, job=VALUES, **{"class": target})
    made = sf.release(asked, rare)
    assert made.write(tmp_path / "out").holds
    found = manifest_of(tmp_path / "out")["domains"]
    assert [label for label, _ in found["columns"]["job"]["nodes"]] == ["*", "cook", "smith", "other"]
    assert found["target"] == {"name": "class", "values": ["n", "y", "unknown"], "from": "discovered"}
    assert "zoo keeper" not in "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    assert sf.verify_again(tmp_path / "out", plan=asked, original=rare).holds


PRIVACY = st.one_of(
    st.fixed_dictionaries({"epsilon": st.sampled_from(["1/3", 0.1, 2])}),
    st.fixed_dictionaries({"rho": st.sampled_from(["1/7", 0.3])}),
    st.fixed_dictionaries({"epsilon": st.sampled_from([0.5, 3]), "delta": st.sampled_from([1e-6, "1/90000"])}),
)


@examples(20)
@given(
    privacy=PRIVACY,
    share=st.sampled_from([None, "1/3", 0.9]),
    keys=st.integers(0, 2),
    rows=st.sampled_from([1, 3]),
)
def test_the_parts_keep_the_promise_exactly(privacy: dict[str, Any], share: Any, keys: int, rows: int) -> None:
    """Whatever is looked for: domains and rows together cost what is promised, and the ledger is asked for as much."""
    columns = {f"job{n}": VALUES for n in range(keys if "delta" in privacy else 0)}
    asked = plan(
        privacy | ({} if share is None else {"discovery": share}),
        source={"unit": "who", "rows_per_unit": rows},
        **columns,
    )
    found, promise = searches(asked), Promise.of(asked.privacy)
    assert set(found) == {"age", *columns}
    ((unit, amount),) = budget_of(asked).items()
    whole = amount * (rows if unit == "epsilon" else rows**2)
    event = foreseen(asked)
    assert promise.kept_by(event)
    assert promise.spent_by(event) == whole + sum(promise.spent_by(one) for one in found.values())
    assert delta_of(event) == (promise.delta / 2 if columns and promise.delta else 0)
    kinds = {type(one) for one in found.values()}
    assert kinds <= ({Pure} if promise.unit == "epsilon" else {Concentrated, Approximate})


@pytest.mark.parametrize(
    ("privacy", "column", "told"),
    [
        ({"epsilon": 1}, VALUES, r"privacy\.delta"),
        ({"rho": 1}, VALUES, r"privacy\.delta"),
        (APPROXIMATE, VALUES | {"values": ["a"]}, "the domain is declared"),
        (APPROXIMATE, RANGE | {"hierarchy": {"kind": "grown", "low": 0, "high": 1}}, "the domain is declared"),
        (APPROXIMATE, VALUES | {"hierarchy": {"tree": {"a": ["b"]}}}, "the domain is declared"),
        (APPROXIMATE, VALUES | {"type": "set"}, "many items"),
        (APPROXIMATE, VALUES | {"hierarchy": {"kind": "mask"}}, "side by side"),
        (APPROXIMATE, VALUES | {"outside": "refuse"}, "lacks rare values"),
        (APPROXIMATE, VALUES | {"within": [0, 1]}, "about ranges"),
        (APPROXIMATE | {"discovery": 1}, VALUES, "share below 1"),
        (APPROXIMATE | {"discovery": "half"}, VALUES, r"privacy\.discovery"),
        (APPROXIMATE | {"domains": "observed"}, VALUES, "leave one of them out"),
    ],
)
def test_what_cannot_be_looked_for_is_refused_before_anything_is_paid(
    privacy: dict[str, Any], column: dict[str, Any], told: str
) -> None:
    with pytest.raises(PlanError, match=told):
        plan(privacy, job=column)


def test_a_share_without_a_search_is_refused() -> None:
    declared = {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 9}}
    with pytest.raises(PlanError, match=r"privacy\.discovery: no column"):
        plan({"epsilon": 1, "discovery": 0.1}, age=declared)


def test_a_frontier_compares_releases_over_the_same_domains(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="over the same domains"):
        sf.frontier(plan({"epsilon": 1}, "diffgen"), people(50), folder=tmp_path / "front")


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["ledger"].update(m["ledger"]["parts"][1]),
        lambda m: m["ledger"]["parts"][0]["parts"][0].update(what="range of job"),
        lambda m: m["domains"]["columns"]["age"].pop("from"),
        lambda m: m["plan"]["columns"]["age"].pop("domain_from"),
        lambda m: m["plan"]["columns"]["age"].update(domain_from="public"),
    ],
)
def test_a_domain_that_nobody_paid_for_is_noticed(change: Any, tmp_path: Path) -> None:
    sf.release(plan({"epsilon": 1}, "diffgen"), people(200)).write(tmp_path / "out")
    forge(tmp_path / "out", change)
    assert failing(tmp_path / "out")


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_also_an_empty_table_has_domains(rows: int, tmp_path: Path) -> None:
    made = sf.release(plan(APPROXIMATE, job=VALUES), people(rows))
    assert made.write(tmp_path / "out").holds


def test_a_range_is_looked_for_within_limits() -> None:
    assert candidates((0, 200))[[0, -2, -1]].tolist() == [0, 100, 200]
    assert len(candidates(())) == 79
    assert all(float(mark).is_integer() for mark in candidates((), whole=True))
    asked = plan({"epsilon": 0.01}, age=RANGE | {"within": [0, 200]})
    for _ in range(5):
        found = prepared(asked, Table(frame=people(20))).table.attributes[0]
        assert 0 <= found.low < found.high <= 200


# One person more or less


def test_the_keys_of_one_record_pass_no_oftener_than_delta_allows() -> None:
    """OpenDP is asked; here we see that a key of one record stays away, and a frequent one comes.

    A key of one record passes each of 400 runs with probability 1e-9: a false alarm in 4 of 10 million runs of this
    test. A key of 2,000 records fails to pass with a probability below 1e-100.
    """
    for _ in range(400):
        found, event = chosen_keys({"one": 1, "many": 2000}, epsilon=1, delta=1e-9)
        assert found == ("many",)
    assert event == Approximate(epsilon=Fraction(1), delta=Fraction(1, 10**9), what="values")
    for bad in ({"a": 0}, {"a": -1}, {"a": True}):
        with pytest.raises(ParameterError, match="counts"):
            chosen_keys(bad, epsilon=1, delta=1e-9)


def test_keys_keep_their_promise_where_delta_is_large() -> None:
    """With counts far above 1 only epsilon matters: 3 records and 4 are told apart no better. False alarms: 1e-9."""
    pick = lambda many: chosen_keys({"a": many}, epsilon=1, delta="1/4")[0]  # noqa: E731
    found = audit_noise(pick, 3, 4, runs=500, confidence=SURE, declared=1)
    assert not found.refuted


def found_range(rows: list[tuple[str, int]], source: dict[str, Any]) -> tuple[float, float]:
    frame = pl.DataFrame(rows, schema={"who": pl.String, "age": pl.Int64}, orient="row")
    asked = Plan.parse(
        {
            "input": source,
            "columns": {"age": RANGE | {"within": [0, 2]}, "who": {"role": "identifier"}},
            "privacy": {"epsilon": 2, "discovery": "1/2"},
            "algorithm": {"name": "classes"},
        }
    )
    one = prepared(asked, Table(frame=frame)).table.attributes[0]
    return one.low, one.high


def test_all_rows_of_one_person_move_a_found_range_no_further_than_epsilon_allows() -> None:
    """Six rows of one person: counted once they are hidden, counted by rows they are seen. False alarms: 1e-9.

    Where one person has many rows, discovery looks at one of them; the known-bad twin takes every row for a person.
    """
    few, more = [("a", 0)], [("a", 0), *(("b", 1) for _ in range(6))]
    people_ = {"unit": "who", "rows_per_unit": 6}
    audits = {
        name: audit_noise(lambda rows, source=source: found_range(rows, source), few, more,
                          runs=400, confidence=SURE, declared=1)
        for name, source in (("people", people_), ("rows", {}))
    }  # fmt: skip
    assert not audits["people"].refuted
    assert audits["rows"].refuted
