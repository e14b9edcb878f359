"""Shells complete commands and options."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SFUMATO = Path(sys.executable).with_name("sfumato")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_script_asks_sfumato_itself(run, shell: str):
    done = run("completion", shell)
    assert done.code == 0
    assert f"_SFUMATO_COMPLETE=complete_{shell}" in done.out


@pytest.mark.parametrize(("typed", "found"), [("sfumato ver", "verify"), ("sfumato release --inp", "--input")])
def test_bash_completes_what_was_begun(typed: str, found: str):
    """The script is read by a real bash, and its function is called as the Tab key would."""
    if shutil.which("bash") is None or not SFUMATO.exists():
        pytest.skip("bash and an installed sfumato are needed")
    words = " ".join(f"'{word}'" for word in typed.split())
    script = (
        f'source <("{SFUMATO}" completion bash); COMP_WORDS=({words}); COMP_CWORD={len(typed.split()) - 1}; '
        f'_sfumato_completion "{SFUMATO}"; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env={**os.environ, "TERM": "dumb"}, check=False
    )
    assert found in done.stdout.split(), done.stderr


def test_an_unknown_shell_is_refused(run):
    assert run("completion", "tcsh").code == 2
