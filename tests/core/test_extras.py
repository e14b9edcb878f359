"""Packages that are not installed are named with the extra that brings them."""

from __future__ import annotations

import sys

import pytest

import sfumato as sf
from sfumato.core.errors import EXIT_BAD_INPUT, MissingExtra
from sfumato.core.extras import EXTRAS, extra


@pytest.mark.parametrize(("module", "package", "name"), [(module, *named) for module, named in EXTRAS.items()])
def test_a_missing_package_is_named_with_its_extra(module, package, name, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra) as caught:
        extra(f"{module}.anything", "this")
    assert str(caught.value) == (
        f"this needs {package}, which is not installed; install it with: pip install 'sfumato[{name}]'"
    )
    assert caught.value.exit_code == EXIT_BAD_INPUT


def test_another_missing_module_is_nobodys_extra():
    with pytest.raises(ModuleNotFoundError, match="nothing_like_this"):
        extra("nothing_like_this", "this")


PLANS = {
    "numba": {
        "columns": {"path": {"role": "quasi", "type": "trajectory"}, "s": {"role": "sensitive"}},
        "privacy": {"lkc": {"l": 1, "k": 1, "c": 1.0}},
    },
    "opendp": {
        "columns": {
            "age": {
                "role": "quasi",
                "hierarchy": {"kind": "intervals", "widths": [10], "low": 0, "high": 90, "outside": "clamp"},
            }
        },
        "privacy": {"epsilon": 1},
    },
}


@pytest.mark.parametrize("module", PLANS)
def test_a_release_is_refused_before_anything_is_read_or_paid(module, monkeypatch):
    plan = sf.Plan.parse({"input": {"path": "there-is-no-such-file.csv"}, **PLANS[module]})
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=f"needs {module}"):
        sf.release(plan)
