"""The errors that the loader raises by itself."""


class StateError(ValueError):
    """The value is no state of this loader, or is damaged."""


class PlanError(StateError):
    """The state belongs to another plan."""


class ReplayError(RuntimeError):
    """Making delivered batches again went another way than in the run before."""


class StaleIteratorError(RuntimeError):
    """The iterator was overtaken by a load or by a newer iterator."""


class WorkerDiedError(RuntimeError):
    """A worker process ended before it had made its batch."""
