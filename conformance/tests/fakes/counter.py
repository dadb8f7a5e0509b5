"""A loader of its own, small and exact; ``Forgets`` ignores what it loads.

It waits while the file that ``COUNTER_WAITS_FOR`` names has twenty lines or more and the file
``wait`` is beside it, so that a test can interrupt a run in its middle.
"""

import os
import time
from pathlib import Path


class Epoch:
    """The batches of an epoch; one that fails is not made again."""

    def __init__(self, session):
        self.session, self.loads, self.over = session, session.loads, False

    def __iter__(self):
        return self

    def __next__(self):
        session, size = self.session, self.session.w.batch_size
        if self.loads != session.loads:
            raise RuntimeError("a state was loaded: this iterator has ended")
        first = session.done * size
        if self.over or first >= session.w.n:
            session.done, self.over = 0, True
            raise StopIteration
        session.done += 1
        try:
            return [session.w.row(i) for i in range(first, min(first + size, session.w.n))]
        except StopIteration as error:
            raise RuntimeError("a sample raised StopIteration") from error
        except KeyboardInterrupt:
            session.done -= 1
            raise


class Session:
    """Counts through epochs of whole batches."""

    resumes = True

    def __init__(self, w):
        self.w = w
        self.plan = [w.n, w.batch_size]
        self.done = self.loaded = self.loads = 0

    def epoch(self):
        self.done, self.loaded = self.loaded, 0
        return Epoch(self)

    def state(self):
        return {"done": self.loaded or self.done, "plan": list(self.plan)}

    def load(self, state):
        if not isinstance(state, dict) or set(state) != {"done", "plan"}:
            raise ValueError(f"not a state of this loader: {state!r}")
        if state["plan"] != self.plan:
            raise ValueError(f"a state of another plan: {state['plan']}, here {self.plan}")
        self.loads += 1
        if self.resumes:
            self.done, self.loaded = 0, state["done"]

    def close(self):
        pass


class Forgetful(Session):
    """Accepts a state and starts over."""

    resumes = False


class Adapter:
    """Offers the exact loader."""

    loader_here = True
    session = Session

    def offer(self):
        return {"name": "counter", "shuffles": (False,)}

    def declines(self, w, x):
        return None

    def prepare(self, w, root):
        pass

    def open(self, w, x, root):
        watched = Path(os.environ.get("COUNTER_WAITS_FOR", os.devnull))
        wait = watched.with_name("wait")
        while wait.exists() and watched.exists() and watched.read_bytes().count(b"\n") >= 20:
            time.sleep(0.01)
        return self.session(w)


class Forgets(Adapter):
    """Offers the forgetful one."""

    session = Forgetful


class Broken(Adapter):
    """Fails before anything can be judged."""

    def open(self, w, x, root):
        raise ImportError("the loader's wheel is not installed")
