"""The compiler, with types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from sfumato.core.extras import extra
from sfumato.core.run_context import unstopped

F = TypeVar("F", bound=Callable[..., object])

njit = extra("numba", "a release of paths or sets").njit

_WITHIN: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compiled(signature: str) -> Callable[[F], F]:
    """The function in machine code for arguments of these types, made when its module is first imported.

    The code is kept in a file for the next process. The file is renewed when the function's own file changes; so
    functions that call each other live in one file. A request to stop waits until the code is made or loaded: the
    compiler crashes when it is interrupted. ``python -m sfumato.core.kernels`` makes all of it ahead.
    """

    def make(function: F) -> F:
        with unstopped():
            return cast("F", njit(signature, cache=True, error_model="numpy")(function))

    return make


def compiled_within(function: F) -> F:
    """The same for a function that only compiled ones call: quicker to compile, and kept with those."""
    return cast("F", njit(error_model="numpy", **_WITHIN)(function))
