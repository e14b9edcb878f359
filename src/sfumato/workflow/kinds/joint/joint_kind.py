"""Joint results as a kind of bundle: verified and reported like the others, made by a session and not by a plan."""

from __future__ import annotations

from typing import Any, NoReturn

from sfumato.ground.errors import BundleError
from sfumato.report.base.language import said
from sfumato.workflow.kinds.joint import joint_bundle
from sfumato.workflow.kinds.kind import Kind


def _no_plan(*_: Any, **__: Any) -> NoReturn:
    raise BundleError(
        "a joint result is made by `sfumato party run`, from what several parties hold; no plan makes one"
    )


def _no_rows(*_: Any, **__: Any) -> NoReturn:
    raise BundleError(
        "a joint result has no rows about people: no original to attack it with, and no recoding to apply"
    )


KIND = Kind(
    name="joint",
    attacked_as="joint",
    planned=False,
    check=_no_plan,
    read=_no_plan,
    prepare=_no_plan,
    search=_no_plan,
    recode=_no_plan,
    judge=_no_plan,
    attack=_no_plan,
    ending="json",
    files=_no_plan,
    manifest=_no_plan,
    checks=joint_bundle.checks,
    again=_no_plan,
    subject=_no_rows,
    apply=_no_rows,
    public_page=joint_bundle.public_page,
    done=lambda manifest: said(
        "Several parties computed one result from all their data; no party showed its data to another."
    ),
    summary=_no_plan,
    figures=_no_plan,
    comparison=_no_plan,
)
