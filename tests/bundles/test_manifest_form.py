"""The form of manifests: those that are written have it, and whatever is added, left out or of another type has not."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.bundles.manifest.releases import error_of, typed
from tests.golden.releases.comparing import BUNDLES
from tests.golden.releases.plans import PLANS
from tests.weights import examples

FREE = ("privacy", "algorithm", "parameters", "columns", "labels", "sizes", "values", "utility", "versions", "figures",
        "attacks_not_made", "paths", "guards", "above", "search")  # fmt: skip
"""Tables whose keys are names of columns, labels, models or figures."""


def manifest(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((BUNDLES / name / "manifest.json").read_text())
    return found


def tables(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all tables that have known keys."""
    if isinstance(content, dict):
        if not path or path[-1] not in FREE:
            yield path
        for key, value in content.items():
            yield from tables(value, (*path, key))
    elif isinstance(content, list):
        for place, value in enumerate(content[:2]):
            yield from tables(value, (*path, place))


def at(content: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        content = content[key]
    return content


@pytest.mark.parametrize("name", PLANS)
def test_what_is_written_has_the_form(name: str):
    assert error_of(manifest(name)) is None


@pytest.mark.parametrize("name", PLANS)
def test_a_record_is_written_as_it_was_read(name: str):
    """Every key in its place: records say the same as the file, in the file's order."""
    content = manifest(name)
    assert json.dumps(msgspec.to_builtins(typed(content))) == json.dumps(content)


@pytest.mark.parametrize("name", ["anatomy", "top-down-valid", "trajectory-mixed", "marginals-counts"])
def test_a_key_more_and_a_key_of_another_type_are_faults(name: str):
    whole = manifest(name)
    for path in tables(whole):
        if "parameters" in path or "privacy" in path:
            continue  # what a model takes, its builder says
        more = copy.deepcopy(whole)
        at(more, path)["raw"] = [["Alice", "HIV"]]
        assert error_of(more) is not None, path
        for key in at(whole, path):
            other = copy.deepcopy(whole)
            at(other, path)[key] = {"x": [[["y"]]]} if not isinstance(at(whole, path)[key], dict) else 7
            assert error_of(other) is not None, (*path, key)


@pytest.mark.parametrize("name", ["anatomy", "trajectory-mixed", "marginals-counts"])
def test_a_key_less_is_a_fault(name: str):
    whole = manifest(name)
    for key in whole:
        if key != "report":
            assert error_of({k: v for k, v in whole.items() if k != key}) is not None, key


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(st.sampled_from(sorted(PLANS)), st.data())
@examples(100)
def test_any_value_anywhere_is_read_or_refused(name: str, data: st.DataObject):
    """A form never fails by itself: it says None, or what is wrong."""
    whole = manifest(name)
    path: tuple[Any, ...] = ()
    here: Any = whole
    while isinstance(here, dict | list) and here and (not path or data.draw(st.booleans())):
        path = (*path, data.draw(st.sampled_from(sorted(here) if isinstance(here, dict) else list(range(len(here))))))
        here = at(whole, path)
    at(whole, path[:-1])[path[-1]] = data.draw(_JSON)
    fault = error_of(whole)
    assert fault is None or isinstance(fault, str)
