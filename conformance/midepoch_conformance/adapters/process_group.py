"""Plays a loader's ranks at the same time, in the processes of one group (gloo).

An adapter that offers ``"process group"`` opens a session of these if ``x.together``.
"""

# The adapter protocol documents the methods. Nothing is typed: the scripts of failures carry it.
# ruff: noqa: D102

import multiprocessing
import os
import tempfile
from multiprocessing.connection import wait

import torch
from torch import distributed


def be_rank(link, store, rank, make, w, x, merge):
    """Be one rank of a process group: do as the session asks until the process is killed."""
    distributed.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=x.world
    )
    torch.manual_seed(torch.initial_seed() + rank)  # so that each rank draws another seed
    session = batches = answer = None
    while True:
        asked, given = link.recv()
        try:
            if asked == "open":
                session = make(w, x)
            elif asked == "epoch":
                batches, answer = session.epoch(), None
            elif asked == "batch":
                answer = next(batches, None)
            elif asked == "state":
                answer = session.state()
            else:
                answer = session.load(given if merge else given[rank % len(given)])
            link.send((answer, None))
        except Exception as error:
            link.send((None, error))


class Ranks:
    """One life of all ranks of a process group, each in a process of its own.

    Args:
        make: makes a rank's session of ``w`` and ``x``; its loader is to ask the default process
            group which rank it is of.
        w: the workload.
        x: the execution; ``x.world`` is the number of ranks.
        merge: makes the states of all ranks one, which each of them loads. Without it, a rank loads
            one of the states that were kept.
    """

    def __init__(self, make, w, x, merge=None):
        self.merge, self.links, self.processes = merge, [], []
        context = multiprocessing.get_context("fork")
        self.folder = tempfile.TemporaryDirectory()
        store = os.path.join(self.folder.name, "store")
        for rank in range(x.world):
            here, there = context.Pipe()
            args = (there, store, rank, make, w, x, merge)
            process = context.Process(target=be_rank, args=args, daemon=True)
            process.start()
            there.close()
            self.links.append(here)
            self.processes.append(process)
        self.ask("open")

    def ask(self, asked, given=None):
        """Ask all ranks at once, and return their answers.

        An error or a death ends all of them, as torchrun does.
        """
        for link in self.links:
            link.send((asked, given))
        answers = {}
        while len(answers) < len(self.links):
            for link in wait([link for link in self.links if link not in answers]):
                try:
                    answers[link], error = link.recv()
                except EOFError:
                    self.close()
                    raise
                if error is not None:
                    self.close()
                    raise error
        return [answers[link] for link in self.links]

    def epoch(self):
        self.ask("epoch")
        return self.batches()

    def batches(self):
        while any(parts := self.ask("batch")):
            yield [row for part in parts for row in part or ()]

    def state(self):
        states = self.ask("state")
        return self.merge(states) if self.merge else states

    def load(self, state):
        self.ask("load", state)

    def close(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.join()
        for link in self.links:
            link.close()
        self.folder.cleanup()
