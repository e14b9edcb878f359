"""Noisy rows over observed domains as a kind of release: the stages of a private one, without its claim.

A domain that is read off the rows shows which values somebody has. So whatever noise was drawn, nothing is promised.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from sfumato.bundles.checks.private import OBSERVED, OBSERVED_KIND
from sfumato.core.errors import PlanError
from sfumato.pipeline.methods.method import Method, Request, SearchResult
from sfumato.pipeline.methods.private import method, stages
from sfumato.pipeline.methods.private.plan import check_noise, searches
from sfumato.pipeline.methods.private.stages import PrivateRelease
from sfumato.pipeline.plan.plan import Plan


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ObservedRelease(PrivateRelease):
    """Noisy rows that claim nothing."""

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release."""
        return [OBSERVED]


def check(plan: Plan) -> None:
    """As of every plan for noisy rows; domains may come from anywhere, but what is paid for is private."""
    if searches(plan):
        raise PlanError(
            'privacy.domains = "observed" reads domains off the rows, and domain_from = "discover" pays for not doing '
            "so; leave one of them out"
        )
    check_noise(plan)


def judge(kind: Method, request: Request, result: SearchResult, rows: pl.DataFrame) -> PrivateRelease:
    """Nothing is claimed."""
    return stages.unjudged(ObservedRelease, kind, request, result, rows, claims=())


METHOD = replace(method.METHOD, name=OBSERVED_KIND, solved_as=method.METHOD.name, check=check, judge=judge)
