"""``sfumato studio``: the whole way in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.show import say


def studio(
    folder: Annotated[
        Path, typer.Argument(help="The folder that holds your tables; projects are kept in it.")
    ] = Path(),
    port: Annotated[int, typer.Option("--port", help="The port on this machine; a free one by default.")] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Open no browser.")] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Begin with the tour's patients, in the folder sfumato-demo.")
    ] = False,
    most_upload: Annotated[int, typer.Option("--most-upload", help="The largest upload, in bytes.")] = 4 * 1024**3,
) -> None:
    """Go from a table to a verified release in a browser, on this machine alone."""
    from sfumato.studio.serving import begin_demo, serve

    place = begin_demo(folder) if demo else folder
    serve(place, port=port, say=say, open_browser=not no_open, most_bytes=most_upload)
