"""Packages that only some parts need: they are installed with an extra, and asked for where they are used."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sfumato.core.errors import MissingExtra

EXTRAS = {
    "opendp": ("opendp", "dp"),
    "numba": ("numba", "paths"),
    "sklearn": ("scikit-learn", "learn"),
    "scipy": ("scipy", "learn"),
    "gmpy2": ("gmpy2", "collaborate"),
    "rbcl": ("rbcl", "collaborate"),
    "duckdb": ("duckdb", "duckdb"),
    "adbc_driver_postgresql": ("adbc-driver-postgresql", "postgresql"),
    "pyspark": ("pyspark", "spark"),
    "fastexcel": ("fastexcel", "files"),
    "pyreadstat": ("pyreadstat", "files"),
    "starlette": ("starlette", "studio"),
    "uvicorn": ("uvicorn", "studio"),
    "tomlkit": ("tomlkit", "studio"),
}
"""What each module is called as a package, and the extra that installs it."""


def require(module: str, what: str) -> None:
    """Refuse at once what needs a package that is not installed; it is not loaded yet.

    >>> require("numpy", "counting")
    """
    top = module.partition(".")[0]
    if top in EXTRAS and not _installed(top):
        package, extra_ = EXTRAS[top]
        raise MissingExtra(
            f"{what} needs {package}, which is not installed; install it with: pip install 'sfumato[{extra_}]'"
        )


def extra(module: str, what: str) -> Any:
    """A module of one of these packages; a refusal that names the extra where it is not installed.

    >>> extra("numpy", "counting").__name__
    'numpy'
    """
    require(module, what)
    return import_module(module)


def _installed(top: str) -> bool:
    try:
        return find_spec(top) is not None
    except ValueError:  # switched off by an entry of None among the loaded modules
        return False
