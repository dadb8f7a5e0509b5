"""Families: which cases are played, and which of them a loader offers; pure."""
