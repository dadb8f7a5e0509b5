"""Lets all lanes of one process use one dataset object, also if it has a state.

With two lanes a dataset that counts its reads counts both lanes', under few workers only.
"""

from typing import Any

from edited import edited

FAMILY = "lanes"
BREAKS = ("WORKERS-1", "ELASTIC-1", "WORKERS-2", "RESUME-1", "RESUME-7")
EDITS = [
    ("lane/lane.py", "return not changed and not is_stateful(dataset)", "return not changed"),
]


def shows(play: Any) -> Any:
    plan = play(kind="stateful_map", n=8, batch_size=1, lanes=2)
    return plan.whole(workers=1), plan.whole(workers=2)


Adapter = edited(EDITS)
