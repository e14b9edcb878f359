"""Engines for tests: DuckDB in the process, a private PostgreSQL in a temporary folder, Spark on this machine."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engines.engine_tables import PORT

SERVERS = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL that only this test run knows; it listens to no network."""
    pytest.importorskip("adbc_driver_postgresql", reason="pip install adbc-driver-postgresql")
    server = Path(found).resolve() if (found := shutil.which("postgres")) else (SERVERS or [None])[-1]
    if server is None:
        pytest.skip("no PostgreSQL here: apt-get install postgresql")
    folder = tmp_path_factory.mktemp("postgres")
    as_other = _unprivileged(folder)
    data, tools = folder / "data", server.parent

    def run(*command: str) -> None:
        subprocess.run([*as_other, *command], check=True, capture_output=True, cwd=folder)

    run(str(tools / "initdb"), "-D", str(data), "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N")
    said = f"-k {folder} -p {PORT} -c listen_addresses= -c fsync=off -c lock_timeout=5s -c shared_buffers=16MB"
    run(str(tools / "pg_ctl"), "-D", str(data), "-l", str(folder / "log"), "-w", "-o", said, "start")
    try:
        yield f"postgresql:///postgres?host={folder}&port={PORT}&user=tester"
    finally:
        run(str(tools / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop")


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session of Spark on this machine, for all tests."""
    pytest.importorskip("pyspark", reason="pip install pyspark")
    if shutil.which("java") is None:
        pytest.skip("no Java here: apt-get install default-jre-headless")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    said = {"spark.sql.shuffle.partitions": 1, "spark.sql.session.timeZone": "UTC", "spark.driver.host": "127.0.0.1"}
    for key, value in {**said, "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "1g"}.items():
        builder = builder.config(key, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def _unprivileged(folder: Path) -> list[str]:
    """PostgreSQL refuses to run as root: what comes before a command, so that another user runs it in the folder."""
    if os.geteuid() != 0:
        return []
    user = next((one for one in ("postgres", "nobody") if any(p.pw_name == one for p in pwd.getpwall())), None)
    if user is None or shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL does not run as root: run the tests as another user")
    entry = pwd.getpwnam(user)
    os.chown(folder, entry.pw_uid, entry.pw_gid)
    for parent in folder.parents:
        if parent.stat().st_uid == 0 and parent != Path("/") and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)
    return ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups"]
