"""The host: plays sessions inside the loader's own Python (standard library only).

The runner starts the host with the loader's interpreter. The host reads requests and writes
replies, one JSON object on each line, over descriptors that nothing else uses. It imports the
adapter once and forks a process group for each session; it plays a loader that must not be forked
in its own process. The session's journal (session/journal.py) records its events; the reply only
says how the session ended.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import importlib.metadata
import json
import multiprocessing
import os
import platform
import select
import sys
import traceback
from collections.abc import Callable
from typing import Any

from midepoch_conformance.case.adapter import STAND_IN, Execution, Offer
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.host import loading
from midepoch_conformance.host.function_adapter import BuildError, FunctionAdapter
from midepoch_conformance.host.job import Job
from midepoch_conformance.host.offering import offered
from midepoch_conformance.host.session.play import Play
from midepoch_conformance.host.session.streams import seed_streams
from midepoch_conformance.host.system import processes, stacks, surroundings
from midepoch_conformance.host.system.deadline import Deadline

__all__ = ["main"]

KNOWN = ("torch", "torchdata", "numpy", "grain", "jax", "midepoch")
"""The distributions whose versions a report names if they are loaded."""

_POLL = 0.002


class Host:
    """Answers one runner's requests until its pipe closes."""

    def __init__(self, commands: int, replies: int) -> None:
        self.commands, self.replies = commands, replies
        self.spec = ""
        self.loaded: loading.Loaded | None = None
        self.offer = Offer()
        self.warm = False
        self.shown: list[str] = []

    def serve(self) -> None:
        """Answer requests, one after the other."""
        with open(self.commands, "rb", closefd=False) as commands:
            for line in iter(commands.readline, b""):
                request = json.loads(line)
                answer = self._answer(request)
                answer["id"] = request["id"]
                data = f"{json.dumps(answer)}\n".encode()
                while data:
                    data = data[os.write(self.replies, data) :]
                if request["op"] == "quit":
                    return

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        operations: dict[str, Callable[..., dict[str, Any]]] = {
            "hello": self._hello,
            "declines": self._declines,
            "prepare": self._prepare,
            "play": self._play,
            "quit": dict,
        }
        try:
            return operations[request["op"]](**request.get("with", {}))
        except loading.SpecError as error:
            return {"error": str(error), "kind": "adapter", "hint": error.hint}
        except BuildError as error:
            kind = "limit" if error.late else "adapter"
            return {"error": str(error), "kind": kind, "hint": error.trace}
        except ModuleNotFoundError as error:
            return {
                "error": f"{type(error).__name__}: {error}",
                "kind": "environment",
                "hint": self._missing(error.name or ""),
                "trace": traceback.format_exc()[-4000:],
            }
        except Exception as error:
            return {
                "error": f"{type(error).__name__}: {error}",
                # An error of a session is a fault in its trace; other errors of a play are ours.
                "kind": "protocol" if request["op"] == "play" else "adapter",
                "hint": traceback.format_exc()[-4000:],
            }

    def _missing(self, module: str) -> str:
        """Return what to do about a module that is not found."""
        install = f"install {module!r} for {sys.executable}, or pass another --python"
        if self.spec in loading.BUILT_IN or self.spec in loading.ELSEWHERE:
            return install
        # Nothing tells a misspelt name from a module that is missing.
        return (
            f"{module!r} may be misspelt. If it is a module of your own, put its folder on the "
            f"path: PYTHONPATH=FOLDER. If it is a package, {install}."
        )

    def _hello(self, spec: str, limit: float, folder: str) -> dict[str, Any]:
        self.spec = spec
        os.makedirs(folder, exist_ok=True)
        stacks.write_when_asked(folder)
        self.loaded = loading.load(spec)
        if isinstance(self.loaded.adapter, FunctionAdapter):
            self.loaded.adapter.limit = limit
        self.offer = offered(self.loaded.adapter.offer())
        for name in ("numpy", "torch"):
            if name in self.offer.draws:
                importlib.import_module(name)
        # For the fork servers that sessions start.
        multiprocessing.set_forkserver_preload([self.loaded.module])
        if self.offer.fork_safe:
            # Each session seeds the streams; what a first draw sets up is set up for all of them.
            seed_streams(0)
        processes.prepare_for_forks()
        self.shown = surroundings.folders()
        module = self.loaded.module
        return {
            "alone": self.offer.fork_safe and surroundings.can_be_alone(),
            "offer": dataclasses.asdict(self.offer),
            "name": self.loaded.title if self.loaded.function else self.offer.name or module,
            "version": _version(self.offer.package),
            "python": platform.python_version(),
            "platform": platform.platform(),
            "packages": _packages(self.offer.package),
            "file": self.loaded.file,
            "digest": self.loaded.digest,
            "module": self.loaded.module,
            "attribute": self.loaded.name,
            "function": self.loaded.function,
        }

    def _declines(self, workload: dict[str, Any], execution: dict[str, Any]) -> dict[str, Any]:
        w = Workload(**{**workload, "draws": tuple(workload["draws"])})
        reason = self._known().adapter.declines(w, Execution(**execution))
        return {"reason": None if reason is None else str(reason)}

    def _prepare(
        self, workload: dict[str, Any], root: str, limit: float, most: float
    ) -> dict[str, Any]:
        w = Workload(**{**workload, "draws": tuple(workload["draws"])})
        os.makedirs(root, exist_ok=True)
        notes = f"{root}.notes"
        ended = self._act(lambda: self._known().adapter.prepare(w, root), limit, notes, most)
        if "error" in ended:
            return {**ended, "error": f"prepare() failed: {ended['error']}", "kind": "adapter"}
        if ended["outcome"] != "done":
            where = ended.get("stacks", "")
            line = stacks.innermost(where)
            words = f"prepare() did not finish ({ended['outcome']}{f' at {line}' if line else ''})"
            hint = where if line else "see prepare() of the adapter"
            return {"error": words, "kind": "adapter", "hint": hint}
        return ended

    def _play(
        self, job: dict[str, Any], limit: float, most: float = Deadline.MOST
    ) -> dict[str, Any]:
        loaded, todo = self._known(), Job.from_json(job)
        # Only a first session needs these names: each copy writes to the memory of all of them,
        # which a forked process then has to copy.
        known = set() if self.warm else set(sys.modules)

        def play() -> bool:
            if self.offer.fork_safe:
                surroundings.own_temporary_folder(todo.temporary)
                if todo.memory:
                    surroundings.be_alone(
                        todo.memory,
                        [*self.shown, *surroundings.needed(todo.folder, todo.temporary)],
                    )
            # The playing process makes its journal, which knows its writer by the process.
            whole = Play(loaded.adapter, self.offer, todo, loaded.own).run(self.offer.fork_safe)
            if self.offer.fork_safe and not self.warm:
                _note_imports(known, todo.folder)
            return whole

        answer = self._act(play, limit, todo.folder, most)
        if not self.warm:
            self.warm = True
            _import_noted(todo.folder)
        return answer

    def _known(self) -> loading.Loaded:
        if self.loaded is None:
            raise RuntimeError("no loader has been named yet: hello comes first")
        return self.loaded

    def _act(
        self, act: Callable[[], object], limit: float, folder: str, most: float = Deadline.MOST
    ) -> dict[str, Any]:
        """Act in a process of its own, or right here if the loader must not be forked."""
        os.makedirs(folder, exist_ok=True)
        if self.offer.fork_safe:
            return self._apart(act, limit, folder, most)
        return self._here(act, folder)

    def _here(self, act: Callable[[], object], folder: str) -> dict[str, Any]:
        """Act in this process; the runner watches the time and replaces a host that is unfit."""
        stacks.write_when_asked(folder)
        spared = set(processes.living(os.getpid()) or ())
        whole = act()
        left = set(processes.living(os.getpid()) or ()) - spared - processes.keepers()
        return {"outcome": "done", "fit": whole is not False and not left}

    def _apart(
        self, act: Callable[[], object], limit: float, folder: str, most: float
    ) -> dict[str, Any]:
        """Act in a process group, which is killed when the act ends or its time is up."""
        spared = set(processes.living(os.getpid()) or ())
        pid = os.fork()
        if pid == 0:
            self._become_player(act, folder)
        deadline = Deadline(pid, limit, folder, most)
        outcome, status = self._await(pid, deadline)
        where = ""
        if outcome == "limit":
            where = stacks.ask([pid, *(processes.living(pid) or ())], folder)
        below = processes.living(os.getpid()) or ()
        processes.end_but_trackers([one for one in below if one not in spared])
        processes.end_group(pid)
        if status is None:
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        processes.end_others(spared)
        answer: dict[str, Any] = {
            "outcome": outcome,
            "status": status,
            "fit": True,
            "did": deadline.did,
            "stacks": where,
        }
        complaint = os.path.join(folder, "failed")
        if os.path.exists(complaint):
            with open(complaint, encoding="utf-8") as text:
                whole = text.read()
            answer.update(error=whole.strip().rpartition("\n")[2], kind="protocol", hint=whole)
        return answer

    def _become_player(self, act: Callable[[], object], folder: str) -> None:
        """Act in the forked process, and exit."""
        status = 1
        try:
            os.setsid()
            processes.die_with_parent()
            processes.adopt_orphans()
            os.close(self.commands)
            os.close(self.replies)
            output = os.path.join(folder, "output")
            fd = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(fd, 1)
            os.dup2(fd, 2)
            os.close(fd)
            stacks.write_when_asked(folder)
            act()
            status = 0
        except BaseException:
            with open(os.path.join(folder, "failed"), "w", encoding="utf-8") as failed:
                failed.write(traceback.format_exc()[-4000:])
        finally:
            with contextlib.suppress(BaseException):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)

    def _await(self, pid: int, deadline: Deadline) -> tuple[str, int | None]:
        """Wait for a player; return how it ended, and its status if it has been reaped."""
        with _exits(pid) as exits:
            while True:
                left = deadline.left()
                if left <= 0:
                    return "limit", None
                watch = select.poll()
                watch.register(self.commands, 0)
                if exits is not None:
                    watch.register(exits, select.POLLIN)
                ready = dict(watch.poll(1000 * left if exits is not None else 1000 * _POLL))
                if self.commands in ready:
                    # The runner is gone, so nobody needs this play.
                    processes.end_group(pid)
                    processes.end_others(set())
                    os._exit(0)
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    status = os.waitstatus_to_exitcode(status)
                    return ("done" if status == 0 else "died"), status


