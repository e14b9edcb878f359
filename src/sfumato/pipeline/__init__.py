"""From a plan to a verified release, and everything else that a plan starts."""

from __future__ import annotations

from typing import Any

from sfumato.pipeline.catalog import BUILT_IN


def _built_in() -> Any:
    from sfumato.pipeline.catalog.built_in import PARTS

    return PARTS


BUILT_IN.append(_built_in)
