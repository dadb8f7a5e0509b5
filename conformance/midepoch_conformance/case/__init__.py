"""Cases: what a loader is asked to do, as data and as notation; standard library alone."""
