"""Serving the studio on the loopback address."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

from sfumato.core.errors import DataError
from sfumato.core.extras import extra, require
from sfumato.studio.projects import MOST_BYTES
from sfumato.studio.requests import ENTER, Keys


def serve(
    folder: Path, *, port: int, say: Callable[[str], None], open_browser: bool, most_bytes: int = MOST_BYTES
) -> None:
    """Serve a folder until somebody stops the program; the link is told first."""
    for module in ("starlette", "uvicorn", "tomlkit"):
        require(module, "the studio")
    from sfumato.studio.application import application

    if not folder.is_dir():
        raise DataError(f"{folder} is no folder; name one that holds your tables")
    uvicorn = extra("uvicorn", "the studio")
    with _listening(port) as place:
        number, keys = place.getsockname()[1], Keys()
        link = f"http://127.0.0.1:{number}{ENTER}?token={keys.token}"
        say(link)
        if open_browser:
            threading.Timer(0.5, webbrowser.open, [link]).start()
        app = application(folder, keys=keys, port=number, most_bytes=most_bytes)
        config = uvicorn.Config(app, log_level="error", access_log=False, server_header=False, date_header=False)
        uvicorn.Server(config).run(sockets=[place])


def _listening(port: int) -> socket.socket:
    """A socket that only programs on this machine reach."""
    place = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        place.bind(("127.0.0.1", port))
        place.listen(128)
    except OSError as error:
        place.close()
        raise DataError(f"--port {port} cannot be used: {error.strerror}; name another, or leave it out") from error
    return place


def begin_demo(folder: Path) -> Path:
    """A folder with a project on the tour's patients; the one that is there already is taken as it is."""
    from sfumato.studio.opening_views import begin_example
    from sfumato.studio.projects import Projects, ServedFolder

    place = folder / "sfumato-demo"
    place.mkdir(parents=True, exist_ok=True)
    projects = Projects(served=ServedFolder(root=place.resolve()))
    if not projects.all():
        begin_example(projects, "patients")
    return place
