"""Checks the readers of a state one by one, and takes each over before it looks at the next.

If a later one is damaged, the state is refused, and the readers before it have moved. A program
that catches the refusal and goes on saves, and resumes from, a position that never was.
"""

import copy
from typing import Any

import readers
from play import outcome

FAMILY = "refusals"
BREAKS = ("REFUSE-4", "RESUME-7")


class Loader(readers.Loader):
    def load(self, state: Any) -> None:
        parts = self.state()
        if isinstance(state, dict) and state.get("plan") == parts["plan"]:
            entries = state.get("entries")
            for number, entry in enumerate(entries if isinstance(entries, list) else []):
                if number < self.count:
                    parts["entries"][number] = entry
                    self.check(parts)
                    self.entries[number] = copy.deepcopy(entry)
        super().load(state)


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=24, batch_size=2, workers=2)
    other, life = plan.open(), plan.open()
    other.take(8)
    damaged = other.state()
    del damaged["entries"][1]["at"]
    life.take(2)
    refused = outcome(lambda: life.session.load(damaged))
    return (refused, plan.open(life.state()).rest()), ("StateError", plan.whole()[0][2:])


Adapter = readers.mutant(loader=Loader)
