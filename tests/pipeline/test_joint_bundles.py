"""Bundles of joint results: written whole, verified from their bytes, and not to be forged."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.bundles.checks.joint import written
from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import dump, plain, seal
from sfumato.core.errors import BundleError, ClaimRefuted, SessionError
from sfumato.parties.network.frames import WIRE_VERSION
from sfumato.parties.network.session import digest_of, terms_of
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.joint.session import same_result
from sfumato.pipeline.methods.joint import write_joint
from sfumato.version import __version__
from tests.parties.test_mining_protocols import ASKED, people, run

NAMES = ("a", "b", "c")


def session(name: str, **instead) -> dict:
    """What a session of three parties is stated as."""
    protocol = catalog().protocol(name)
    parties = {one: {"fingerprint": f"{one}0:{one}1"} for one in NAMES}
    body = {
        "protocol": name,
        "version": catalog().protocols[name].version,
        "run": "ab" * 32,
        "frames": WIRE_VERSION,
        "me": "a",
        "parties": parties,
        "parameters": ASKED[name],
        "limits": {"join": 300.0, "silence": 30.0, "step": 900.0},
        "leakage": plain(asdict(protocol.leakage(protocol.read(ASKED[name], NAMES), NAMES))),
        "sent": 10,
        "received": 10,
        "rounds": 2,
    }
    tree = {
        "sfumato": __version__,
        "frames": WIRE_VERSION,
        "protocol": name,
        "protocol version": body["version"],
        "parties": {one: parties[one]["fingerprint"] for one in NAMES},
        "parameters": body["parameters"],
        "limits": body["limits"],
    }
    return {**body, "terms": digest_of(terms_of(tree)).hex(), **instead}


def results() -> dict:
    whole = people(300, 1)
    return {name: run(name, [whole[:100], whole[100:200], whole[200:]])[0] for name in ASKED}


@pytest.fixture(scope="module")
def made():
    return results()


@pytest.mark.parametrize("name", sorted(ASKED))
def test_a_result_is_written_and_verified(name, made, tmp_path):
    assert write_joint(tmp_path / "out", made[name], session(name), force=False).holds
    found = sf.verify(tmp_path / "out")
    assert found.holds
    assert not found.claimed
    page = (tmp_path / "out" / "report.html").read_text()
    assert "What each party learnt" in page
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["data.json", "manifest.json", "report.html"]


def forged(folder: Path, change) -> sf.Verification:
    """A bundle whose document or manifest somebody changed, sealed again."""
    manifest = json.loads((folder / "manifest.json").read_text())
    document = json.loads((folder / "data.json").read_text())
    change(document, manifest)
    (folder / "data.json").write_text(written(document))
    manifest["data"]["sha256"] = sha256(folder / "data.json")
    manifest.pop("sha256")
    (folder / "manifest.json").write_text(dump(seal(manifest)))
    return sf.verify(folder)


def _more(table: dict) -> None:
    next(iter(table.values()))[0] += 1


FORGERIES = {
    "counts: one combination left out": ("counts", lambda d, m: d["rows"].pop()),
    "counts: a negative count": ("counts", lambda d, m: d["rows"][0].__setitem__(-1, -1)),
    "counts: a count that is none": ("counts", lambda d, m: d["rows"][0].__setitem__(-1, 1.5)),
    "naive-bayes: sums that do not fit": ("naive-bayes", lambda d, m: _more(d["columns"]["ward"])),
    "naive-bayes: a column left out": ("naive-bayes", lambda d, m: d["columns"].pop("age")),
    "tree: other classes": ("tree", lambda d, m: d["target"].__setitem__("values", ["no", "perhaps"])),
    "tree: a leaf left out": ("tree", lambda d, m: d["nodes"].pop()),
    "k-means: a centre outside": ("k-means", lambda d, m: d["clusters"][0].__setitem__(0, 1e6)),
    "k-means: a cluster more": ("k-means", lambda d, m: d["clusters"].append(d["clusters"][0])),
    "rules: a rule left out": ("rules", lambda d, m: d["rules"].pop()),
    "rules: another confidence": ("rules", lambda d, m: d["rules"][0].__setitem__("confidence", 0.99)),
    "rules: a set below the least support": ("rules", lambda d, m: d["sets"][0].__setitem__("rows", 1)),
    "another party": ("counts", lambda d, m: m["session"]["parties"].__setitem__("d", {"fingerprint": "d"})),
    "parameters that were not agreed on": ("rules", lambda d, m: m["session"]["parameters"].update(min_support=0.04)),
    "less leakage than there was": ("tree", lambda d, m: m["session"]["leakage"].__setitem__("beyond", [])),
    "somebody who was not there": ("counts", lambda d, m: m["session"].__setitem__("me", "z")),
    "no warning": ("counts", lambda d, m: m.__setitem__("marks", [])),
    "another protocol": ("counts", lambda d, m: m["session"].__setitem__("protocol", "tree")),
    "a later version of the protocol": ("counts", lambda d, m: m["session"].__setitem__("version", 99)),
}


@pytest.mark.parametrize("title", FORGERIES)
def test_a_forged_result_is_caught(title, made, tmp_path):
    name, change = FORGERIES[title]
    write_joint(tmp_path / "out", made[name], session(name), force=False)
    assert not forged(tmp_path / "out", change).holds


def test_a_result_that_contradicts_itself_is_not_written(made, tmp_path):
    with pytest.raises(ClaimRefuted, match="the result was not written"):
        write_joint(tmp_path / "out", made["counts"], session("counts", terms="00" * 32), force=False)
    assert not (tmp_path / "out").exists()


def test_an_existing_result_is_replaced_only_when_told_to(made, tmp_path):
    write_joint(tmp_path / "out", made["counts"], session("counts"), force=False)
    with pytest.raises(BundleError, match="exists already"):
        write_joint(tmp_path / "out", made["counts"], session("counts"), force=False)
    write_joint(tmp_path / "out", made["counts"], session("counts"), force=True)


def test_joint_results_have_no_rows_to_attack_or_to_recode(made, tmp_path):
    write_joint(tmp_path / "out", made["counts"], session("counts"), force=False)
    with pytest.raises(BundleError, match="no rows about people"):
        sf.attack(tmp_path / "out", original=people(5, 1))
    with pytest.raises(BundleError, match="no rows about people"):
        sf.apply(tmp_path / "out", people(5, 1))


def test_parties_with_different_results_end_the_session():
    from sfumato.parties.simulation import seats, together

    with pytest.raises(SessionError, match="came to another result"):
        together([same_result(place, text) for place, text in zip(seats(3), ("x", "x", "y"), strict=True)])
