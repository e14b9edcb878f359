"""Packages that are not installed are named with the extra that brings them."""

from __future__ import annotations

import sys

import pytest

from sfumato.ground.errors import EXIT_BAD_INPUT, MissingExtra
from sfumato.ground.extras import EXTRAS, extra


@pytest.mark.parametrize(("package", "name"), EXTRAS.items())
def test_a_missing_package_is_named_with_its_extra(package, name, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra) as caught:
        extra(package, "this")
    assert str(caught.value) == (
        f"this needs {package}, which is not installed; install it with: pip install 'sfumato[{name}]'"
    )
    assert caught.value.exit_code == EXIT_BAD_INPUT


def test_another_missing_module_is_nobodys_extra():
    with pytest.raises(ModuleNotFoundError, match="nothing_like_this"):
        extra("nothing_like_this", "this")
