"""A loader of datasets of all forms, in one process; one variant of it ignores what it loads."""

# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs

import itertools
import random


def order(w):
    """Return the indices of the one epoch, of batches where the sampler makes those."""
    if w.sampler in ("custom", "batches", "stateful"):
        return [*w.order()]
    indices = [*range(w.n)]
    if w.sampler:
        random.Random(w.seed).shuffle(indices)
    return indices


class Rows:
    """Random access; a dataset without a state."""

    def __init__(self, w):
        self.w, self.count = w, 0

    def __getitem__(self, i):
        return self.w.row(i)


def made(w):
    """Return what makes the rows, and has the state where there is one."""
    if w.form == "map":
        return Rows(w)
    if w.form == "both states":
        return w.iterator(0, 1, dataset=Rows(w))
    return w.iterator(0, 1) if w.form == "iterator state" else w.source(0, 1)


class Session:
    def __init__(self, w):
        self.w, self.made, self.taken, self.loaded = w, made(w), 0, None

    def rows(self, skipped):
        if self.w.form in ("map", "stateful_map"):
            for place in order(self.w):
                for i in place if isinstance(place, list) else [place]:
                    if skipped > 0:
                        skipped -= 1
                    else:
                        yield self.made[i]
        else:
            rows = iter(self.made)
            if self.loaded and self.loaded["data"] is not None:
                self.made.load_state_dict(self.loaded["data"])
                if self.w.form == "both states":
                    self.made.dataset.count = self.loaded["count"]
                skipped = 0
            # A dataset that is its own iterator starts over when iter() is called again.
            left = iter(lambda: next(rows, None), None)
            yield from itertools.islice(left, max(0, skipped), None)

    def epoch(self):
        if self.loaded and self.w.form == "stateful_map":
            self.made.load_state_dict(self.loaded["data"])
        self.taken = self.loaded["taken"] if self.loaded else 0
        rows = self.rows(self.taken)
        while batch := [*itertools.islice(rows, 4)]:
            self.taken += len(batch)
            yield batch

    def state(self):
        data = self.made.state_dict() if hasattr(self.made, "state_dict") else None
        dataset = getattr(self.made, "dataset", None)
        return {"taken": self.taken, "data": data, "count": getattr(dataset, "count", 0)}

    def load(self, state):
        self.loaded = state


class ForgetfulSession(Session):
    def load(self, state):
        pass


class Honest:
    def open(self, w, x, root):
        return Session(w)


class Forgets:
    def open(self, w, x, root):
        return ForgetfulSession(w)
