"""Joint releases as sessions: over sockets to verified bundles, refusals, and a party that stops in the middle."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.bundles.manifest.document import dump, seal
from sfumato.core.errors import DataError, ParameterError, SessionError
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.joint.session import Asked, run_party, take
from sfumato.tables.table import Table
from tests.parties.parties import at_once, made
from tests.parties.releases_asked import G5, jointly, patients, rows_of
from tests.parties.test_joint_releases import G6_ASKED, dealer, g6  # noqa: F401  (a fixture)


def begun(folder: Path, protocol: str, asked: dict[str, Any], tables: list[pl.DataFrame]) -> list[Any]:
    """Every party with its session, its file and its place for a bundle."""
    table = made(folder, len(tables))
    session = replace(
        table.session, protocol=protocol, protocol_version=catalog().protocols[protocol].version, parameters=asked
    )
    one = catalog().protocol(protocol)
    found = []
    for number, rows in enumerate(tables):
        rows.write_csv(folder / f"{number}.csv")
        understood = Asked(session=session, protocol=one, parameters=one.read(session.parameters, session.names))
        found.append(take(understood, session.names[number], folder / f"{number}.csv", folder / f"out{number}"))
    return found


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    taking = begun(folder, "release", G5, patients())
    assert not any(isinstance(one, SessionError) for one in at_once([lambda one=one: run_party(one) for one in taking]))
    return folder


def test_three_parties_over_sockets_write_the_same_verified_release(bundles: Path):
    rows = {(bundles / f"out{number}" / "data.csv").read_bytes() for number in range(3)}
    assert len(rows) == 1
    for number, name in enumerate("abc"):
        checked = sf.verify(bundles / f"out{number}")
        assert checked.holds
        assert checked.claimed
        manifest = json.loads((bundles / f"out{number}" / "manifest.json").read_text())
        assert (manifest["kind"], manifest["session"]["me"]) == ("table", name)
        assert manifest["attacks"]
        page = (bundles / f"out{number}" / "report.html").read_text()
        assert "Who made it together" in page
        assert "the rows of all parties together, and not whose they are" in page


FORGERIES = {
    "less leakage than there was": lambda body: body["session"]["leakage"].__setitem__("beyond", []),
    "another party": lambda body: body["session"]["parties"].__setitem__("d", {"fingerprint": "d"}),
    "somebody who was not there": lambda body: body["session"].__setitem__("me", "z"),
    "another plan": lambda body: body["plan"]["columns"]["sex"].__setitem__("type", "text"),
    "parameters that were not agreed on": lambda body: body["session"]["parameters"]["privacy"]["lkc"].update(k=1),
    "parameters that cannot be": lambda body: body["session"]["parameters"].pop("privacy"),
    "another protocol": lambda body: body["session"].__setitem__("protocol", "tree"),
}


@pytest.mark.parametrize("title", FORGERIES)
def test_a_forged_session_is_caught(title: str, bundles: Path, tmp_path: Path):
    import shutil

    shutil.copytree(bundles / "out0", tmp_path / "out")
    body = json.loads((tmp_path / "out" / "manifest.json").read_text())
    body.pop("sha256")
    FORGERIES[title](body)
    (tmp_path / "out" / "manifest.json").write_text(dump(seal(body)))
    assert not sf.verify(tmp_path / "out").holds


def test_different_columns_over_sockets(tmp_path: Path):
    taking = begun(tmp_path, "vertical-release", G6_ASKED, g6())
    found = at_once([lambda one=one: run_party(one) for one in taking])
    assert [sf.verify(tmp_path / f"out{number}").holds for number in range(2)] == [True, True]
    assert rows_of(found[0].result.release) == rows_of(found[1].result.release)


@pytest.mark.parametrize("score", ["gain", "discernibility"])
def test_declared_values_that_nobody_has_are_no_step(score: str, tmp_path: Path):
    """A branch of a tree without any row is neither tried nor named, and the bundle verifies."""
    tables = [one.filter(pl.col("job") != "Carpenter").filter(pl.col("job") != "Technician") for one in patients()]
    asked = {**G5, "algorithm": {"score": score}, "attack": {"run": False}}
    made = jointly("release", asked, tables)[0].release
    named = {label for step in made.trail.steps for label in (step.coarse, *step.fine)}
    assert named.isdisjoint({"Technical", "Carpenter", "Technician"})
    assert made.write(tmp_path / "out").holds


def test_a_party_that_stops_in_the_middle_leaves_nothing_anywhere(tmp_path: Path):
    taking = begun(tmp_path, "release", G5, patients())

    def stops(conversation: Any, asked: Any, own: Any) -> Any:
        from sfumato.parties.summed_counts import SummedNumbers

        SummedNumbers(conversation)
        raise SessionError("the power went out")

    dead = taking[2].asked
    taking[2] = replace(taking[2], asked=replace(dead, protocol=replace(dead.protocol, run=stops)))
    found = at_once([lambda one=one: run_party(one) for one in taking])
    assert all(isinstance(one, SessionError) for one in found)
    assert "nothing was written" in str(found[0])
    assert not list(tmp_path.glob("out*"))


def test_taxonomies_domains_units_and_plans_that_differ_are_named(tmp_path: Path):
    from sfumato.parties.network.tcp import NetworkConversation

    def changed(path: str, value: Any) -> dict[str, Any]:
        tree = json.loads(json.dumps(G5))
        *most, last = path.split(".")
        inner = tree
        for key in most:
            inner = inner[key]
        inner[last] = value
        return tree

    table = made(tmp_path, 2, parameters=G5)

    def meets(session: Any, me: int) -> None:
        with NetworkConversation(session, me, table.keys[me]):
            pass

    for path, value in (
        ("columns.sex.hierarchy.tree.*", ["F", "M", "X"]),
        ("columns.age.hierarchy.high", 120),
        ("columns.age.unit", "months"),
        ("privacy.lkc.k", 3),
    ):
        other = table.changed(parameters=changed(path, value))
        found = at_once([lambda: meets(table.session, 0), lambda other=other: meets(other, 1)])
        for one in found:
            assert f"parameters.{path}" in str(one)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a column that would be sent": ({"columns": {"x": {"role": "keep"}}}, "columns.x.role"),
    "a file": ({"columns": {"x": {"role": "quasi", "hierarchy": {"file": "x.csv"}}}}, "columns.x.hierarchy.file"),
    "no domain": ({"columns": {"x": {"role": "quasi", "hierarchy": {"kind": "mask"}}}}, "columns.x.hierarchy"),
    "no values": ({"columns": {"x": {"role": "sensitive"}}}, "columns.x.values"),
    "another search": ({"algorithm": {"name": "optimal"}}, "algorithm.name"),
    "rows left out": ({"algorithm": {"max_suppressed": 0.1}}, "parameters.algorithm.max_suppressed"),
    "a model of whole classes": ({"privacy": {"l_diversity": {"kind": "distinct", "l": 2}}}, "top-down with"),
    "no model": ({"privacy": {}}, "privacy must ask"),
    "an attack that needs the original": ({"attack": {"attacks": ["membership"]}}, "attack.attacks"),
    "a grid without end": (
        {"columns": {"x": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 1, "grid": 1e-9}}}},
        "columns.x.hierarchy.grid",
    ),
    "an unknown key": ({"private": {}}, "parameters.private"),
}


@pytest.mark.parametrize("title", BAD)
def test_bad_parameters_are_refused_with_their_key(title: str):
    change, key = BAD[title]
    asked = {**G5, **change}
    if "columns" in change:
        asked["columns"] = {**G5["columns"], **change["columns"]}
    with pytest.raises(ParameterError, match=key.replace(".", r"\.")):
        catalog().protocol("release").read(asked, ("a", "b", "c"))


def test_two_parties_compare_shares_of_few_decimals_only():
    asked = {**G5, "privacy": {"lkc": {**G5["privacy"]["lkc"], "c": 0.1234567}}}
    with pytest.raises(ParameterError, match="six decimals"):
        catalog().protocol("release").read(asked, ("a", "b"))


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"age": "34.5"}, "34.5 is not on the declared grid"),
        ({"age": "120"}, "120 is not on the declared grid"),
        ({"age": "old"}, "'old' is no number"),
        ({"job": "Pilot"}, "'Pilot' is not a declared value"),
        ({"sex": None}, "have no value"),
    ],
)
def test_rows_outside_the_agreed_domains_are_refused_before_anything_is_sent(cells: dict[str, Any], words: str):
    protocol = catalog().protocol("release")
    asked = protocol.read(G5, ("a", "b", "c"))
    rows = patients()[0]
    bad = rows.with_columns(**{name: pl.lit(value, pl.String) for name, value in cells.items()})
    with pytest.raises(DataError, match=words):
        protocol.prepare(asked, Table(frame=bad))
    with pytest.raises(DataError, match="no rows"):
        protocol.prepare(asked, Table(frame=rows.clear()))


@pytest.mark.usefixtures("dealer")
def test_people_of_a_vertical_release():
    protocol = catalog().protocol("vertical-release")
    asked = protocol.read(G6_ASKED, ("a", "b"))
    left, right = g6()
    with pytest.raises(DataError, match="'1' stands there twice"):
        protocol.prepare(asked, Table(frame=pl.concat([left, left.head(1)])))
    with pytest.raises(DataError, match="no rows"):
        protocol.prepare(asked, Table(frame=left.clear()))
    with pytest.raises(DataError, match="no party's columns"):
        protocol.prepare(asked, Table(frame=left.drop("class")))
    strangers = right.with_columns(pl.format("{}x", pl.col("id")))
    with pytest.raises(SessionError, match="nobody in common"):
        jointly("vertical-release", G6_ASKED, [left, strangers])
    other = right.with_columns(pl.lit("Y").alias("class"))
    with pytest.raises(SessionError, match="not have the same values of 'class'"):
        jointly("vertical-release", G6_ASKED, [left, other])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"holds": {"a": ["job"]}}, "parameters.holds must say for each"),
        ({"holds": {"a": ["job", "sex"], "b": ["sex", "salary"]}}, "'sex' must be one party's"),
        ({"holds": {"a": [], "b": ["job", "sex", "salary"]}}, "parameters.holds.a"),
        ({"holds": {"a": ["job", "class"], "b": ["sex", "salary"]}}, "is not one of parameters.columns, or is shared"),
        ({"shared": ["sex"]}, "parameters.shared"),
        ({"identifier": "job"}, "parameters.identifier"),
    ],
)
def test_who_holds_what_must_be_said(change: dict[str, Any], words: str):
    with pytest.raises(ParameterError, match=words):
        catalog().protocol("vertical-release").read({**G6_ASKED, **change}, ("a", "b"))
