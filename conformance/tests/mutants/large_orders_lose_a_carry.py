"""Loses a carry when it scales a word: of the largest orders, some elements are other ones."""

import inspect

from format_base import mutant

from midepoch.format import permutation

EXPECTED = "ORDER-4"
LARGEST = {"workers": 0, "sessions": 1, "steps": 120, "samples": 9007199254740991}

_SOURCE = inspect.getsource(permutation._scale_mixed)
_LOST = _SOURCE.replace("t >>= np.uint64(32)", "t >>= np.uint64(33)")

if _LOST == _SOURCE:
    raise RuntimeError("the arithmetic of large orders has another form")
exec(_LOST, vars(permutation))

Adapter = mutant()
