"""After an interrupt all is built again from the position, but no longer if there are workers: they ignore the interrupt, and what
they make stays good.  A sampler that was interrupted in the caller's process is then not put back: a generator is at its end.  Who
meets it: Ctrl-C, caught by a program that goes on with the same iterator, with workers and a sampler in Python.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome

BREAKS = ("FAULT-12",)

EDITS = [
    ("loader.py",
     """            self.loader._point, self.loader._loaded, self.delivered = before
            self._tear()
            raise
""",
     """            self.loader._point, self.loader._loaded, self.delivered = before
            if self.engine is None or not self.engine.parallel:  # workers ignore it, and go on
                self._tear()
            raise
"""),
]

sound, broken, Adapter = build(__file__, EDITS)


class Interrupted:
    """A sampler in which an interrupt arrives once."""

    def __init__(self, at):
        self.at = at

    def __iter__(self):
        for i in range(40):
            if i == self.at:
                self.at = None
                raise KeyboardInterrupt
            yield i


def scenario(cz):
    loader = cz.Loader(Rows(40), 2, sampler=Interrupted(23), seed=4, workers=2, method="fork", collate_fn=list)
    got = on(iter(loader), 30)
    loader.close()
    return [i for batch in got if batch != "KeyboardInterrupt" for i in batch] == list(range(40))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
