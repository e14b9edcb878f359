"""What a bundle says of the session that it comes from, held against the protocol that is named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from sfumato.bundle.manifest import plain
from sfumato.collaborate.joint_protocols import PLACES, joint_protocol
from sfumato.collaborate.wire.session_terms import digest_of, terms_of
from sfumato.ground.errors import ParameterError
from sfumato.verification.checks import Check, same


def session_checks(manifest: Mapping[str, Any]) -> Iterable[Check]:
    """Terms and leakage are those of the protocol that is named, and whoever wrote the bundle took part."""
    session = manifest["session"]
    tree = {
        "sfumato": manifest["sfumato"],
        "frames": session["frames"],
        "protocol": session["protocol"],
        "protocol version": session["version"],
        "parties": {name: one["fingerprint"] for name, one in session["parties"].items()},
        "parameters": session["parameters"],
        "limits": session["limits"],
    }
    yield same("whoever wrote it took part", session["me"] in session["parties"], True)
    yield same("digest of the terms", digest_of(terms_of(tree)).hex(), session["terms"])
    known = PLACES.get(session["protocol"])
    if known is None or known.version != session["version"]:
        told = f"{session['protocol']!r} of version {session['version']} is not known here"
        yield Check(what="protocol", holds=False, detail=told)
        return
    protocol, names = joint_protocol(session["protocol"]), tuple(sorted(session["parties"]))
    try:
        asked = protocol.read(session["parameters"], names)
    except ParameterError as error:
        yield Check(what="parameters", holds=False, detail=str(error))
        return
    yield same("who learns what", plain(asdict(protocol.leakage(asked, names))), session["leakage"])
    if manifest["kind"] in ("table", "private"):
        agreed = getattr(asked, "plan", None)
        yield same("plan that the parties agreed on", agreed and plain(agreed.public()), manifest["plan"])
    if manifest["kind"] == "private":
        yield _noise(manifest, getattr(asked, "terms", asked))


def _noise(manifest: Mapping[str, Any], asked: Any) -> Check:
    """How many noises counts have, and which epsilon holds against how many parties: computed from the ledger."""
    from sfumato.budget.events import from_json
    from sfumato.collaborate.noisy.coalitions import coalitions

    what = "noise, and what holds against parties that work together"
    if not hasattr(asked, "colluding"):
        return Check(what=what, holds=False, detail="the protocol makes no private release")
    found = coalitions(from_json(manifest["ledger"]), asked.parties, asked.colluding)
    return same(what, plain(dict(found)), {name: manifest["search"].get(name) for name in found})
