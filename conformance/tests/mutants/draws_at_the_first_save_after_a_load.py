"""Draws from a global random stream when a state is taken after a load."""

import random
from typing import Any
from unittest.mock import patch

from format_base import mutant

from midepoch import StatefulDataLoader

EXPECTED = "BASIS-5"
LARGEST = {"workers": 0, "sessions": 2, "steps": 7, "samples": 1}
LOAD, TAKE = StatefulDataLoader.load_state_dict, StatefulDataLoader.state_dict


def load(self: StatefulDataLoader[Any], state: Any) -> None:
    LOAD(self, state)
    self.__dict__["loaded"] = True


def take(self: StatefulDataLoader[Any]) -> Any:
    if self.__dict__.pop("loaded", False):
        random.random()
    return TAKE(self)


patch.object(StatefulDataLoader, "load_state_dict", load).start()
patch.object(StatefulDataLoader, "state_dict", take).start()

Adapter = mutant()
