"""The reference loader's adapter, for the lies that only the format's implementers can tell."""

from __future__ import annotations

from typing import Any

from midepoch_conformance.adapters import reference

Session = reference.Session
State = dict[str, Any]


class Adapter(reference.Adapter):
    session: type[Session] = Session
    loader_here = True

    def open(self, w: Any, x: Any, root: str) -> Session:
        return self.session(w, x)
