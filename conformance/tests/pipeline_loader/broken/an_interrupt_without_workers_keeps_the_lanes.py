"""Without workers nothing is read ahead, so an interrupt leaves everything as it is, and the request is made once more.
But a stream has given some samples of the batch already.  Who meets it: somebody who stops a run by hand in the
middle of a batch of a stream, and goes on with the same iterator.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('FAULT-12',)

EDITS = [
    ('hosts.py',
     '        return self.desk.do(self.todo.popleft())',
     '        answer = self.desk.do(self.todo[0])\n        self.todo.popleft()  # an interrupted request is made once more\n        return answer'),
    ('loader.py',
     '            except BaseException:\n                self.drop()\n                raise',
     '            except BaseException as e:\n                if own.workers or isinstance(e, Exception):\n                    self.drop()\n                raise'),
]

sound, broken, Adapter = build(__file__, EDITS)


PRESSED = []


class Stream:
    def __iter__(self):
        return self

    def __deepcopy__(self, memo):
        new = Stream()
        new.i = -1
        return new

    def __next__(self):
        if self.i == 11:
            raise StopIteration
        if self.i == 5 and not PRESSED:
            PRESSED.append(1)
            raise KeyboardInterrupt
        self.i += 1
        return self.i


def scenario(pl):
    PRESSED.clear()
    it = iter(pl.Loader(Stream(), 4, seed=1))
    got = take(it, 1)
    try:
        next(it)
    except KeyboardInterrupt:
        got.append("stopped")
    return got + list(it)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
