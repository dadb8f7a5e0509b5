"""The player of a failure's script; the text below the mark is the same in every script.

A script defines before it: ``SESSIONS`` (for each session the seed of the random streams and that
of hashes, which is None if any will do, the differences in its workload and execution, and its
steps), ``RARE`` (the steps of few cases), ``LOOKS`` (the looks after each step), ``CODEC``,
``CANONICAL``, ``PREPARE`` (None if there is nothing to prepare), ``ERRORS`` (the errors that belong
to the failure; None: any), ``EMPTY`` (whether the uninterrupted run may deliver nothing), ``LIMIT``
(the seconds of a session), ``encode``, ``decode``, ``seed_streams``, ``open_loader`` and
``compare``.
"""

# A script imports nothing of the suite, and its lines are not typed.
# ruff: noqa: D102, F821
# mypy: ignore-errors

import contextlib
import ctypes
import faulthandler
import itertools
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import traceback

# The player, the same in every script: each session is played in a process of its own.


class ScriptPlayer:
    """Takes the steps of a session."""

    def __init__(self, root, changes):
        self.root, self.changes, self.kept, self.held = root, changes, {}, []
        self.session = self.epoch = None

    def take(self, step):
        """Take a step, and return what it shows: batches, an epoch's end, an error."""
        seen = {"do": step, "batches": []}
        try:
            self.act(seen, *step.rstrip("?").split())
        except BaseException as error:
            names = [kind.__name__ for kind in type(error).__mro__]
            trace = traceback.format_exc()
            seen |= {"error": f"{names[0]}: {error}", "bases": names, "trace": trace}
        return seen | {name: look(self, step) for name, look in LOOKS.items()}

    def act(self, seen, do, name="", *more, codec=""):
        if more and more[-1].startswith("codec="):
            self.act(seen, do, name, *more[:-1], codec=more[-1][6:])
        elif do in ("take", "drain"):
            self.epoch = iter(self.session.epoch()) if self.epoch is None else self.epoch
            for _ in range(int(name)) if do == "take" else itertools.count():
                try:
                    self.held.append(next(self.epoch))
                except StopIteration:
                    if do == "drain" and name:  # it is asked for more after its end
                        next(self.epoch, None)
                    self.epoch, seen["ended"] = None, True
                    break
                seen["batches"].append(rows(self.held[-1]))
        elif do == "break":
            self.epoch = None
        elif do == "save":
            self.kept[name] = self.session.state()
            self.write(name, codec or CODEC)
        elif do == "load":
            self.kept[name] = self.read(name)
            self.session.load(self.kept[name])
        elif do == "close":
            session, self.session, self.epoch = self.session, None, None
            session.close()
        elif do == "open":
            self.session = open_loader(self.root, **self.changes)
        elif do == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            RARE[do](self, name, *more, codec=codec or CODEC)

    def write(self, name, codec):
        self.encoded = encode(codec, self.kept[name], CANONICAL)
        pathlib.Path(f"state {name}").write_bytes(f"{codec}\n".encode() + self.encoded)

    def read(self, name):
        codec, _, data = pathlib.Path(f"state {name}").read_bytes().partition(b"\n")
        return decode(codec.decode(), data, CANONICAL)


def rows(batch):
    """Return a batch's samples: the number that a row holds, or all that it holds."""
    found = [row.tolist() if hasattr(row, "tolist") else [*row] for row in batch]
    found = [[value(v) for v in row] for row in found]
    return [row[0] if len(set(row)) == 1 and len(row) != 2 else row for row in found]


def value(v):
    """Return a row's value as JSON has it; a text is a user's batch in words."""
    return v if isinstance(v, str) else int(v) if hasattr(v, "__index__") else float(v)


MOVES = ("break", "load", "load_cut", "load_document", "load_merged", "close", "open")


def epochs(steps):
    """Return the batches of each epoch; an empty one right after a load counts for none."""
    found, live = [], False
    for seen in steps:
        do = seen["do"].partition(" ")[0]
        live = live and do not in MOVES
        if do.startswith(("take", "drain")) and not live:
            found, live = [*found, []], True
        wrong = [seen["error"]] if "error" in seen and "?" not in seen["do"] else []
        if seen["batches"] or wrong:
            found[-1:] = [[*(found[-1] if found else []), *seen["batches"], *wrong]]
        if seen.get("ended"):
            found = found if any(found) or not steps[0]["do"].startswith("load") else []
            live = False
    return found


