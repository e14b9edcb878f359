"""Parts of the catalog that are imported when they are asked for, and what comes in then."""

from __future__ import annotations

from sfumato.pipeline.catalog.catalog import catalog


def test_every_algorithm_comes_in() -> None:
    for part in catalog().algorithms.values():
        assert callable(part.found)
        assert part.found is part.found


def test_every_attack_is_listed_by_its_own_name() -> None:
    attacks = catalog().attacks
    assert [part.make(20).name for part in attacks.values()] == list(attacks)
    assert {part.make(20).trials for part in attacks.values()} == {20}


def test_every_method_and_protocol_is_listed_by_its_own_name() -> None:
    assert [part.load().name for part in catalog().methods.values()] == list(catalog().methods)
    assert [part.load().name for part in catalog().protocols.values()] == list(catalog().protocols)
