"""A manifest from a stranger may lack anything, or hold it in another form: one refusal says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from polars.exceptions import PolarsError

from sfumato.ground.errors import BundleError, SfumatoError

FAULTS = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, OSError, RecursionError, PolarsError)
"""What reading a value of another form ends in."""


@contextmanager
def stated_form(folder: Path) -> Iterator[None]:
    """While a manifest is read: whatever is not of the form that this version writes is refused."""
    try:
        yield
    except SfumatoError:
        raise
    except FAULTS as error:
        raise BundleError(f"{folder}: the manifest is not of the form that this version writes: {error!r}") from error
