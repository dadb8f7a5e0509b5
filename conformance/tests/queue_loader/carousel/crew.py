"""Who carries out tasks: the caller itself, worker processes, or worker threads.

Workers schedule themselves. A task that any worker can do goes into one shared queue, and whoever is free takes it and says
so ("took"). A lane is opened by such a task too, and then lives in the worker that took it: its further steps go to that
worker's own queue. Outcomes come back in any order and wait in a table until the caller asks for them.
"""
import collections
import multiprocessing
import multiprocessing.connection
import os
import pickle
import select
import shutil
import signal
import socket
import tempfile
import threading
import time
import warnings
import weakref

import torch

from .bench import Bench, Job, Outcome, portable
from .errors import Late, WorkerDied

LARGE = 2048  # a message longer than this goes through a file
GRACE = 3.0  # seconds that workers have to end by themselves


class Inline:
    """No workers: a task is carried out when its outcome is asked for."""

    parallel = False

    def __init__(self, job):
        self.bench, self.tasks = Bench(job, isolate=True), {}

    def renew(self, gen, job):
        self.tasks.clear()
        self.bench.take(job)

    def post(self, key, task):
        self.tasks[key] = task

    def lane(self, number, key, task):
        self.tasks[key] = task

    def wait(self, key, lost=None):
        return self.bench.run(self.tasks.pop(key))

    def close(self):
        self.tasks.clear()
        self.bench.lanes.clear()


