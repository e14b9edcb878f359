"""Requests to stop that arrive inside compiled code are neither lost nor mistaken for an error."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from sfumato.cli.main import stoppable
from sfumato.core.errors import Interrupted


class _Deaf:
    """Its end is asked to stop, and Python drops what a finalizer raises: what compiled code does in callbacks."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def _busy() -> None:
    _Deaf()
    for _ in range(3000):
        time.sleep(0.01)


def _turned() -> None:
    try:
        signal.raise_signal(signal.SIGTERM)
    except KeyboardInterrupt:
        raise TypeError("'<unprintable str object>' is not a Polars data type") from None


def _dropped_and_turned() -> None:
    _Deaf()
    _turned()


def test_a_dropped_request_is_made_again(capfd: pytest.CaptureFixture[str]):
    with pytest.raises(Interrupted), stoppable():
        _busy()
    assert capfd.readouterr().err == ""


def test_an_error_after_a_request_is_the_stop():
    with pytest.raises(Interrupted), stoppable():
        _turned()


def test_an_error_without_a_request_stays_itself():
    with pytest.raises(TypeError), stoppable():
        raise TypeError("a mistake")


def test_everything_is_put_back():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)], sys.unraisablehook
    with stoppable():
        assert signal.getsignal(signal.SIGTERM) is not before[0][1]
    assert ([signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)], sys.unraisablehook) == before


def test_a_request_made_again_does_not_outlive_the_command():
    """The command ends while the request waits to be made again: nothing after it is interrupted."""
    for _ in range(20):
        with pytest.raises(Interrupted), stoppable():
            _dropped_and_turned()
        time.sleep(0.002)
    time.sleep(0.05)


def test_an_interrupt_in_code_of_compiled_packages_does_not_change_how_the_program_ends(tmp_path):
    """Compiled packages run texts as Python; an interrupt there would end the process as if by SIGINT."""
    (tmp_path / "struck.py").write_text(
        "import ctypes, sys\n"
        "from sfumato.cli.main import ending\n"
        "ctypes.pythonapi.PyRun_SimpleString(b'raise KeyboardInterrupt')\n"
        "if sys.argv[1] == 'mended': ending()\n"
        "sys.exit(130)\n"
    )
    codes = {
        how: subprocess.run(
            [sys.executable, "-m", "struck", how], capture_output=True, check=False, cwd=tmp_path
        ).returncode
        for how in ("mended", "as it was")
    }
    assert codes == {"mended": 130, "as it was": -signal.SIGINT}
