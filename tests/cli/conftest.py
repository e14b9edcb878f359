"""Running the command line in-process."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from sfumato.cli.main import main
from sfumato.core.run_context import STOPS


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def call(*arguments: object) -> Ran:
        monkeypatch.setattr("sys.argv", ["sfumato", *map(str, arguments)])
        code: Any = 0
        before = {number: signal.getsignal(number) for number in STOPS}
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        finally:  # a program that was stopped hears no signal any more, and the tests go on
            for number, handler in before.items():
                signal.signal(number, handler)
        captured = capsys.readouterr()
        return Ran(code=code or 0, out=captured.out, err=captured.err)

    return call
