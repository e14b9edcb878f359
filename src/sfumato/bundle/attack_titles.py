"""How an attack is called in a manifest: by its name, and by what it was made for."""

from __future__ import annotations


def is_named(title: str, name: str) -> bool:
    """Whether a finding is one of the attack of this name.

    >>> is_named("definetti of salary", "definetti"), is_named("lkc-adversary, 2 known, worst", "lkc")
    (True, False)
    """
    return title == name or title.startswith((f"{name} ", f"{name},"))
