"""Reference pages written from the code, so that they cannot say anything else.

``python -m sfumato.testing.docs docs/reference`` writes them; a test compares what is written with what the code gives.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import typer

from sfumato.cli.main import app
from sfumato.core import errors
from sfumato.pipeline.catalog.catalog import algorithm_rows, attack_rows, metric_rows, model_rows

_WIDTH = 100
_NOTE = "<!-- Written by `python -m sfumato.testing.docs docs/reference`. Edit the code, not this page. -->"
_EXIT_CODES: Mapping[int, str] = {
    errors.EXIT_DONE: "Done. Every claim holds.",
    errors.EXIT_REFUTED: "A claim does not hold, or a bundle is not what its manifest says.",
    errors.EXIT_BAD_INPUT: "The plan, the data, the bundle or the command line cannot be used as it is.",
    errors.EXIT_INFEASIBLE: "No release meets the requirement. The message says what would be feasible.",
    errors.EXIT_INTERRUPTED: "Interrupted. Nothing was left half-written.",
}


def commands_page() -> str:
    """Every verb's help, and the exit codes."""
    group = typer.main.get_command(app)
    root = typer.Context(group, info_name="sfumato", terminal_width=_WIDTH)
    parts = [
        "# Commands",
        _NOTE,
        _block(group.get_help(root)),
        "Every verb takes `--json`. It then prints one JSON object on standard output and nothing else there.",
    ]
    for name, verb in getattr(group, "commands", {}).items():
        context = typer.Context(verb, info_name=name, parent=root, terminal_width=_WIDTH)
        parts += [f"## sfumato {name}", _block(verb.get_help(context))]
    parts += ["## Exit codes", _table(("code", "meaning"), ((f"`{c}`", meaning) for c, meaning in _EXIT_CODES.items()))]
    return _page(parts)


def catalog_page() -> str:
    """Every model, metric and algorithm that a plan can name."""
    models = ((f"`{name}`", holds, f"`{plan}`") for name, holds, plan in model_rows())
    metrics = ((f"`{name}`", *rest) for name, *rest in metric_rows())
    algorithms = ((f"`{name}`", does) for name, does in algorithm_rows())
    attacks = ((f"`{name}`", *rest) for name, *rest in attack_rows())
    return _page(
        [
            "# Catalog",
            _NOTE,
            "What a plan can name. `sfumato models`, `metrics`, `algorithms` and `attacks` print the same.",
            "## Models",
            "Asked for in `[privacy]`. Several at once must all hold. Each has a page in [theory](../index.md#theory).",
            _table(("model", "what holds", "in the plan"), models),
            "## Metrics",
            "Asked for as `metric` in `[utility]`. Formulas are in [metrics](../theory/metrics.md).",
            _table(("metric", "what it measures", "better", "range"), metrics),
            "## Algorithms",
            "Asked for as `name` in `[algorithm]`. The name `auto` chooses by size, models and "
            "types; its reason stands in the manifest.",
            _table(("algorithm", "what it does"), algorithms),
            "## Attacks",
            "Asked for as `attacks` in `[attack]`, or by `sfumato attack --attacks`. Each is explained in "
            "[attacks](../attacks/index.md).",
            _table(("attack", "threat", "the adversary", "in every release"), attacks),
        ]
    )


def errors_page() -> str:
    """Every refusal, as a tree and with its exit code."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    rows = ((f"`{kind.__name__}`", _first(kind), f"`{getattr(kind, 'exit_code', '')}`") for kind in kinds)
    return _page(
        [
            "# Errors",
            _NOTE,
            "Every refusal is one message. It says what, where, what was found and what would work. On the command "
            "line it goes to standard error, or with `--json` to standard output as `error` and `exit_code`.",
            _block((errors.__doc__ or "").strip()),
            _table(("error", "when", "exit code"), rows),
            "What to do about the common ones stands in [troubleshooting](../guide/troubleshooting.md).",
        ]
    )


PAGES: Mapping[str, Callable[[], str]] = {
    "commands.md": commands_page,
    "catalog.md": catalog_page,
    "errors.md": errors_page,
}
"""File names and what writes them."""


def write_pages(folder: Path) -> None:
    """Write every page into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"


def _block(text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return f"```text\n{lines}\n```"


def _table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""A Markdown table.

    >>> print(_table(("code", "meaning"), [(0, "a | b")]))
    | code | meaning |
    | --- | --- |
    | 0 | a \| b |
    """
    lines = [list(headers), ["---"] * len(headers), *([str(c).replace("|", "\\|") for c in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _first(thing: object) -> str:
    return (thing.__doc__ or "").strip().splitlines()[0].replace("``", "`")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/reference"))
