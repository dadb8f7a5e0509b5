"""A task that no worker has taken yet can still come, since another worker will take it: this is asked of the task alone, and not
whether any worker is left.  Who meets it: workers that are killed between two batches (by the kernel for memory, by an
administrator), all of them or the only one, without a timeout: the loader waits for ever.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import multiprocessing
import signal
import time

from _edit import Rows, build, on, outcome, take

BREAKS = ("FAULT-1",)

EDITS = [
    ("crew.py",
     "        return worker in self.workers\n",
     "        return worker is None or worker in self.workers  # nobody has it yet: whoever is free takes it\n"),
]

sound, broken, Adapter = build(__file__, EDITS)


def alarm(*_):
    raise TimeoutError("it hangs")


def scenario(cz):
    before = set(multiprocessing.active_children())
    loader = cz.Loader(Rows(60), 2, seed=4, workers=1, method="fork", collate_fn=list)
    batches = iter(loader)
    take(batches, 3)
    time.sleep(0.5)  # the worker has made what it was asked for
    for process in set(multiprocessing.active_children()) - before:
        process.kill()
        process.join()
    old = signal.signal(signal.SIGALRM, alarm)
    left = signal.alarm(10)
    try:
        for _ in range(30):
            next(batches)
    except cz.WorkerDied:
        return True
    finally:
        signal.alarm(left)
        signal.signal(signal.SIGALRM, old)
        loader.close()


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
