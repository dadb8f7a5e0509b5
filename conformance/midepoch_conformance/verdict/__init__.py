"""Verdicts: requirements, what must be delivered, and what a finding comes to; pure."""
