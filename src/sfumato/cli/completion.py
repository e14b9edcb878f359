"""``sfumato completion``: what a shell runs so that the Tab key completes commands and options."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

PARTS = {
    "complete_func": "_sfumato_completion",
    "complete_var": "_SFUMATO_COMPLETE",
    "prog_name": "sfumato",
}
"""What the scripts are filled in with."""


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="The shell: bash, zsh or fish.")],
) -> None:
    """Print a script that completes commands and options: `source <(sfumato completion bash)`."""
    from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete
    from typer.main import get_command

    from sfumato.cli.main import app

    made: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
    script = made[shell](get_command(app), {}, "sfumato", PARTS["complete_var"]).source_template % PARTS
    typer.echo(script.replace(f"={shell}_complete", f"=complete_{shell}").strip())
