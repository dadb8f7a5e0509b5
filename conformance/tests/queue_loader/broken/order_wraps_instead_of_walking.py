"""An index that the permutation puts beyond the end is taken modulo the length, instead of being walked on: some samples come
twice and others never.  Who meets it: shuffled datasets of more than 512 samples whose number is no power of four.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('BASIS-3',)

EDITS = [
    ('order.py',
     '            while True:\n                out = x >= _U(self.n)\n                if not out.any():\n                    return [int(i) for i in x]\n                x[out] = self._encrypt(x[out])  # walk on until the value is in range\n',
     '            out = x >= _U(self.n)\n            x[out] = self._encrypt(x[out])  # walk on where the value is out of range\n            return [int(i) for i in x % _U(self.n)]\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    rows = [i for batch in cz.Loader(Rows(600), 8, True, seed=1, collate_fn=list) for i in batch]
    return len(rows), len(set(rows))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
