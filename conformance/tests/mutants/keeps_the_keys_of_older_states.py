"""Updates the older state in place, so keys that no longer exist stay in it."""

from typing import Any

from base import mutant, simple

EXPECTED = "STATE-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 2}
FIELD = ("data#1272",)


def over(old: Any, new: Any) -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{k: over(old.get(k), v) for k, v in new.items()}}
    return new


class Loader(simple.Loader):
    def capture(self) -> dict[str, Any]:
        old = self.snapshot["states"] if self.snapshot else {}
        return {name: over(old.get(name), state) for name, state in super().capture().items()}


Adapter = mutant(Loader)
