"""Hosts: where lanes live.  A host takes requests and gives answers in the same order.

Requests are ("job", job), ("open", lane, dataset, entry, replays) and ("make", lane, index, indices).
The last two have one answer each: (lane, kind, payload), where kind is "ok", "error" (of an open),
"stop" (an exception that is no error, such as KeyboardInterrupt) or "lost".
"""
import collections
import multiprocessing
import multiprocessing.connection
import os
import pickle
import queue
import signal
import threading
import time

from .errors import LoaderError, WorkerLate, WorkerLost
from .lane import Lane


class Desk:
    """Carries out requests; the same code in every kind of host."""

    def __init__(self, streams):
        self.streams, self.job, self.lanes = streams, None, {}

    def do(self, request):
        what = request[0]
        if what == "job":
            self.job, self.lanes = request[1], {}
            return None
        lane = request[1]
        if what == "open":
            self.lanes[lane] = Lane(self.job, lane, self.streams)
            try:
                self.lanes[lane].open(*request[2:])
            except Exception as e:
                return lane, "error", e
            return lane, "ok", None
        return lane, "ok", self.lanes[lane].make(*request[2:])


class Inline:
    """Works when it is asked for the answer, in the caller's own thread."""

    restartable = False

    def __init__(self, number):
        self.desk, self.todo = Desk("scoped"), collections.deque()

    def submit(self, request):
        if request[0] == "job":
            self.desk.do(request)
        else:
            self.todo.append(request)

    def take(self, timeout):
        return self.desk.do(self.todo.popleft())

    def close(self):
        self.todo.clear()
        self.desk = None


class Threaded:
    """A thread that owns its lanes."""

    restartable = False

    def __init__(self, number):
        self.number, self.inbox, self.outbox = number, queue.SimpleQueue(), queue.SimpleQueue()
        self.quit = threading.Event()
        self.thread = threading.Thread(target=self._main, args=(self.inbox, self.outbox, self.quit),
                                       name=f"pullline-{number}", daemon=True)
        self.thread.start()

    @staticmethod
    def _main(inbox, outbox, quit):
        desk = Desk("shared")
        while True:
            request = inbox.get()
            if request is None or quit.is_set():
                return
            try:
                answer = desk.do(request)
            except SystemExit as e:
                outbox.put((request[1], "lost", f"code of the dataset ended its thread ({e!r})"))
                return
            except BaseException as e:
                answer = request[1], "stop", e
            if answer is not None:
                outbox.put(answer)
            del request, answer

    def submit(self, request):
        self.inbox.put(request)

    def take(self, timeout):
        try:
            lane, kind, payload = self.outbox.get(timeout=timeout)
        except queue.Empty:
            raise WorkerLate(f"worker {self.number} gave no batch within {timeout} s") from None
        if kind == "lost":
            raise WorkerLost(f"worker {self.number}: {payload}")
        return lane, kind, payload

    def close(self):
        self.quit.set()
        self.inbox.put(None)
        if self.thread is not threading.current_thread():
            self.thread.join(10)


def _portable(error):
    """The exception, or one that says the same where it cannot be sent."""
    try:
        if type(pickle.loads(pickle.dumps(error))) is type(error):
            return error
    except Exception:
        pass
    return RuntimeError(f"{type(error).__module__}.{type(error).__qualname__}: {error}")


def _send(conn, answer):
    lane, kind, payload = answer
    if isinstance(payload, BaseException):
        payload = _portable(payload)
    elif payload is not None and isinstance(payload.value, BaseException):
        payload.value = _portable(payload.value)
    try:
        data = pickle.dumps((lane, kind, payload), protocol=5)
    except Exception as e:
        data = pickle.dumps((lane, kind, type(payload)("error", RuntimeError(f"a batch cannot be sent: {e!r}"),
                                                       payload.count, payload.over, False, payload.snap)))
    conn.send_bytes(data)


def _process_main(conn, parent):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inbox = queue.SimpleQueue()

    def reader():
        try:
            while True:
                while not conn.poll(1.0):
                    if os.getppid() != parent:
                        os._exit(1)
                data = conn.recv_bytes()
                if data == b"":
                    os._exit(0)
                inbox.put(data)
        except (EOFError, OSError):
            os._exit(1)

    threading.Thread(target=reader, daemon=True).start()
    import torch
    torch.set_num_threads(1)
    desk = Desk("owned")
    while True:
        data = inbox.get()
        request = None
        try:
            request = pickle.loads(data)
            answer = desk.do(request)
        except SystemExit as e:
            os._exit(e.code if isinstance(e.code, int) else 1)
        except BaseException as e:
            lane = request[1] if request else -1
            answer = lane, "stop", e if request else LoaderError(f"a worker cannot read its dataset: {e!r}")
        if answer is not None:
            _send(conn, answer)


class Process:
    """A process that owns its lanes."""

    restartable = True

    def __init__(self, number, method=None):
        self.number = number
        context = multiprocessing.get_context(method or "fork")
        self.conn, child = context.Pipe()
        self.proc = context.Process(target=_process_main, args=(child, os.getpid()),
                                    name=f"pullline-{number}", daemon=True)
        self.proc.start()
        child.close()

    def submit(self, request):
        try:
            self.conn.send_bytes(pickle.dumps(request, protocol=5))
        except (BrokenPipeError, ConnectionResetError):
            pass  # its answers are missed when they are needed

    def take(self, timeout):
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            ready = multiprocessing.connection.wait([self.conn, self.proc.sentinel], left)
            if not ready:
                raise WorkerLate(f"worker {self.number} gave no batch within {timeout} s")
            if self.conn.poll(0):
                try:
                    return pickle.loads(self.conn.recv_bytes())
                except (EOFError, ConnectionResetError):
                    pass
            if self.proc.sentinel in ready or not self.proc.is_alive():
                self.proc.join(5)
                raise WorkerLost(f"worker {self.number} (process {self.proc.pid}) ended with code "
                                 f"{self.proc.exitcode}; the loader can be iterated or saved where it is")
            time.sleep(0.01)

    def close(self):
        try:
            self.conn.send_bytes(b"")
        except OSError:
            pass
        self.proc.join(5)
        if self.proc.is_alive():
            self.proc.kill()
            self.proc.join()
        self.conn.close()
        self.proc.close()


class Pool:
    """The hosts that a loader has at present."""

    def __init__(self):
        self.hosts, self.pid = [], os.getpid()
        self.idle = True  # no host has anything to do

    def get(self, workers, kind, method):
        if self.pid != os.getpid():  # these hosts belong to the process that this one was forked from
            self.hosts, self.pid = [], os.getpid()
        if not self.hosts:
            if workers == 0:
                self.hosts.append(Inline(0))
            for i in range(workers):
                self.hosts.append(Process(i, method) if kind == "process" else Threaded(i))
        return self.hosts

    def close(self):
        hosts, self.hosts, self.idle = self.hosts, [], True
        if os.getpid() == self.pid:
            for host in hosts:
                host.close()
