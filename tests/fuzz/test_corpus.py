"""Whatever once went wrong stays refused, or read."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from sfumato.core.errors import SfumatoError
from tests.fuzz.corpus import CASES


@pytest.mark.parametrize("name", CASES)
def test_what_once_went_wrong_ends_as_it_should(name: str, tmp_path: Path) -> None:
    run, said = CASES[name]
    signal.alarm(60)
    try:
        if not said:
            run(tmp_path)
            return
        with pytest.raises(SfumatoError, match=re.escape(said)) as refusal:
            run(tmp_path)
        assert len(str(refusal.value)) < 1500
    finally:
        signal.alarm(0)
