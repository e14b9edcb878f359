"""The bundle of a joint result: the document, who took part, what each of them learnt; verified from its bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sfumato.bundle.manifest import SCHEMA, plain
from sfumato.bundle.signatures import Signer, sign
from sfumato.bundle.staging import sha256, staged
from sfumato.collaborate.joint_protocols import JointResult
from sfumato.data.table import Table
from sfumato.ground.errors import ClaimRefuted
from sfumato.ground.strict_json import read_json
from sfumato.ground.work import Work
from sfumato.report.joint.joint_page import JointFacts, render
from sfumato.verification.checks import Check, Remark, Verification
from sfumato.verification.joint_checks import JOINT_ONLY, joint_checks, written
from sfumato.version import __version__
from sfumato.workflow.bundling import versions, write_manifest, write_report
from sfumato.workflow.checking import verify_written
from sfumato.workflow.kinds.joint.session_checks import session_checks

DATA = "data.json"


def write_joint(
    folder: Path, result: JointResult, session: Mapping[str, Any], *, force: bool, signer: Signer | None = None
) -> Verification:
    """Write the bundle of a result: complete and verified from its bytes, or not at all."""
    if result.release is not None:
        made: Verification = replace(result.release, session=session).write(folder, force=force, signer=signer)
        return made
    from sfumato.workflow.kinds.joint.joint_kind import KIND

    with staged(folder, force=force) as place:
        (place / DATA).write_text(written(result.document), encoding="utf-8", newline="\n")
        body = _stated(session, sha256(place / DATA))
        read_back = write_report(KIND, place, body, Work())
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


def checks(folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Table]) -> Iterable[Check | Remark]:
    """The result follows from its document; terms and leakage are those of the protocol that is named."""
    yield from joint_checks(folder, manifest, tables)
    yield from session_checks(manifest)


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
            parties={name: one["fingerprint"] for name, one in session["parties"].items()},
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
