"""Builds the site once for all tests and all of their processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]

# mkdocs in a process that cannot reach any host: a build that fetches something fails.
OFFLINE = """
import socket, sys

def refuse(*args, **kwargs):
    raise OSError(f"the build asked for the network: {args[1:]}")

socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = socket.create_connection = refuse
from mkdocs.__main__ import cli
cli(sys.argv[1:])
"""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Return the folder of the site, built strictly and without network."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    folder, log = shared / "site", shared / "site.log"
    with FileLock(shared / "site.lock"):
        if not log.exists():
            arguments = ["build", "--strict", "--clean", "--site-dir", str(folder)]
            done = subprocess.run(
                [sys.executable, "-c", OFFLINE, *arguments],
                cwd=ROOT,
                capture_output=True,
                text=True,
                timeout=450,
                check=False,
            )
            log.write_text(f"{done.returncode}\n{done.stdout}{done.stderr}", encoding="utf-8")
    status, _, words = log.read_text(encoding="utf-8").partition("\n")
    if status != "0":
        pytest.fail(f"mkdocs build --strict exited with {status}:\n{words[-6000:]}")
    return folder
