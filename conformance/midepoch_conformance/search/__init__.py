"""Search: drawing cases without end, and shrinking those that fail."""
