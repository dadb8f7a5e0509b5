"""Epochs: what is asked for next, what was delivered, and how the loader executes it."""
