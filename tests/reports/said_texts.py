"""Every text of pages: in calls of ``translated`` and ``_``, and in the tables that these look into."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from jinja2 import nodes

import sfumato
from sfumato.attacks.finding import Outcome
from sfumato.pipeline.catalog import built_in, catalog, models
from sfumato.reports import joint, table
from sfumato.reports.attacks import THREATS
from sfumato.reports.items import page, places, sequences
from sfumato.reports.pages import ABOUT, Opening, environment
from sfumato.reports.sentences import PROMISES, READINGS, ROLES

SOURCES = Path(sfumato.__file__).parent
ENGLISH_PAGES = {"papers.html.j2", "frontier.html.j2", "dimensions.html.j2"}
"""Pages that no release has."""


def shown_later() -> Iterator[str]:
    """Texts of tables and records: they are looked up when they are shown."""
    yield from (*ABOUT.values(), *ROLES.values(), *READINGS.values(), *PROMISES.values(), *THREATS)
    yield from (str(one) for one in Outcome)
    yield from ("at least", "at most", "below", "lower", "higher", "Release report", "Inside report")
    yield from (name for _, name in (*table.SECTIONS, *page.SECTIONS))
    yield from (*page.KINDS.values(), *page.ACTIONS.values(), *joint.ABOUT.values())
    yield from (*page.TITLES.values(), *page.PROMISES.values(), *page.WORST.values())
    yield from (text for pair in page.MEANING.values() for text in pair)
    yield from (text for part in models.MODELS for text in (part.meaning, part.limits))
    yield from (part.meaning for part in built_in.METRICS)
    yield from (*catalog._OF_GUARDED, *(name for _, name in table.RISKS))
    yield from (*sequences._STATES.values(), *places._TABLE, *places._MAP)
    yield from (head for head, _ in Opening(done="", holds="", possible="", next="").lines)


@cache
def said_texts() -> frozenset[str]:
    """All of them."""
    found = {*shown_later(), *templates()}
    for path in SOURCES.rglob("*.py"):
        found |= set(module_texts(ast.parse(path.read_text(encoding="utf-8"))))
    return frozenset(text.replace("\n", " ") for text in found if any(map(str.isalpha, text)))


def templates() -> Iterator[str]:
    """The texts that templates hand to ``_``."""
    made = environment()
    for name in made.list_templates(extensions=["j2"]):
        if name in ENGLISH_PAGES or made.loader is None:
            continue
        tree = made.parse(made.loader.get_source(made, name)[0])
        for call in tree.find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name == "_":
                yield from _consts(call.args[0])


def _consts(node: nodes.Node) -> Iterator[str]:
    if isinstance(node, nodes.Const):
        yield str(node.value)
    if isinstance(node, nodes.CondExpr):
        yield from _consts(node.expr1)
        if node.expr2 is not None:
            yield from _consts(node.expr2)


def module_texts(tree: ast.Module) -> Iterator[str]:
    """The texts that a module hands to ``translated``, as literals or by a name that the module binds to them."""
    for call in ast.walk(tree):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "translated"
            and call.args
        ):
            yield from _texts(call.args[0], tree)


def _texts(node: ast.expr, tree: ast.Module) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*_texts(node.body, tree), *_texts(node.orelse, tree))
    elif isinstance(node, ast.Name):
        yield from (text for value in _bound(node.id, tree) for text in (*_strings(value), *_looked_up(value, tree)))
    else:
        yield from _looked_up(node, tree)


def _looked_up(node: ast.expr, tree: ast.Module) -> Iterator[str]:
    """What a table of the module holds, where one is looked into: ``TABLE[key]`` or ``TABLE.get(key)``."""
    found = node.func if isinstance(node, ast.Call) else node
    if isinstance(found, ast.Subscript | ast.Attribute) and isinstance(found.value, ast.Name):
        yield from (text for value in _bound(found.value.id, tree) for text in _strings(value))


def _bound(name: str, tree: ast.Module) -> Iterator[ast.expr]:
    """Whatever a name is bound to anywhere in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == name for to in node.targets):
            yield node.value
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            yield from () if node.value is None else (node.value,)
        if isinstance(node, ast.comprehension | ast.For) and _holds(node.target, name):
            yield node.iter
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            yield from _paired(node.targets[0], node.value, name)


def _paired(target: ast.Tuple, value: ast.expr, name: str) -> Iterator[ast.expr]:
    if isinstance(value, ast.Tuple):
        pairs = zip(target.elts, value.elts, strict=False)
        yield from (one for to, one in pairs if isinstance(to, ast.Name) and to.id == name)


def _holds(target: ast.expr, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(target))


def _strings(node: ast.expr) -> Iterable[str]:
    """The texts of an expression; of a table its values."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.Dict):
        return [text for value in node.values for text in _strings(value)]
    if isinstance(node, ast.Tuple | ast.List):
        return [text for value in node.elts for text in _strings(value)]
    if isinstance(node, ast.IfExp):
        return [*_strings(node.body), *_strings(node.orelse)]
    return []
