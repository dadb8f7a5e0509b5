"""Builds the site once for all tests and all of their processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]

OFFLINE = Path(__file__).with_name("offline_mkdocs.py")

BUILT = os.environ.get("MIDEPOCH_SITE")
"""The folder of a site that was built strictly before; without one, the tests build it."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Return the folder of the site, built strictly and without network."""
    if BUILT:
        if not Path(BUILT, "index.html").is_file():
            pytest.fail(f"MIDEPOCH_SITE={BUILT} holds no site: run `make docs`, or unset it")
        return Path(BUILT)
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    folder, log = shared / "site", shared / "site.log"
    with FileLock(shared / "site.lock"):
        if not log.exists():
            arguments = ["build", "--strict", "--clean", "--site-dir", str(folder)]
            done = subprocess.run(
                [sys.executable, str(OFFLINE), *arguments],
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
