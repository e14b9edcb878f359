"""Signatures: good ones by the right key pass, and nothing else does."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

import sfumato as sf
from sfumato.bundles.signatures import SIGNATURE, Card, Signer, checked_signature, sign
from sfumato.core.errors import BundleError


@pytest.fixture
def signer() -> Signer:
    return Signer.new("Registry of Examples")


@pytest.fixture
def bundle(tmp_path: Path, signer: Signer) -> Path:
    folder = tmp_path / "bundle"
    folder.mkdir()
    (folder / "manifest.json").write_text('{"rows": 5}\n')
    sign(folder, signer)
    return folder


def test_a_key_and_its_card_are_written_and_read(tmp_path: Path, signer: Signer):
    card = signer.write(tmp_path / "registry.key")
    assert stat.S_IMODE((tmp_path / "registry.key").stat().st_mode) == 0o600
    assert Card.load(card) == signer.card
    assert Signer.load(tmp_path / "registry.key").card.key == signer.card.key
    with pytest.raises(BundleError, match="exists already"):
        signer.write(tmp_path / "registry.key")
    assert "private" not in repr(signer).lower()


def test_a_signature_is_one_that_others_can_check(bundle: Path, signer: Signer):
    """The bytes are those that RFC 8032 gives for the message that the docs name."""
    content = json.loads((bundle / SIGNATURE).read_text())
    message = b"sfumato bundle signature 1\n" + hashlib.sha256((bundle / "manifest.json").read_bytes()).digest()
    made = base64.b64decode(content["signature"])
    signer.private.public_key().verify(made, message)
    assert made == signer.private.sign(message)


def test_who_signed_is_told(bundle: Path, signer: Signer):
    alone = checked_signature(bundle, None)
    assert (alone.holds, alone.vouched) == (True, False)
    known = checked_signature(bundle, signer.card)
    assert (known.holds, known.vouched) == (True, True)
    assert "Registry of Examples" in known.told
    assert signer.card.fingerprint in known.told


def test_without_a_signature(tmp_path: Path, signer: Signer):
    (tmp_path / "manifest.json").write_text("{}")
    assert checked_signature(tmp_path, None).told == "sealed, not signed: consistent, but anyone could have made it"
    assert not checked_signature(tmp_path, signer.card).holds


def changed(bundle: Path, **keys: Any) -> None:
    path = bundle / SIGNATURE
    path.write_text(json.dumps({**json.loads(path.read_text()), **keys}))


def test_whatever_is_changed_breaks_it(bundle: Path, signer: Signer, tmp_path: Path):
    other = Signer.new("Somebody else")
    good = (bundle / SIGNATURE).read_text()
    assert not checked_signature(bundle, other.card).holds
    (bundle / "manifest.json").write_text('{"rows": 6}\n')
    assert not checked_signature(bundle, None).holds
    (bundle / "manifest.json").write_text('{"rows": 5}\n')
    for change in (
        {"signature": base64.b64encode(bytes(64)).decode()},
        {"key": base64.b64encode(other.card.key).decode()},
        {"key": base64.b64encode(bytes(32)).decode()},
        {"key": "?"},
        {"key": None},
        {"signature": "AAAA"},
        {"schema": 2},
        {"algorithm": "none"},
        {"name": "Registry of Examples"},
    ):
        (bundle / SIGNATURE).write_text(good)
        changed(bundle, **change)
        assert not checked_signature(bundle, signer.card).holds, change
        assert not checked_signature(bundle, None).holds, change
    for text in ("", "[]", "{", '{"schema": 1, "schema": 1}', "x" * 10_000):
        (bundle / SIGNATURE).write_text(text)
        assert not checked_signature(bundle, None).holds, text


def test_a_signature_of_another_bundle_is_none(bundle: Path, tmp_path: Path, signer: Signer):
    other = tmp_path / "other"
    other.mkdir()
    (other / "manifest.json").write_text('{"rows": 7}\n')
    shutil.copy(bundle / SIGNATURE, other / SIGNATURE)
    assert not checked_signature(other, signer.card).holds


def test_a_signature_of_something_else_is_none(bundle: Path, signer: Signer):
    """The same key may sign letters: the bytes of a manifest alone are not what is signed."""
    made = signer.private.sign((bundle / "manifest.json").read_bytes())
    changed(bundle, signature=base64.b64encode(made).decode())
    assert not checked_signature(bundle, signer.card).holds


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not valid JSON"),
        ("{}", "no signer's card"),
        ('{"sfumato": "card", "schema": 1, "name": "x", "key": "AA=="}', "32 bytes"),
        ('{"sfumato": "card", "schema": 2, "name": "x", "key": "AA=="}', "does not read"),
        ('{"sfumato": "card", "schema": 1, "name": "", "key": "AA=="}', "does not read"),
        ('{"sfumato": "card", "schema": 1, "name": "x", "key": "AA==", "more": 1}', "no signer's card"),
    ],
)
def test_other_files_are_no_cards(tmp_path: Path, text: str, told: str):
    (tmp_path / "card").write_text(text)
    with pytest.raises(BundleError, match=told):
        Card.load(tmp_path / "card")


def test_other_files_are_no_keys(tmp_path: Path):
    rsa = generate_private_key(public_exponent=65537, key_size=2048)
    locked = Ed25519PrivateKey.generate()
    (tmp_path / "rsa.key").write_bytes(rsa.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (tmp_path / "raw.key").write_bytes(locked.private_bytes_raw())
    for name, told in (("rsa.key", "another kind of key"), ("raw.key", "no private key"), ("none.key", "No such file")):
        with pytest.raises(BundleError, match=told):
            Signer.load(tmp_path / name)


def test_a_page_of_another_version_needs_a_signer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, signer: Signer):
    """Nobody can make it again; who knows the signer takes their word, and nobody else does."""
    plan = sf.Plan.parse(
        {"columns": {"age": {"role": "quasi", "hierarchy": {"kind": "flat"}}}, "privacy": {"k_anonymity": 2}}
    )
    frame = sf.datasets.census(100, seed=1).select("age")
    monkeypatch.setattr("sfumato.pipeline.release.__version__", "0.0.9")
    monkeypatch.setattr("sfumato.bundles.verify.__version__", "0.0.9")
    render = "sfumato.reports.table.render"
    with monkeypatch.context() as then:
        then.setattr(render, lambda facts, work: "<html>a page as it was then</html>")
        assert sf.release(plan, frame).write(tmp_path / "old", signer=signer).holds
    monkeypatch.setattr("sfumato.bundles.verify.__version__", "0.1.0")
    assert sf.verify(tmp_path / "old", signer=signer.card).holds
    found = sf.verify(tmp_path / "old")
    assert [check.what for check in found.checks if not check.holds] == ["report"]
    assert "verify with sfumato 0.0.9" in next(check.detail for check in found.checks if not check.holds)
