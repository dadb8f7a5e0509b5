"""Writes a dataset's booleans as integers."""

from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-4"
LARGEST = {"workers": 0, "sessions": 2, "steps": 4, "samples": 1}
FIELD = ("data#1266", "data#1272")


def integers(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {k: integers(v) for k, v in tree.items()}
    if isinstance(tree, list):
        return [integers(v) for v in tree]
    return int(tree) if isinstance(tree, bool) else tree


class Session(reference.Session):
    def state(self) -> dict[str, Any]:
        state = super().state()
        for entry in (state["lanes"] or {}).get("entries", []):
            entry["dataset"] = integers(entry["dataset"])
        return state


Adapter = mutant(Session)
