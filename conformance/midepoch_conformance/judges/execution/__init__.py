"""Judges of executions: other workers, delivery out of order, several ranks."""
