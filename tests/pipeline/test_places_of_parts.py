"""Parts of the catalog that are named by their place, and what stands there."""

from __future__ import annotations

from sfumato.pipeline.catalog.built_in import ALGORITHMS, ATTACKS


def test_every_algorithm_stands_at_its_place() -> None:
    for part in ALGORITHMS:
        assert isinstance(part.run, str)
        assert callable(part.found)
        assert part.found is part.found


def test_every_attack_is_listed_by_its_own_name() -> None:
    assert [part.make(20).name for part in ATTACKS] == [part.name for part in ATTACKS]
    assert {part.make(20).trials for part in ATTACKS} == {20}
