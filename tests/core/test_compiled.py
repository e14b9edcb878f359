"""Compiled loops, and requests to stop while they are made."""

from __future__ import annotations

import signal
from typing import Any

import pytest

pytest.importorskip("numba")

from numba.core.dispatcher import Dispatcher

from sfumato.core.kernels.compiler import compiled


def one_more(number: int) -> int:
    return number + 1


def test_a_request_to_stop_waits_for_the_compiler(monkeypatch: pytest.MonkeyPatch):
    ready: list[str] = []
    own = Dispatcher.compile

    def asked(self: Any, signature: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        made = own(self, signature)
        ready.append("made")
        return made

    monkeypatch.setattr(Dispatcher, "compile", asked)
    with pytest.raises(KeyboardInterrupt):
        compiled("int64(int64)")(one_more)
    assert ready == ["made"]
    monkeypatch.undo()
    assert compiled("int64(int64)")(one_more)(1) == 2