@contextlib.contextmanager
def _exits(pid: int) -> Any:
    """Give a descriptor that is readable once ``pid`` has exited; None if the system has none."""
    try:
        fd = os.pidfd_open(pid)
    except (AttributeError, OSError):
        yield None
        return
    try:
        yield fd
    finally:
        os.close(fd)


def _note_imports(known: set[str], folder: str) -> None:
    """Write the names of the modules that a first session imported, for the host to import once.

    Only modules of packages that the host already has: a new package might change behaviour.
    """
    packages = {name.partition(".")[0] for name in known} | set(sys.builtin_module_names)
    found = [name for name in list(sys.modules) if name not in known]
    with open(os.path.join(folder, "imported"), "w", encoding="utf-8") as out:
        json.dump([name for name in found if name.partition(".")[0] in packages], out)


def _import_noted(folder: str) -> None:
    with contextlib.suppress(FileNotFoundError, ValueError):
        with open(os.path.join(folder, "imported"), encoding="utf-8") as names:
            for name in json.load(names):
                with contextlib.suppress(Exception):
                    importlib.import_module(name)
        processes.prepare_for_forks()


def _version(package: str) -> str:
    with contextlib.suppress(importlib.metadata.PackageNotFoundError, ValueError):
        return importlib.metadata.version(package)
    return ""


def _packages(package: str) -> dict[str, str]:
    names = {package, *(name for name in KNOWN if name in sys.modules)} - {""}
    loaded = [(name, vars(module)) for name, module in sys.modules.items() if "." not in name]
    stood = {name: STAND_IN for name, values in loaded if values.get("STAND_IN") is True}
    return {name: _version(name) for name in sorted(names) if _version(name)} | stood


def main() -> None:
    """Serve on the descriptors 0 and 1, and leave those to the loader."""
    commands, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    processes.adopt_orphans()
    Host(commands, replies).serve()
    # Threads that a loader left must not keep the host alive.
    os._exit(0)
