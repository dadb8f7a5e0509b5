"""Carries a dataset's state as strict JSON, where what is not a number becomes null.

A dataset that notes a missing measurement as NaN gets None back and fails hours later.
"""

import math
from typing import Any

from values import came_back, changing

FAMILY = "values"
BREAKS = ("STATE-6", "DOC-4")


def change(value: Any) -> Any:
    return None if type(value) is float and not math.isfinite(value) else value


def shows(play: Any) -> Any:
    return came_back(play, [1.5, math.nan, math.inf])


Adapter = changing(change)
