"""Engines for tests: DuckDB in the process, a private PostgreSQL in a temporary folder, Spark on this machine."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from tests.tables.engines.engine_tables import JAVA, without_owner
from tests.tables.engines.private_postgres import lacking, started


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests that may ask Spark run in one process, so that one Java is started."""
    for item in items:
        if any("spark" in str(one) for one in (item.name, *getattr(item, "fixturenames", ()))):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL that only this test run knows; it listens to no network."""
    pytest.importorskip("adbc_driver_postgresql", reason="pip install adbc-driver-postgresql")
    if why := lacking():
        pytest.skip(why)
    with started(tmp_path_factory.mktemp("postgres"), "shared_buffers=16MB") as address:
        yield address
        without_owner(address)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session of Spark on this machine, for all tests."""
    pytest.importorskip("pyspark", reason="pip install pyspark")
    if shutil.which("java") is None:
        pytest.skip("no Java here: apt-get install default-jre-headless")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    said = {"spark.sql.shuffle.partitions": 1, "spark.sql.session.timeZone": "UTC", "spark.driver.host": "127.0.0.1"}
    said |= {"spark.ui.showConsoleProgress": "false", "spark.driver.memory": "1g"}
    for key, value in {**said, "spark.driver.extraJavaOptions": JAVA}.items():
        builder = builder.config(key, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
