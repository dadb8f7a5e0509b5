"""The host: runs inside the loader's own interpreter; imports the standard library alone."""
