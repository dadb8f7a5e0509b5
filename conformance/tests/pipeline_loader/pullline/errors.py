"""The errors of the loader.  A refusal of a state is always one of the first three."""


class LoaderError(Exception):
    pass


class StateRefused(LoaderError, ValueError):
    """The value is no state of this loader, or was changed since it was taken."""


class PlanRefused(LoaderError, ValueError):
    """The state belongs to another plan; ``fields`` maps each field to (saved, own)."""

    def __init__(self, fields):
        self.fields = dict(fields)
        super().__init__("the state was taken under another plan: " + "; ".join(
            f"{k} is {b!r} here and was {a!r}" for k, (a, b) in sorted(self.fields.items())))

    def __reduce__(self):
        return PlanRefused, (self.fields,)


class ReplayMismatch(LoaderError, RuntimeError):
    """What was made again is not what had been delivered."""


class StaleIterator(LoaderError, RuntimeError):
    """The iterator belongs to a position that the loader has left."""


class WorkerLost(LoaderError, RuntimeError):
    """A worker ended by itself."""


class WorkerLate(LoaderError, RuntimeError):
    """No batch within the time limit."""
