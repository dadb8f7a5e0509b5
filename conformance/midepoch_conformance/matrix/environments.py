"""The environments of the matrix's loaders: one virtual environment for each lock."""

from __future__ import annotations

import shutil
import subprocess
import venv
from importlib.util import find_spec
from pathlib import Path

from midepoch_conformance.errors import CheckError
from midepoch_conformance.report.lines import suite_version

__all__ = ["LockError", "interpreter"]

_SHOWN = 6
"""The last lines of an installer that are shown."""


class LockError(CheckError):
    """A lock cannot be read, or its packages cannot be installed."""


def interpreter(lock: Path, folder: Path) -> Path:
    """Return the interpreter that has the packages of a lock, and this project's own.

    The environment is made in ``folder`` the first time, and anew if the lock has changed.

    Args:
        lock: a file of requirements in which every package is pinned.
        folder: the folder that holds the environments.

    Raises:
        LockError: with the last words of the installer.
    """
    try:
        packages = lock.read_text(encoding="utf-8")
    except OSError as error:
        raise LockError(
            f"the lock of the environment cannot be read: {error}",
            "name the folder of the locks: --locks conformance/environments",
        ) from error
    root = (folder / lock.stem).absolute()
    python, installed = root / "bin" / "python", root / "installed.txt"
    wanted = f"{packages}# midepoch {suite_version()}\n"
    if installed.is_file() and installed.read_text(encoding="utf-8") == wanted:
        return python
    shutil.rmtree(root, ignore_errors=True)
    try:
        venv.create(root, with_pip=True, symlinks=True)
        if any(line.strip() and not line.startswith("#") for line in packages.splitlines()):
            _install(python, lock)
        _add_the_project(python)
    except (OSError, subprocess.CalledProcessError) as error:
        shutil.rmtree(root, ignore_errors=True)
        said = getattr(error, "stdout", None) or str(error)
        raise LockError(
            f"the environment {lock.stem} cannot be made", "\n".join(said.splitlines()[-_SHOWN:])
        ) from error
    installed.write_text(wanted, encoding="utf-8")
    return python


def _install(python: Path, lock: Path) -> None:
    """Install exactly what the lock names: a resolver would add other versions."""
    command = [str(python), "-m", "pip", "install", "--no-deps", "--requirement", str(lock)]
    subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def _add_the_project(python: Path) -> None:
    """Let the environment import the reference loader, which two of the rows use."""
    found = find_spec("midepoch")
    if found is None or found.origin is None:
        return
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    answer = subprocess.run([python, "-c", asked], check=True, stdout=subprocess.PIPE, text=True)
    packages, source = Path(answer.stdout.strip()), Path(found.origin).absolute().parents[1]
    (packages / "midepoch.pth").write_text(f"{source}\n", encoding="utf-8")
    # Reports name the version that the environment's metadata tell.
    about = packages / f"midepoch-{suite_version()}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: midepoch\nVersion: {suite_version()}\n", encoding="utf-8"
    )
