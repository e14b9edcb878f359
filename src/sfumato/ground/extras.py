"""Packages that only some parts need: they are installed with an extra, and asked for where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sfumato.ground.errors import MissingExtra

EXTRAS = {"opendp": "dp", "numba": "paths", "sklearn": "learn", "scipy": "learn"}
"""The extra of each package."""


def extra(module: str, what: str) -> Any:
    """A module of one of these packages; a refusal that names the extra where it is not installed.

    >>> extra("numpy", "counting").__name__
    'numpy'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        package = (missing.name or module).partition(".")[0]
        if package not in EXTRAS:
            raise
        raise MissingExtra(
            f"{what} needs {package}, which is not installed; install it with: pip install 'sfumato[{EXTRAS[package]}]'"
        ) from None
