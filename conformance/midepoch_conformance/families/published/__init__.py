"""The families for implementers of midepoch's own format; importing registers them (pure)."""

from midepoch_conformance.families.published import document, order

__all__ = ["document", "order"]
