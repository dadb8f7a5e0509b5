"""Search: draws cases without end, and makes failing cases smaller."""
