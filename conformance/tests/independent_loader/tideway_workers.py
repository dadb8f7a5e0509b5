"""The hosts of an epoch's lanes: worker processes, or the caller's own process."""

import contextlib
import multiprocessing as mp
import multiprocessing.connection as mpc
import os
import pickle
import queue
import signal
import threading
import traceback
import weakref
from collections import deque

import torch
from tideway_errors import WorkerDiedError
from tideway_lanes import Lane


def _portable(exc):
    """The exception, or one that says the same if it cannot cross a process."""
    text = "".join(traceback.format_exception(exc))
    try:
        if hasattr(exc, "add_note"):  # Python 3.11 and newer
            exc.add_note("in a worker:\n" + text)
        pickle.loads(pickle.dumps(exc))
        return exc
    except Exception:  # a user's exception may fail to be pickled in any way
        return RuntimeError(f"{type(exc).__name__} in a worker: {exc}\n{text}")


def _post(conn, out):
    """Send answers from a thread of its own, so that a worker always reads."""
    while True:
        with contextlib.suppress(OSError):
            conn.send_bytes(out.get())


def _serve(conn, dataset, spec):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    torch.set_num_threads(1)
    out, backlog, newest, lanes = queue.SimpleQueue(), deque(), 0, {}
    threading.Thread(target=_post, args=(conn, out), daemon=True).start()
    parent = mp.parent_process().sentinel
    while True:
        while not backlog or conn.poll():
            if conn not in mpc.wait([conn, parent]):
                return
            try:
                backlog.append(conn.recv())
            except EOFError:
                return
            newest = max(newest, backlog[-1][1])
        what, turn, lane, argument = backlog.popleft()
        if turn < newest:
            continue
        try:
            if what == "open":
                lanes.pop(lane, None)
                lanes[lane] = Lane(dataset, spec, argument)
                answer = ("opened",)
            else:
                answer = lanes[lane].make(*argument) if lane in lanes else ("void",)
        except Exception as exc:
            answer = ("refused", exc)
        except BaseException as exc:
            answer = ("interrupt", exc)
        if answer[0] in ("error", "refused", "interrupt"):
            answer = (answer[0], _portable(answer[1]), *answer[2:])
        try:
            blob = pickle.dumps((turn, lane, answer))
        except Exception as exc:
            error = RuntimeError(f"a batch cannot be sent from its worker: {exc!r}")
            blob = pickle.dumps((turn, lane, ("error", error, answer[2], False)))
        out.put(blob)


def _shut(owner, processes, connections):
    if os.getpid() != owner:
        return
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(5)
        if process.is_alive():
            process.kill()
            process.join()
        process.close()
    for conn in connections:
        conn.close()
    del processes[:], connections[:]


class Pool:
    """Worker processes, which outlive an epoch if they are to."""

    def __init__(self, count, dataset, spec, context):
        self.processes, self.connections, self.turn, self.dead = [], [], 0, set()
        self.shut = weakref.finalize(self, _shut, os.getpid(), self.processes, self.connections)
        ctx = mp.get_context(context)
        for _ in range(count):
            ours, theirs = ctx.Pipe()
            process = ctx.Process(target=_serve, args=(theirs, dataset, spec), daemon=True)
            self.connections.append(ours)
            try:
                process.start()
                self.processes.append(process)
            finally:
                theirs.close()


class Crew:
    """The lanes of one epoch, hosted by workers."""

    def __init__(self, pool, tickets):
        self.pool = pool
        self.inbox = {lane: deque() for lane in tickets}
        pool.turn += 1
        for lane, ticket in tickets.items():
            self._send("open", lane, ticket)

    def _host(self, lane):
        return lane % len(self.pool.processes)

    def _send(self, what, lane, argument):
        with contextlib.suppress(OSError):  # a dead worker is noticed where its answer is missing
            self.pool.connections[self._host(lane)].send((what, self.pool.turn, lane, argument))

    def ready(self):
        """Wait until all lanes stand where they are to go on."""
        for lane in self.inbox:
            self._expect(self.take(lane))

    def _expect(self, answer):
        if answer[0] in ("refused", "interrupt"):
            raise answer[1]
        return answer

    def ask(self, lane, ordinal, indices):
        """Ask a lane for one batch, without waiting for it."""
        self._send("make", lane, (ordinal, indices))

    def take(self, lane):
        """Return the next answer of a lane."""
        while not self.inbox[lane]:
            host = self._host(lane)
            if host in self.pool.dead:
                process = self.pool.processes[host]
                raise WorkerDiedError(
                    f"worker {host} (pid {process.pid}) ended with exit code {process.exitcode} "
                    f"before it had made the next batch of lane {lane}; "
                    "iterate on to try again with new workers"
                )
            self._pump()
        return self._expect(self.inbox[lane].popleft())

    def _pump(self):
        pool = self.pool
        living = [i for i in range(len(pool.processes)) if i not in pool.dead]
        by_conn = {pool.connections[i]: i for i in living}
        by_sentinel = {pool.processes[i].sentinel: i for i in living}
        for found in mpc.wait(list(by_conn) + list(by_sentinel)):
            if found in by_conn:
                self._receive(found)
            else:
                host = by_sentinel[found]
                while self._receive(pool.connections[host]):
                    pass
                pool.processes[host].join()
                pool.dead.add(host)

    def _receive(self, conn):
        try:
            if not conn.poll():
                return False
            turn, lane, answer = pickle.loads(conn.recv_bytes())
        except (EOFError, OSError):
            return False
        if turn == self.pool.turn:
            self.inbox[lane].append(answer)
        return True


class Solo:
    """The lanes of one epoch in the caller's own process: a batch is made when it is asked for."""

    def __init__(self, dataset, spec, tickets):
        self.lanes = {lane: Lane(dataset, spec, ticket) for lane, ticket in tickets.items()}
        self.asked = {lane: deque() for lane in tickets}

    def ready(self):
        """Do nothing: the lanes are made already."""

    def ask(self, lane, ordinal, indices):
        """Ask a lane for one batch, without waiting for it."""
        self.asked[lane].append((ordinal, indices))

    def take(self, lane):
        """Return the next answer of a lane."""
        return self.lanes[lane].make(*self.asked[lane].popleft())
