"""The reference loader's adapter, for mutants that break the format of its states."""

from __future__ import annotations

from typing import Any

from midepoch_conformance.adapters import reference


class Adapter(reference.Adapter):
    """Opens the mutant's session in place of the reference loader's."""

    session: type[reference.Session] = reference.Session
    loader_here = True

    def open(self, w: Any, x: Any, root: str) -> reference.Session:
        return self.session(w, x)


def mutant(session: type[reference.Session] = reference.Session) -> type[Adapter]:
    """Return the reference loader's adapter with another session."""
    return type("Adapter", (Adapter,), {"session": session})
