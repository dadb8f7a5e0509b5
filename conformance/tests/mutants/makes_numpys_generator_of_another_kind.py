"""Gives each batch a NumPy generator of NumPy's newer kind; that of torch is right."""

from functools import cached_property

import numpy as np
from format_base import mutant

from midepoch.lane.batch_info import BatchInfo

EXPECTED = "SEED-7"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 1}


def newer(info: BatchInfo) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64DXSM(info.seed))


own = cached_property(newer)
own.__set_name__(BatchInfo, "numpy")
BatchInfo.numpy = own  # type: ignore[assignment]  # in place of the property

Adapter = mutant()
