"""Scripts: a failure as a program of its own, made of the case and the adapter's source."""
