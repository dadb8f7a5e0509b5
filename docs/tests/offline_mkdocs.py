"""mkdocs in a process that cannot reach any host: a build that fetches something fails."""

from __future__ import annotations

import socket
from typing import Any, NoReturn
from unittest.mock import patch

from mkdocs.__main__ import cli


def refuse(*arguments: Any, **named: Any) -> NoReturn:
    """Refuse a connection.

    Raises:
        OSError: always.
    """
    raise OSError(f"the build asked for the network: {arguments[1:]}")


if __name__ == "__main__":
    patch.multiple(socket.socket, connect=refuse, connect_ex=refuse).start()
    patch.multiple(socket, getaddrinfo=refuse, create_connection=refuse).start()
    cli()
