"""Keeps the fields that begin with ``x-`` of a state that it loads, and writes them again."""

from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-16"
LARGEST = {"workers": 0, "sessions": 1, "steps": 5, "samples": 10}


class Session(reference.Session):
    kept: dict[str, Any] | None = None

    def state(self) -> Any:
        return {**super().state(), **(self.kept or {})}

    def load(self, state: Any) -> None:
        super().load(state)
        self.kept = {name: state[name] for name in state if name.startswith("x-")}


Adapter = mutant(Session)
