"""mkdocs in a process that cannot reach any host: a build that fetches something fails."""

from __future__ import annotations

import socket
from typing import Any, NoReturn

from mkdocs.__main__ import cli


def refuse(*arguments: Any, **named: Any) -> NoReturn:
    """Refuse a connection.

    Raises:
        OSError: always.
    """
    raise OSError(f"the build asked for the network: {arguments[1:]}")


if __name__ == "__main__":
    socket.socket.connect = socket.socket.connect_ex = refuse  # type: ignore[method-assign]
    socket.getaddrinfo = socket.create_connection = refuse  # type: ignore[assignment]
    cli()