def play(name):
    """Play a session in a new process, and return what its steps showed."""
    _, hashes, _, steps = SESSIONS[name]
    session = fork(name) if hashes is None and sys.platform == "linux" else start(name, hashes)
    try:
        status = os.waitstatus_to_exitcode(os.waitpid(session, 0)[1])
    finally:
        end(session)
    if not os.path.exists(f"seen in {name}"):
        not_shown(f"session {name} could not be played")
    seen = [json.loads(line) for line in pathlib.Path(f"seen in {name}").read_text().splitlines()]
    if status and "kill" not in steps:
        late = f"no end within {LIMIT} s" if status == -signal.SIGALRM else f"status {status}"
        died = {"error": f"the process died: {late}", "bases": [], "trace": ""}
        seen.append({"do": "died", "batches": [], **died})
    if name == "whole":
        if seen and "error" in seen[-1] and "?" not in seen[-1]["do"]:
            not_shown(f"the uninterrupted run: {seen[-1]['error']}")
        if not EMPTY and not any(step["batches"] for step in seen):
            not_shown("the uninterrupted run delivers nothing")
    for step in seen:
        error = step.get("error", "").partition(":")[0]
        if error and "?" not in step["do"] and ERRORS is not None and error not in ERRORS:
            not_shown(f"session {name} has another error: {step['error']}")
    return seen


def fork(name):
    """Begin a session in a copy of this process, which has imported the loader and not used it."""
    sys.stdout.flush()
    session = os.fork()
    if not session:
        try:
            main(name)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return session


def start(name, hashes):
    """Begin a session in a new interpreter, which has the seed of hashes."""
    environment = {**os.environ, "PYTHONHASHSEED": str(hashes or 0)}
    return os.spawnve(os.P_NOWAIT, sys.executable, [sys.executable, __file__, name], environment)


def end(session):
    """End all processes of a session, also those that left its group: they are adopted here.

    Keepers have two seconds to exit last and by themselves: they remove what the others leave.
    """
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(session, signal.SIGKILL)
        os.waitpid(session, 0)
    children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children")
    late = time.monotonic() + 2
    while children.exists() and (found := children.read_text().split()):
        ended = [pid for pid in found if not keeps(pid)]
        if not ended and time.monotonic() < late:
            time.sleep(0.01)  # they exit once nobody uses them, and need no parent to do so
            continue
        for pid in map(int, ended or found):
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(session, signal.SIGKILL)


def keeps(pid):
    """Return whether a process removes named semaphores and memory that others leave."""
    with contextlib.suppress(OSError):
        command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        return any(keeper in command for keeper in (b"resource_tracker", b"torch_shm_manager"))
    return False


def not_shown(words):
    """End: whatever this is, it is not the failure."""
    print(words)
    sys.exit(2)


def ask_linux(option, value):
    """Adopt orphans (36), or die with the parent (1)."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def main(name=""):
    """Play the sessions and compare; or play the one that is named, and note what it shows."""
    if not name:
        # An error in these lines is not the failure.
        sys.excepthook = lambda *error: (traceback.print_exception(*error), os._exit(2))
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(2))
        ask_linux(36, 1)
        os.chdir(tempfile.mkdtemp())  # for the states, the data, and for what is noted
        expected, got, shows = compare({name: play(name) for name in SESSIONS})
        print(__doc__, f"expected: {expected}", f"got:      {got}", sep="\n")
        sys.exit(bool(shows))
    os.setsid()
    ask_linux(1, signal.SIGKILL)
    sys.warnoptions.append("ignore:resource_tracker")  # it would warn of what is left
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # workers inherit it, and must end when asked
    # A shell's background job ignores it, and a sample of a case may send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    streams, _, changes, steps = SESSIONS[name]
    root = f"data {changes.get('n', '')}".strip()  # sessions with the same data share it
    if not os.path.exists(root):
        os.mkdir(root)
        if PREPARE:
            PREPARE(root, **changes)
    faulthandler.dump_traceback_later(LIMIT)
    signal.alarm(LIMIT + 1)  # a hang ends here, and shows where it stands
    with open(f"seen in {name}", "w", buffering=1) as noted:
        seed_streams(streams)
        player = ScriptPlayer(root, changes)
        for number, step in enumerate(["open", *filter(None, steps.split(", "))]):
            seen = player.take(step)
            if number or "error" in seen:
                print(json.dumps(seen), file=noted)
            if "error" in seen and not step.endswith("?"):
                break
        noted.flush()
        os._exit(0)  # whatever a loader leaves running
