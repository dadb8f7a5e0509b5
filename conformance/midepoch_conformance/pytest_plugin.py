"""The pytest front end (see later)."""
