"""The host: what runs inside the loader's own interpreter; standard library alone when it is imported."""
