"""A PostgreSQL that only one run knows, in a temporary folder; it listens to no network."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PORT = 5477
"""Where it listens, on a socket in its own folder."""
NONE = "no PostgreSQL here: apt-get install postgresql"
_ROOT = "PostgreSQL does not run as root: run the tests as another user"


def server() -> Path | None:
    """The newest server that is installed."""
    found = shutil.which("postgres")
    every = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    return Path(found).resolve() if found else (every or [None])[-1]


def lacking() -> str:
    """Why none can be started, and what would help; nothing where one can."""
    if server() is None:
        return NONE
    return _ROOT if os.geteuid() == 0 and (_other() is None or shutil.which("setpriv") is None) else ""


@contextmanager
def started(folder: Path, *settings: str) -> Iterator[str]:
    """The address of a server in a folder, for as long as the block lasts."""
    as_other, found = _unprivileged(folder), server()
    assert found is not None, NONE
    data, tools = folder / "data", found.parent

    def run(*command: str) -> None:
        subprocess.run([*as_other, *command], check=True, capture_output=True, cwd=folder)

    run(str(tools / "initdb"), "-D", str(data), "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N")
    said = " ".join(f"-c {one}" for one in ("listen_addresses=", "fsync=off", "lock_timeout=5s", *settings))
    run(str(tools / "pg_ctl"), "-D", str(data), "-l", str(folder / "log"), "-w", "-o", f"-k {folder} -p {PORT} {said}",
        "start")  # fmt: skip
    try:
        yield f"postgresql:///postgres?host={folder}&port={PORT}&user=tester"
    finally:
        stop = [*as_other, str(tools / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop"]
        subprocess.run(stop, check=False, capture_output=True)  # the folder may be gone: other runs clear old ones


def _other() -> str | None:
    names = [one.pw_name for one in pwd.getpwall()]
    return next((one for one in ("postgres", "nobody") if one in names), None)


def _unprivileged(folder: Path) -> list[str]:
    """PostgreSQL refuses to run as root: what comes before a command, so that another user runs it in the folder."""
    user = _other()
    if os.geteuid() != 0 or user is None:
        return []
    entry = pwd.getpwnam(user)
    os.chown(folder, entry.pw_uid, entry.pw_gid)
    for parent in folder.parents:
        if parent.stat().st_uid == 0 and parent != Path("/") and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)
    return ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups"]
