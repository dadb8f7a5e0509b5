"""Judges of midepoch's own format: its documents, orders and seeds, and the published vectors."""
