"""The house watches itself: randomness, words, the door, the catalog."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import sfumato
from sfumato.pipeline.catalog.built_in import PARTS
from sfumato.pipeline.catalog.catalog import catalog

SOURCE = Path(sfumato.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


def test_randomness_is_handed_in():
    """Generators are made in one place; nobody draws from a global one.

    Coins at collection time have a place of their own: a survey tool embeds them without NumPy.
    """
    for path in FILES:
        if path.name in ("randomness.py", "mechanisms.py"):
            continue
        text = path.read_text()
        assert not re.search(
            r"np\.random\.(?!Generator\b)|default_rng|^import random|from random import|secrets\.", text, re.M
        ), path


def test_nothing_is_promised_that_was_not_measured():
    """The reports and messages do not speak of safety; unfinished work has no marks."""
    for path in [*FILES, *SOURCE.rglob("*.j2")]:
        text = path.read_text()
        assert not re.search(r"\b(safe|safely|unbreakable|fully anonymous|TODO|FIXME|XXX)\b", text), path


def test_the_door_is_sorted_and_opens():
    assert sfumato.__all__ == sorted(sfumato.__all__)
    for name in sfumato.__all__:
        assert getattr(sfumato, name) is not None
    assert callable(sfumato.release)
    assert callable(sfumato.verify)
    with pytest.raises(AttributeError, match="has no attribute 'relase'"):
        sfumato.relase  # noqa: B018


@pytest.mark.parametrize(
    ("room", "listed"),
    [("models", {part.make for part in PARTS.models}), ("metrics", {part.make for part in PARTS.metrics})],
)
def test_the_catalog_lists_everything(room, listed):
    package = importlib.import_module(f"sfumato.{room}")
    found = set()
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"sfumato.{room}.{info.name}")
        for _, thing in inspect.getmembers(module, inspect.isclass):
            if thing.__module__ == module.__name__ and isinstance(getattr(thing, "name", None), str):
                found.add(thing)
    joined = {thing for thing in found if thing.__name__ in ("AllOf", "Model", "ItemModel", "Metric")}
    assert found - joined == listed


def test_every_part_is_explained():
    assert all(part.meaning for part in catalog().metrics.values())
    for part in catalog().models.values():
        assert part.meaning, part
        assert part.limits, part
        assert "Claim:" in (part.make.__doc__ or ""), part
        assert "Source:" in (part.make.__doc__ or ""), part
        assert "Does not protect against:" in (part.make.__doc__ or ""), part
