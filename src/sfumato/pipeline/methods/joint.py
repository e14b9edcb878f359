"""Joint results as a method: made by a session, written as a bundle, verified from its bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sfumato.bundles.checks.joint import JOINT_ONLY, joint_checks, written
from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import SCHEMA, plain
from sfumato.bundles.provenance import Check, Verification, same
from sfumato.bundles.signatures import Signer, sign
from sfumato.bundles.staging import staged
from sfumato.core.errors import BundleError, ClaimRefuted, ParameterError
from sfumato.core.run_context import Work
from sfumato.core.strict_parsing import read_json
from sfumato.parties.network.session import digest_of, terms_of
from sfumato.parties.protocols import JointResult
from sfumato.pipeline.artifacts import SESSION_RESULT
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods.method import Method, refused
from sfumato.pipeline.methods.supports import Supports
from sfumato.pipeline.release import verify_written, versions, write_manifest, write_report
from sfumato.reports.joint import JointFacts, render
from sfumato.reports.language import translated
from sfumato.tables.table import Table
from sfumato.version import __version__

# What a bundle says of the session that it comes from, held against the protocol that is named.


def session_checks(manifest: Mapping[str, Any]) -> Iterable[Check]:
    """Terms and leakage are those of the protocol that is named, and whoever wrote the bundle took part."""
    session = manifest["session"]
    tree = {
        "sfumato": manifest["sfumato"],
        "frames": session["frames"],
        "protocol": session["protocol"],
        "protocol version": session["version"],
        "parties": {name: party["fingerprint"] for name, party in session["parties"].items()},
        "parameters": session["parameters"],
        "limits": session["limits"],
    }
    yield same("whoever wrote it took part", session["me"] in session["parties"], True)
    yield same("digest of the terms", digest_of(terms_of(tree)).hex(), session["terms"])
    known = catalog().protocols.get(session["protocol"])
    if known is None or known.version != session["version"]:
        detail = f"{session['protocol']!r} of version {session['version']} is not known here"
        yield Check(what="protocol", holds=False, detail=detail)
        return
    protocol, names = known.load(), tuple(sorted(session["parties"]))
    try:
        request = protocol.read(session["parameters"], names)
    except ParameterError as error:
        yield Check(what="parameters", holds=False, detail=str(error))
        return
    yield same("who learns what", plain(asdict(protocol.leakage(request, names))), session["leakage"])
    if manifest["kind"] in ("table", "private"):
        agreed = getattr(request, "plan", None)
        yield same("plan that the parties agreed on", agreed and plain(agreed.public()), manifest["plan"])
    if manifest["kind"] == "private":
        yield _noise(manifest, getattr(request, "terms", request))


def _noise(manifest: Mapping[str, Any], request: Any) -> Check:
    """How many noises counts have, and which epsilon holds against how many parties: computed from the ledger."""
    from sfumato.dp.events import from_json
    from sfumato.parties.diffgen.many_parties import coalitions

    what = "noise, and what holds against parties that work together"
    if not hasattr(request, "colluding"):
        return Check(what=what, holds=False, detail="the protocol makes no private release")
    noise_figures = coalitions(from_json(manifest["ledger"]), request.parties, request.colluding)
    return same(what, plain(dict(noise_figures)), {name: manifest["search"].get(name) for name in noise_figures})


# The bundle of a joint result: the document, who took part, what each of them learnt; verified from its bytes.


DATA = "data.json"


def write_joint(
    folder: Path, result: JointResult, session: Mapping[str, Any], *, force: bool, signer: Signer | None = None
) -> Verification:
    """Write the bundle of a result: complete and verified from its bytes, or not at all."""
    if result.release is not None:
        verification: Verification = replace(result.release, session=session).write(folder, force=force, signer=signer)
        return verification

    with staged(folder, force=force) as place:
        (place / DATA).write_text(written(result.document), encoding="utf-8", newline="\n")
        body = _stated(session, sha256(place / DATA))
        read_back = write_report(METHOD, place, body, Work())
        write_manifest(place, body)
        if signer is not None:
            sign(place, signer)
        checked = verify_written(place, read_back, card=None if signer is None else signer.card)
        if (wrong := checked.wrong) is not None:
            raise ClaimRefuted(f"the result was not written: {wrong.what} does not hold ({wrong.detail})")
    return checked


def _stated(session: Mapping[str, Any], digest: str) -> dict[str, Any]:
    body: dict[str, Any] = plain(
        {
            "sfumato": __version__,
            "schema": SCHEMA,
            "kind": "joint",
            "made": datetime.now(UTC).date().isoformat(),
            "marks": [JOINT_ONLY],
            "versions": versions("numpy", "cryptography"),
            "data": {
                "file": DATA,
                "sha256": digest,
                "rows": 1,
                "columns": [{"name": "document", "role": "keep", "type": "text"}],
            },
            "claims": [],
            "session": session,
        }
    )
    return body


def public_page(manifest: Mapping[str, Any], tables: Mapping[str, Table], work: Work) -> str:
    """The report, from manifest and document alone."""
    session = manifest["session"]
    document = read_json(tables["data"].frame["document"][0])
    return render(
        JointFacts(
            made=manifest["made"],
            version=manifest["sfumato"],
            protocol=session["protocol"],
            me=session["me"],
            parties={name: party["fingerprint"] for name, party in session["parties"].items()},
            parameters=session["parameters"],
            leakage=session["leakage"],
            sent=session["sent"],
            received=session["received"],
            rounds=session["rounds"],
            run=session["run"],
            terms=session["terms"],
            marks=tuple(manifest["marks"]),
            document=document,
        ),
        work,
    )


# Joint results as a kind of bundle: verified and reported like the others, made by a session and not by a plan.


_no_plan = refused(
    "a joint result is made by `sfumato party run`, from what several parties hold; no plan makes one", BundleError
)
_no_rows = refused(
    "a joint result has no rows about people: no original to attack it with, and no recoding to apply", BundleError
)
METHOD = Method(
    name="joint",
    supports=Supports(title="a joint result"),
    planned=False,
    check=_no_plan,
    read=_no_plan,
    prepare=_no_plan,
    search=_no_plan,
    recode=_no_plan,
    judge=_no_plan,
    attack=_no_plan,
    artifact=SESSION_RESULT,
    manifest=_no_plan,
    checks=joint_checks,
    again=_no_plan,
    subject=_no_rows,
    apply=_no_rows,
    public_page=public_page,
    done=lambda manifest: translated(
        "Several parties computed one result from all their data; no party showed its data to another."
    ),
    summary=_no_plan,
    figures=_no_plan,
    comparison=_no_plan,
)
