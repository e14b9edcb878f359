"""Private releases as sessions: over sockets to verified bundles, ledgers that are charged first, refusals."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.bundles.manifest.document import dump, seal
from sfumato.core.errors import BudgetError, DataError, ParameterError, SessionError
from sfumato.dp.ledger import Ledger
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.joint.session import Asked, Taking, run_party, take
from tests.fuzz.commands import run
from tests.parties.parties import at_once, made
from tests.parties.releases_asked import G5, jointly, patients

COLUMNS = {name: one for name, one in G5["columns"].items() if name != "surgery"}
ASKED: dict[str, Any] = {
    "columns": COLUMNS,
    "privacy": {"epsilon": 2},
    "algorithm": {"name": "diffgen", "specializations": 2, "output": "counts"},
}
VERTICAL: dict[str, Any] = {**ASKED, "identifier": "id", "holds": {"a": ["job"], "b": ["sex", "age"]}}


def understood(folder: Path, protocol: str, asked: dict[str, Any], parties: int) -> Asked:
    session = replace(made(folder, parties).session, protocol=protocol, parameters=asked)
    session = replace(session, protocol_version=catalog().protocols[protocol].version)
    one = catalog().protocol(protocol)
    return Asked(session=session, protocol=one, parameters=one.read(session.parameters, session.names))


def begun(folder: Path, protocol: str, asked: dict[str, Any], tables: list[pl.DataFrame]) -> list[Taking]:
    """Every party with a ledger of its own that has been charged."""
    read, found = understood(folder, protocol, asked, len(tables)), []
    for number, rows in enumerate(tables):
        rows.write_csv(folder / f"{number}.csv")
        Ledger.create(folder / f"{number}.db", total=3).grant("release", 3)
        place, own = read.session.names[number], folder / f"{number}.csv"
        found.append(take(read, place, own, folder / f"out{number}", ledger=folder / f"{number}.db"))
    return found


def spent(folder: Path, number: int) -> Fraction:
    return Ledger(folder / f"{number}.db").accounts()[0].spent


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("private")
    taking = begun(folder, "private-release", ASKED, patients())
    assert [spent(folder, number) for number in range(3)] == [2, 2, 2]
    ended = at_once([lambda one=one: run_party(one) for one in taking])
    assert not any(isinstance(one, SessionError) for one in ended)
    return folder


def test_three_parties_write_the_same_verified_private_release(bundles: Path) -> None:
    rows = {(bundles / f"out{number}" / "data.csv").read_bytes() for number in range(3)}
    assert len(rows) == 1
    for number, name in enumerate("abc"):
        out = bundles / f"out{number}"
        assert sf.verify(out).holds
        manifest = json.loads((out / "manifest.json").read_text())
        assert (manifest["kind"], manifest["session"]["me"]) == ("private", name)
        assert manifest["search"]["epsilon against 1 of 3 parties"] == "2"
        assert manifest["search"]["noises in a count"] == 1.5
        assert manifest["paid"]["ledger"] == Ledger(bundles / f"{number}.db").head.ledger
        page = (out / "report.html").read_text()
        assert "Who made it together" in page
        assert "against them epsilon = 2 holds for everybody in the other tables" in page
        (charge,) = Ledger(bundles / f"{number}.db").history()
        assert (charge.status, charge.cost, charge.what) == ("settled", 2, "private-release with a, b, c")


FORGERIES = {
    "fewer noises than were agreed on": lambda body: body["search"].__setitem__("noises in a count", 1.0),
    "less epsilon against two parties": lambda body: body["search"].update({"epsilon against 2 of 3 parties": "2"}),
    "nothing about parties that work together": lambda body: body["search"].pop("epsilon against 2 of 3 parties"),
    "another number of colluding parties": lambda body: body["session"]["parameters"].update(noise={"colluding": 2}),
    "less leakage than there was": lambda body: body["session"]["leakage"].__setitem__("beyond", []),
    "somebody who was not there": lambda body: body["session"].__setitem__("me", "z"),
    "another plan": lambda body: body["plan"]["columns"]["sex"].__setitem__("type", "text"),
    "another protocol": lambda body: body["session"].__setitem__("protocol", "release"),
    "no noises": lambda body: body["search"].__setitem__("noises in a count", 0),
    "noises in words": lambda body: body["search"].__setitem__("noises in a count", "some"),
}


@pytest.mark.parametrize("title", FORGERIES)
def test_a_forged_session_is_caught(title: str, bundles: Path, tmp_path: Path) -> None:
    shutil.copytree(bundles / "out0", tmp_path / "out")
    body = json.loads((tmp_path / "out" / "manifest.json").read_text())
    body.pop("sha256")
    FORGERIES[title](body)
    (tmp_path / "out" / "manifest.json").write_text(dump(seal(body)))
    assert not sf.verify(tmp_path / "out").holds


@pytest.mark.parametrize("colluding", [0, 1])
def test_two_parties_with_the_same_columns(colluding: int, tmp_path: Path) -> None:
    """A circuit chooses; two whole noises, or one that both share."""
    first, second, third = patients()
    asked = {**ASKED, "noise": {"colluding": colluding}}
    taking = begun(tmp_path, "private-release", asked, [first, pl.concat([second, third])])
    ended = at_once([lambda one=one: run_party(one) for one in taking])
    assert not any(isinstance(one, SessionError) for one in ended)
    for number in range(2):
        assert sf.verify(tmp_path / f"out{number}").holds
    search = json.loads((tmp_path / "out0" / "manifest.json").read_text())["search"]
    assert (Fraction(search["epsilon against 1 of 2 parties"]) == 2) == bool(colluding)


def test_two_parties_with_different_columns(tmp_path: Path) -> None:
    whole = pl.concat(patients()).with_row_index("id").with_columns(pl.col("id").cast(pl.String))
    tables = [whole.select("id", "job", "transfuse"), whole.select("id", "sex", "age", "transfuse").reverse()]
    taking = begun(tmp_path, "vertical-private-release", VERTICAL, tables)
    ended = at_once([lambda one=one: run_party(one) for one in taking])
    assert not any(isinstance(one, SessionError) for one in ended)
    assert (tmp_path / "out0" / "data.csv").read_bytes() == (tmp_path / "out1" / "data.csv").read_bytes()
    for number in range(2):
        assert sf.verify(tmp_path / f"out{number}").holds


def test_marginals_of_three_parties_one_of_which_has_no_rows(tmp_path: Path) -> None:
    """That a table is empty is not told: nothing is refused, and the terms say nothing of the number of rows."""
    first, second, _ = patients()
    asked = {"columns": COLUMNS, "privacy": {"epsilon": 1}, "algorithm": {"name": "marginals"}}
    taking = begun(tmp_path, "private-release", asked, [first, second, first.clear()])
    ended = at_once([lambda one=one: run_party(one) for one in taking])
    assert not any(isinstance(one, SessionError) for one in ended)
    assert all(sf.verify(tmp_path / f"out{number}").holds for number in range(3))


def test_a_session_that_dies_stays_charged(tmp_path: Path) -> None:
    """One party stops in the middle: nobody has a bundle, and everybody has paid."""
    taking = begun(tmp_path, "private-release", ASKED, patients())

    def stops(*_: object) -> Any:
        raise SessionError("somebody pulled the plug")

    broken = replace(taking[2].asked, protocol=replace(taking[2].asked.protocol, run=stops))
    programs = [taking[0], taking[1], replace(taking[2], asked=broken)]
    ended = at_once([lambda one=one: run_party(one) for one in programs])
    assert all("stays charged" in str(one) for one in ended)
    for number in range(3):
        assert spent(tmp_path, number) == 2
        assert not (tmp_path / f"out{number}").exists()
        assert Ledger(tmp_path / f"{number}.db").history()[0].status == "reserved"


def test_the_ledger_is_charged_before_the_data_is_read(tmp_path: Path) -> None:
    """A file that cannot be read costs what was charged, but not one that is not there; without enough left, no file is
    opened."""
    read = understood(tmp_path, "private-release", ASKED, 3)
    ledger = Ledger.create(tmp_path / "own.db", total=3)
    ledger.grant("release", 3)
    with pytest.raises(DataError, match="does not exist"):
        take(read, "a", tmp_path / "nothing.csv", tmp_path / "out", ledger=ledger.path)
    assert ledger.accounts()[0].spent == 0
    (tmp_path / "odd.csv").write_bytes(b"\xff\xfe,\n")
    with pytest.raises(DataError):
        take(read, "a", tmp_path / "odd.csv", tmp_path / "out", ledger=ledger.path)
    assert ledger.accounts()[0].spent == 2
    with pytest.raises(BudgetError, match="nothing was asked of the data"):
        take(read, "a", tmp_path / "odd.csv", tmp_path / "out", ledger=ledger.path)
    (tmp_path / "more").mkdir()
    counts = understood(tmp_path / "more", "counts", {"columns": {"sex": ["M", "F"]}}, 3)
    with pytest.raises(BudgetError, match="costs nothing that a ledger counts"):
        take(counts, "a", tmp_path / "odd.csv", tmp_path / "out", ledger=ledger.path)


def test_a_ledger_of_another_table_is_given_back(tmp_path: Path) -> None:
    read = understood(tmp_path, "private-release", ASKED, 3)
    ledger = Ledger.create(tmp_path / "own.db", total=9)
    ledger.grant("release", 9)
    for number, rows in enumerate(patients()[:2]):
        rows.write_csv(tmp_path / f"{number}.csv")
    take(read, "a", tmp_path / "0.csv", tmp_path / "out", ledger=ledger.path)
    with pytest.raises(BudgetError, match="bound to another table"):
        take(read, "a", tmp_path / "1.csv", tmp_path / "out", ledger=ledger.path)
    assert ledger.accounts()[0].spent == 2


def with_(**more: Any) -> dict[str, Any]:
    return {**ASKED, **more}


def column(name: str, **more: Any) -> dict[str, Any]:
    return with_(columns={**COLUMNS, name: {**COLUMNS.get(name, {}), **more}})


REFUSED = {
    "parameters.privacy.delta is not known": with_(privacy={"epsilon": 1, "delta": 1e-6}),
    "parameters.privacy.epsilon is missing": with_(privacy={}),
    "parameters.noise.colluding must be a whole number from 0 to 2": with_(noise={"colluding": 3}),
    "parameters.noise must be a table": with_(noise=1),
    "parameters.algorithm.score must be": with_(algorithm={"name": "diffgen", "score": "gini"}),
    "parameters.algorithm.name must be": with_(algorithm={"name": "mondrian"}),
    "parameters.algorithm.seed is not known": with_(algorithm={"seed": 3}),
    "parameters.columns.job.hierarchy.file": column("job", hierarchy={"file": "jobs.csv"}),
    "parameters.columns.age.domain_from": column("age", hierarchy={"kind": "grown"}, domain_from="discover"),
    "parameters.columns.sex.outside": column("sex", outside="refuse"),
    "parameters.columns.surgery.role must be": column("surgery", **G5["columns"]["surgery"]),
    "parameters.columns.age.hierarchy: low and high are missing": column("age", hierarchy={"kind": "grown"}),
    "parameters.privacy.epsilon is too small": with_(privacy={"epsilon": "0.0001"}),
}


@pytest.mark.parametrize("said", REFUSED)
def test_terms_that_cannot_be_are_refused(said: str) -> None:
    """Before anything is charged or read, with the key."""
    with pytest.raises(ParameterError) as error:
        catalog().protocol("private-release").read(REFUSED[said], "abc")
    assert str(error.value).startswith(said)


def test_two_parties_cannot_measure_marginals() -> None:
    with pytest.raises(ParameterError, match="must be 'diffgen' for 2 parties"):
        catalog().protocol("private-release").read(with_(algorithm={"name": "marginals"}), "ab")


@pytest.mark.parametrize(
    ("said", "more"),
    [
        ("parameters.identifier", {"identifier": "job"}),
        ("parameters.holds must say", {"holds": {"a": ["job"]}}),
        ("parameters.holds must give each", {"holds": {"a": ["job"], "b": ["age"]}}),
        ("parameters.input.on_missing", {"input": {"on_missing": "drop"}}),
    ],
)
def test_vertical_terms_that_cannot_be_are_refused(said: str, more: dict[str, Any]) -> None:
    with pytest.raises(ParameterError) as error:
        catalog().protocol("vertical-private-release").read({**VERTICAL, **more}, "ab")
    assert str(error.value).startswith(said)


def test_vertical_rows_outside_the_domains_are_refused_at_home() -> None:
    """Whoever is left out would be told to the other party."""
    rows = pl.DataFrame({"id": ["1", "2"], "job": ["Janitor", "Pilot"], "transfuse": ["Y", "N"]})
    with pytest.raises(DataError, match="outside the declared domains"):
        jointly("vertical-private-release", VERTICAL, [rows, rows])
    with pytest.raises(DataError, match="no party's columns"):
        jointly("vertical-private-release", VERTICAL, [rows.drop("job"), rows])


TOML = """
schema = 1
protocol = "private-release"
[parties]
a = { card = "a.card" }
b = { card = "b.card" }
c = { card = "c.card" }
[parameters.columns.sex]
role = "quasi"
values = ["M", "F"]
[parameters.privacy]
epsilon = 2
"""


def test_whoever_does_not_agree_is_not_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command shows what it costs and whom it withstands, and asks before the ledger is charged."""
    made(tmp_path, 3)
    (tmp_path / "session.toml").write_text(TOML)
    patients()[0].write_csv(tmp_path / "own.csv")
    monkeypatch.chdir(tmp_path)
    ledger = Ledger.create(tmp_path / "own.db", total=3)
    ledger.grant("release", 3)
    code, out, _ = run("party", "show", "session.toml")
    assert code == 0
    assert "It costs everybody in your table epsilon = 2." in out
    assert "each of 3 parties" in out
    code, out, err = run("party", "run", "session.toml", "--as", "a", "--input", "own.csv", "--ledger", "own.db")
    assert code == 2
    assert "own.db is charged before your data is read" in out
    assert "nobody is here to agree" in err
    assert ledger.accounts()[0].spent == 0
    assert json.loads(run("party", "show", "session.toml", "--json")[1])["cost"]["epsilon"] == "2"
