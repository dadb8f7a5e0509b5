"""Hosts that are forked from a process that has imported numpy, or torch and midepoch, already.

A host's interpreter takes 0.2 s of processor time to start, and 2 s where its loader needs torch.
Tests that play many loaders start one warm process for each hash seed. It forks a fresh host for
each loader: no loader leaves anything behind for the next one.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
import types
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:  # the warm processes run this file, and their hosts shall have little imported
    import pytest

COMMAND = [sys.executable, "-m", "midepoch_conformance.host"]
HASH_SEEDS = ("1", "2")
PLAIN = ("numpy",)
TORCH = ("numpy", "torch", "midepoch", "midepoch_conformance.adapters.reference")


def modules_of(mutant: Path) -> tuple[str, ...]:
    """Return the modules that a mutant's host should have: few need torch."""
    return TORCH if "from format_base import" in mutant.read_text(encoding="utf-8") else PLAIN


class WarmProcess:
    """A process that has imported ``modules`` and forks hosts."""

    def __init__(self, modules: Sequence[str], hash_seed: str) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair()
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "PYTHONHASHSEED": hash_seed,
        }
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno()), *modules],
            pass_fds=[theirs.fileno()],
            env=environment,
        )
        theirs.close()

    def fork(self, environment: dict[str, str], descriptors: list[int]) -> int:
        """Fork a host on these three descriptors and return its process id."""
        data = json.dumps(environment).encode()
        with self._lock:
            socket.send_fds(self._socket, [len(data).to_bytes(4, "big")], descriptors)
            self._socket.sendall(data)
            return int.from_bytes(_exactly(self._socket, 4), "big")

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    def close(self) -> None:
        """End the process."""
        self._socket.close()
        self._process.kill()
        self._process.wait()


class ForkedHost:
    """A forked host, with as much of ``subprocess.Popen`` as the suite uses of a host."""

    def __init__(self, warm: WarmProcess, errors: IO[bytes], environment: dict[str, str]) -> None:
        commands, stdin = os.pipe()
        stdout, replies = os.pipe()
        try:
            self.pid = warm.fork(environment, [commands, replies, errors.fileno()])
        finally:
            os.close(commands)
            os.close(replies)
        self.stdin, self.stdout = os.fdopen(stdin, "wb", 0), os.fdopen(stdout, "rb", 0)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while the host runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code once the host has exited."""
        if self.poll() is None:
            watched = os.pidfd_open(self.pid)
            try:
                poll = select.poll()
                poll.register(watched, select.POLLIN)
                ready = poll.poll(None if timeout is None else 1000 * timeout)
            finally:
                os.close(watched)
            if not ready:
                raise subprocess.TimeoutExpired(COMMAND, timeout or 0)
            self.poll()
        assert self.returncode is not None
        return self.returncode


class WarmHosts:
    """Starts hosts from warm processes, in place of ``subprocess.Popen``."""

    def __init__(self) -> None:
        self._warm = {
            (modules, seed): WarmProcess(modules, seed)
            for modules in (PLAIN, TORCH)
            for seed in HASH_SEEDS
        }
        self.modules = PLAIN
        """The modules that the next hosts have already."""
        self.pids = {warm.pid for warm in self._warm.values()}
        """The processes that hosts are forked from."""

    def lend(self, patch: pytest.MonkeyPatch, modules: tuple[str, ...] = PLAIN) -> None:
        """Fork the hosts of runners until ``patch`` is undone; they have ``modules`` imported."""
        from midepoch_conformance.playing import host_process

        self.modules = modules
        forking = types.SimpleNamespace(**{**vars(subprocess), "Popen": self.start})
        patch.setattr(host_process, "subprocess", forking)

    def start(self, command: list[str], **options: Any) -> Any:
        """Fork a host where ``command`` starts one; run any other command."""
        if command != COMMAND:
            return subprocess.Popen(command, **options)
        environment = options["env"]
        warm = self._warm[self.modules, environment["PYTHONHASHSEED"]]
        return ForkedHost(warm, options["stderr"], environment)

    def close(self) -> None:
        """End the warm processes."""
        for warm in self._warm.values():
            warm.close()


def _exactly(from_: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = from_.recv(size - len(data))
        if not piece:
            raise EOFError("the other side is gone")
        data += piece
    return data


def _serve(link: socket.socket) -> None:
    """Fork a host for each request, until the other side is gone."""
    while True:
        size, descriptors, _, _ = socket.recv_fds(link, 4, 3)
        if not size:
            return
        environment = json.loads(_exactly(link, int.from_bytes(size, "big")))
        told, tell = os.pipe()
        between = os.fork()
        if between == 0:
            host = os.fork()
            if host == 0:
                os.close(told)
                os.close(tell)
                _become_host(link, environment, descriptors)
            os.write(tell, host.to_bytes(4, "big"))
            os._exit(0)
        # The test's process adopts the host when the process between them has exited.
        os.waitpid(between, 0)
        link.sendall(os.read(told, 4))
        for descriptor in (told, tell, *descriptors):
            os.close(descriptor)


def _become_host(link: socket.socket, environment: dict[str, str], descriptors: list[int]) -> None:
    from midepoch_conformance.host import host

    link.close()
    os.setsid()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(environment)
    host.main()


def main() -> None:
    """Import modules and serve."""
    number, *modules = sys.argv[1:]
    # ``python -m`` puts the current folder here, a script its own.
    sys.path[0] = os.getcwd()
    for name in ("midepoch_conformance.host.host", *modules):
        importlib.import_module(name)
    _serve(socket.socket(fileno=int(number)))


if __name__ == "__main__":
    main()