class Crew:
    """What worker processes and worker threads have in common."""

    parallel = True
    failed = None

    def __init__(self, job, count, lanes, timeout):
        self.count, self.cap, self.timeout, self.gen = count, -(-max(1, lanes) // count), timeout, 0
        self.clear()

    def clear(self):
        self.results, self.taken, self.open_posts = {}, {}, {}
        self.hosts, self.backlog, self.tasks = {}, collections.defaultdict(list), {}

    def post(self, key, task):
        self.tasks[key] = task
        self.share((key, task))

    def lane(self, number, key, task):
        self.tasks[key] = task
        if number in self.hosts:
            self.tell(self.hosts[number], ("task", key, task))
        else:
            self.backlog[number].append((key, task))

    def receive(self, worker, message):
        if message[0] == "took":
            key = message[1]
            if key[0] == self.gen and key in self.tasks and key not in self.taken:
                self.taken[key] = worker
                task = self.tasks[key]
                if task[0] == "open":
                    self.hosts[task[1]] = worker
                    for step in self.backlog.pop(task[1], ()):
                        self.tell(worker, ("task", *step))
        else:
            _, key, outcome = message
            if key[0] == self.gen and key in self.tasks:
                del self.tasks[key]
                self.taken.pop(key, None)
                self.results[key] = outcome

    def wait(self, key, lost=None):
        """The outcome of a task, once it is there. `lost` is called with lanes that died with their worker."""
        begun = time.monotonic()
        while key not in self.results:
            if self.failed is not None and not self.can_come(key):
                raise WorkerDied(self.failed)
            gone = self.poll(0.2)
            if gone:
                begun = time.monotonic()
                if lost is not None:
                    lost(gone)
            if self.timeout and time.monotonic() - begun > self.timeout:
                raise Late(f"no batch within {self.timeout} seconds: a worker is slow or hangs; give a longer timeout")
        return self.results.pop(key)

    def can_come(self, key):
        return True


# -- processes -------------------------------------------------------------------------------------------------------


def serve(number, job, own, shared, results, cap, spool, others):
    """The life of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for end in others:
        end.close()
    torch.set_num_threads(1)
    parent = os.getppid()
    own.setblocking(False)
    shared.setblocking(False)
    bench, gen, mine = None, 0, collections.deque()

    def unpack(data):
        message = pickle.loads(data)
        if message[0] == "file":
            path = os.path.join(spool, message[1])
            with open(path, "rb") as f:
                message = pickle.load(f)
            os.unlink(path)
        return message

    def drain():
        while True:
            try:
                data = own.recv(1 << 16)
            except BlockingIOError:
                return
            message = unpack(data) if data else ("quit",)
            if message[0] == "quit":
                mine.clear()
            mine.append(message)

    def answer(key, outcome):
        if outcome.kind in ("error", "torn"):
            outcome.value = portable(outcome.value)
        try:
            data = pickle.dumps(("done", key, outcome), 5)
        except Exception as e:
            outcome.kind, outcome.value = "error", RuntimeError(f"a batch cannot be sent to the caller: {type(e).__name__}: {e}")
            data = pickle.dumps(("done", key, outcome), 5)
        results.send_bytes(data)

    def act(key, task):
        nonlocal bench
        if key[0] != gen or (task[0] == "step" and task[1] not in bench.lanes):
            return
        answer(key, bench.run(task))

    def renew(message):
        nonlocal bench, gen, job
        gen = message[1]
        if message[2]:
            job = Job(**{**job.__dict__, **message[2]})
        if bench is None:
            bench = Bench(job)
        else:
            bench.take(job)

    try:
        while True:
            drain()
            if mine:
                message = mine.popleft()
                if message[0] == "quit":
                    return
                if message[0] == "renew":
                    renew(message)
                else:
                    act(*message[1:])
                continue
            free = bench is not None and (not job.cut or len(bench.lanes) < cap)
            if free:
                try:
                    data = shared.recv(1 << 16)
                except BlockingIOError:
                    data = None
                if data:
                    key, task = unpack(data)
                    results.send_bytes(pickle.dumps(("took", key)))
                    while key[0] > gen:  # the news of a later generation is on its way
                        select.select([own], [], [], 1.0)
                        drain()
                        while mine and mine[0][0] == "task":
                            mine.popleft()
                        if mine and mine[0][0] == "quit":
                            return
                        if mine:
                            renew(mine.popleft())
                    act(key, task)
                    continue
            select.select([own, shared] if free else [own], [], [], 1.0)
            if os.getppid() != parent:
                return
    except (BrokenPipeError, ConnectionResetError, EOFError):
        return


class Processes(Crew):
    def __init__(self, job, count, lanes, timeout, method, replace):
        super().__init__(job, count, lanes, timeout)
        self.context = multiprocessing.get_context(method)
        self.replace, self.job = replace, job
        self.spool = tempfile.mkdtemp(prefix="carousel-")
        weakref.finalize(self, shutil.rmtree, self.spool, True)
        self.files, self.queue = 0, collections.deque()
        self.parent_end, self.worker_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.parent_end.setblocking(False)
        self.workers = {}
        self.suspect = None
        try:
            for number in range(count):
                self.start(number)
        except BaseException:
            self.close()
            raise

    def start(self, number):
        own, own_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        reader, writer = self.context.Pipe(False)
        others = ()
        if self.context.get_start_method() == "fork":
            others = [self.parent_end, own, reader] + [e for w in self.workers.values() for e in (w["own"], w["reader"])]
        process = self.context.Process(target=serve, daemon=True, name=f"carousel-{number}", args=(
            number, self.job, own_end, self.worker_end, writer, self.cap, self.spool, others))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
        except BaseException:
            own.close()
            reader.close()
            raise
        finally:
            own_end.close()
            writer.close()
        own.setblocking(False)
        self.workers[number] = {"process": process, "own": own, "reader": reader, "queue": collections.deque()}
        self.tell(number, ("renew", self.gen, None))

    def pack(self, message):
        data = pickle.dumps(message, 4)
        if len(data) <= LARGE:
            return data
        self.files += 1
        name = f"{self.files}"
        with open(os.path.join(self.spool, name), "wb") as f:
            f.write(data)
        return pickle.dumps(("file", name))

    def share(self, message):
        self.queue.append(self.pack(message))
        self.flush()

    def tell(self, number, message):
        if number in self.workers:
            self.workers[number]["queue"].append(self.pack(message))
            self.flush()

    def flush(self):
        ends = [(self.parent_end, self.queue)] + [(w["own"], w["queue"]) for w in self.workers.values()]
        for end, queue in ends:
            while queue:
                try:
                    end.send(queue[0])
                except BlockingIOError:
                    break
                except OSError:
                    queue.clear()  # the worker is gone, and will be noticed
                    break
                queue.popleft()

    def renew(self, gen, job):
        """Another generation: all tasks of the one before are void."""
        self.queue.clear()
        self.worker_end.setblocking(False)
        while True:
            try:
                self.worker_end.recv(1 << 16)
            except BlockingIOError:
                break
        self.clear()
        self.gen = gen
        old, self.job = self.job.__dict__, job
        news = {k: v for k, v in job.__dict__.items() if k != "dataset" and v is not old[k] and v != old[k]}
        if "packed" in news:
            news["dataset"] = None
        for number in list(self.workers):
            self.tell(number, ("renew", gen, news))

    def poll(self, seconds):
        """Takes what the workers sent; returns the lanes that were lost with a worker that was replaced."""
        self.flush()
        readers = {w["reader"]: n for n, w in self.workers.items()}
        ready = multiprocessing.connection.wait(list(readers), seconds)
        dead = []
        for reader in ready:
            try:
                self.receive(readers[reader], pickle.loads(reader.recv_bytes()))
            except (EOFError, OSError, pickle.UnpicklingError):
                dead.append(readers[reader])
        for number, w in self.workers.items():
            if not ready and number not in dead and w["process"].exitcode is not None:
                dead.append(number)
        lost = []
        for number in dead:
            lost += self.bury(number)
        if self.suspect is not None and time.monotonic() > self.suspect:
            self.suspect = None
            try:
                self.worker_end.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
                self.suspect = time.monotonic() + 1.0  # tasks wait for a free worker: none is lost for certain
            except BlockingIOError:  # a task that nobody has was taken by a worker that died before it could say so
                if not self.queue:
                    self.repost([k for k, t in self.tasks.items() if k not in self.taken and t[0] in ("batch", "open")])
        return lost

    def bury(self, number):
        worker = self.workers.pop(number)
        process = worker["process"]
        while True:  # what it had answered
            try:
                if not worker["reader"].poll(0):
                    break
                self.receive(number, pickle.loads(worker["reader"].recv_bytes()))
            except (EOFError, OSError, pickle.UnpicklingError):
                break
        process.join(1.0)
        if process.exitcode is None:
            process.kill()
            process.join()
        code = process.exitcode
        how = f"was killed by signal {-code}" if code < 0 else f"exited with code {code}"
        worker["own"].close()
        worker["reader"].close()
        process.close()
        if self.replace <= 0:
            self.failed = (f"worker {number} {how}. Its batches are lost, and can be made again: state_dict() still describes "
                           "the last batch delivered. Give replace=n to have dead workers replaced")
            return []
        self.replace -= 1
        lanes = [lane for lane, host in self.hosts.items() if host == number]
        for lane in lanes:
            del self.hosts[lane]
        again = [k for k, w in self.taken.items() if w == number and self.tasks[k][0] == "batch"]
        lanes += [self.tasks[k][1] for k, w in self.taken.items()
                  if w == number and self.tasks[k][0] == "open" and self.tasks[k][1] not in lanes]
        self.start(number)
        self.repost(again)
        self.suspect = time.monotonic() + 1.0
        return lanes

    def repost(self, keys):
        for key in keys:
            self.taken.pop(key, None)
            self.share((key, self.tasks[key]))

    def forget_lane(self, number, keys):
        """Before a lane is opened anew in the same generation."""
        self.hosts.pop(number, None)
        self.backlog.pop(number, None)
        for key in keys:
            for table in (self.tasks, self.taken, self.results):
                table.pop(key, None)

    def can_come(self, key):
        task = self.tasks.get(key)
        if task is None:
            return False
        worker = self.hosts.get(task[1]) if task[0] == "step" else self.taken.get(key)
        return worker in self.workers

    def close(self):
        for number in list(self.workers):
            self.tell(number, ("quit",))
        deadline = time.monotonic() + GRACE
        for worker in self.workers.values():
            process = worker["process"]
            while process.exitcode is None and time.monotonic() < deadline:
                self.flush()
                try:
                    if multiprocessing.connection.wait([worker["reader"], process.sentinel], 0.05) and worker["reader"].poll(0):
                        worker["reader"].recv_bytes()  # so that it does not wait for room
                except (EOFError, OSError):
                    process.join(max(0.0, deadline - time.monotonic()))
            if process.exitcode is None:
                process.terminate()
                process.join(1.0)
            if process.exitcode is None:
                process.kill()
            process.join()
            process.close()
            worker["own"].close()
            worker["reader"].close()
        self.workers.clear()
        self.parent_end.close()
        self.worker_end.close()
        shutil.rmtree(self.spool, ignore_errors=True)


# -- threads ---------------------------------------------------------------------------------------------------------


class Threads(Crew):
    def __init__(self, job, count, lanes, timeout):
        super().__init__(job, count, lanes, timeout)
        self.job, self.ready = job, threading.Condition()
        self.queue, self.own = collections.deque(), [collections.deque() for _ in range(count)]
        self.done, self.ending = collections.deque(), False
        self.threads = [threading.Thread(target=self.serve, args=(n,), daemon=True, name=f"carousel-{n}")
                        for n in range(count)]
        for thread in self.threads:
            thread.start()

    def share(self, message):
        with self.ready:
            self.queue.append(message)
            self.ready.notify_all()

    def tell(self, number, message):
        with self.ready:
            self.own[number].append(message)
            self.ready.notify_all()

    def renew(self, gen, job):
        with self.ready:
            self.queue.clear()
            self.done.clear()
            for own in self.own:
                own.clear()
            self.clear()
            self.gen, self.job = gen, job
            self.ready.notify_all()

    def serve(self, number):
        bench, gen = Bench(self.job, seeds=False), None
        while True:
            with self.ready:
                while True:
                    if self.ending:
                        return
                    if gen != self.gen:
                        gen, job = self.gen, self.job
                        bench.take(job)
                    if self.own[number]:
                        _, key, task = self.own[number].popleft()
                        break
                    if self.queue and (not bench.job.cut or len(bench.lanes) < self.cap):
                        key, task = self.queue.popleft()
                        self.done.append((number, ("took", key)))
                        break
                    self.ready.wait()
            outcome = bench.run(task) if task[0] != "step" or task[1] in bench.lanes else Outcome("error", None)
            with self.ready:
                self.done.append((number, ("done", key, outcome)))
                self.ready.notify_all()

    def poll(self, seconds):
        with self.ready:
            if not self.done:
                self.ready.wait(seconds)
            messages, self.done = list(self.done), collections.deque()
        for message in messages:
            self.receive(*message)
        return []

    def close(self):
        with self.ready:
            self.ending = True
            self.ready.notify_all()
        for thread in self.threads:
            thread.join(GRACE)
