"""Crews of hands: the caller's thread, threads, or processes.  All take messages and give (hand, reply) or (hand, death)."""
import multiprocessing
import multiprocessing.connection
import os
import pickle
import queue
import signal
import threading

import torch

from .hand import Hand, Reply
from .seeds import kept


class InlineCrew:
    """One hand in the caller's thread, which works while the loader waits for it."""

    size, inline, process = 1, True, False

    def __init__(self):
        self.hand, self.todo, self.dead = Hand(False), [], {}

    def send(self, w, message):
        if message[0] == "job":
            self.todo.clear()
        self.todo.append(message)

    def poll(self):
        with kept():
            return [(0, self.hand.answer(self.todo.pop(0)))]

    def close(self):
        self.todo.clear()


class ThreadCrew:
    """Hands in threads of this process."""

    inline, process = False, False

    def __init__(self, size):
        self.size, self.dead, self.replies, self.latest = size, {}, queue.SimpleQueue(), [0]
        self.inboxes = [queue.SimpleQueue() for _ in range(size)]
        self.threads = [threading.Thread(target=_thread, args=(w, inbox, self.replies, self.latest), daemon=True)
                        for w, inbox in enumerate(self.inboxes)]
        for t in self.threads:
            t.start()

    def send(self, w, message):
        if message[0] == "job":
            self.latest[0] = message[1]
        self.inboxes[w].put(message)

    def poll(self):
        return [self.replies.get()]

    def close(self):
        self.latest[0] = -1
        for inbox in self.inboxes:
            inbox.put(None)
        for t in self.threads:
            t.join(10)


def _thread(w, inbox, replies, latest):
    hand = Hand(True)
    while (message := inbox.get()) is not None:
        if message[1] < latest[0] or latest[0] < 0:
            continue
        try:
            reply = hand.answer(message)
        except BaseException as e:  # SystemExit: a thread cannot take the process with it
            reply = Reply("fault", message[1], None, 0, RuntimeError(f"the dataset raised {e!r} in a thread"))
        if reply is not None:
            replies.put((w, reply))


class ProcessCrew:
    """Hands in processes of their own."""

    inline, process = False, True

    def __init__(self, size, method):
        self.size, self.dead = size, {}
        self.context = multiprocessing.get_context(method)
        self.pipes, self.processes = [None] * size, [None] * size
        for w in range(size):
            self.start(w)

    def start(self, w):
        if self.processes[w] is not None:
            self.processes[w].close()
        ours, theirs = self.context.Pipe()
        others = [p for p in self.pipes if p is not None] + [ours]
        fork = self.context.get_start_method() == "fork"
        process = self.context.Process(target=_process, args=(theirs, others if fork else []), daemon=True)
        process.start()
        theirs.close()
        self.pipes[w], self.processes[w] = ours, process
        self.dead.pop(w, None)

    def send(self, w, message):
        if w in self.dead:
            return
        try:
            self.pipes[w].send_bytes(pickle.dumps((*message[:2], pickle.dumps(message[2:]))))
        except OSError:
            pass  # it is dead, and poll() will say so

    def died(self, w):
        self.processes[w].join(5)
        code = self.processes[w].exitcode
        how = f"was killed by signal {-code}" if code is not None and code < 0 else f"exited with code {code}"
        self.dead[w] = f"worker {w} (process {self.processes[w].pid}) {how}"
        self.pipes[w].close()

    def poll(self):
        """Waits for replies and deaths; a death is (w, None), and comes after the replies that were sent before it."""
        alive = [w for w in range(self.size) if w not in self.dead]
        if not alive:
            return [(w, None) for w in self.dead]
        watched = {self.pipes[w]: w for w in alive} | {self.processes[w].sentinel: w for w in alive}
        found = []
        for w in sorted({watched[x] for x in multiprocessing.connection.wait(list(watched))}):
            try:
                if self.pipes[w].poll():
                    found.append((w, pickle.loads(self.pipes[w].recv_bytes())))
                elif not self.processes[w].is_alive() and not self.pipes[w].poll():
                    raise EOFError
            except (EOFError, OSError):
                self.died(w)
                found.append((w, None))
        return found

    def replace(self, w):
        self.start(w)

    def close(self):
        for w, p in enumerate(self.processes):
            if w not in self.dead:
                try:
                    self.pipes[w].send_bytes(pickle.dumps(None))
                except OSError:
                    pass
                self.pipes[w].close()
        for p in self.processes:
            p.join(0.5)
            if p.is_alive():
                p.kill()
                p.join(10)
            p.close()
        self.processes = []


def _process(pipe, others):
    """A worker process: one thread reads messages, so that the loader never waits to write one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for p in others:
        p.close()
    torch.set_num_threads(1)
    inbox, latest = queue.SimpleQueue(), [0]
    parent = multiprocessing.parent_process()

    def read():
        try:
            while True:
                if pipe not in multiprocessing.connection.wait([pipe, parent.sentinel]):
                    break
                message = pickle.loads(pipe.recv_bytes())
                if message is None:
                    break
                if message[0] == "job":
                    latest[0] = message[1]
                inbox.put(message)
        except (EOFError, OSError):
            pass
        os._exit(0)  # the loader closed the pipe, or ended

    threading.Thread(target=read, daemon=True).start()
    hand = Hand(True)
    while True:
        message = inbox.get()
        if message[1] < latest[0]:
            continue
        try:
            reply = hand.answer((*message[:2], *pickle.loads(message[2])))
        except Exception as e:
            reply = Reply("fault", message[1], None, 0, RuntimeError(f"a message cannot be read in a worker: {e!r}"))
        except SystemExit as e:
            os._exit(e.code if isinstance(e.code, int) else 1)
        if reply is None:
            continue
        try:
            data = pickle.dumps(reply)
        except Exception as e:
            error = RuntimeError(f"a batch cannot be sent from its worker: {e!r}")
            data = pickle.dumps(reply._replace(kind="error", value=error))
        try:
            pipe.send_bytes(data)
        except OSError:
            os._exit(0)
