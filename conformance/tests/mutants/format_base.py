"""The reference loader's adapter, for mutants that break the format of its states."""

from __future__ import annotations

from typing import Any

from midepoch_conformance.adapters import reference


class Adapter(reference.Adapter):
    """Opens the mutant's session, if it has one, in place of the reference loader's."""

    session: type[reference.Session] | None = None
    loader_here = True

    def open(self, w: Any, x: Any, root: str) -> Any:
        return super().open(w, x, root) if self.session is None else self.session(w, x)


def mutant(session: type[reference.Session] | None = None) -> type[Adapter]:
    """Return the reference loader's adapter, with another session if there is one."""
    return type("Adapter", (Adapter,), {"session": session})
