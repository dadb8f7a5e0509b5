"""Other loaders' states, read into this package's own."""
