"""The errors of carousel."""


class StateError(ValueError):
    """A state cannot be continued by this loader."""


class BadState(StateError):
    """The value is no state of carousel, or was damaged."""


class WrongVersion(StateError):
    """The state was written by another version of carousel."""


class WrongPlan(StateError):
    """The state belongs to a loader that was built in another way."""


class ReplayError(RuntimeError):
    """A replay did not meet what the run before had met."""


class StaleIterator(RuntimeError):
    """The iterator is not the loader's newest one, or a state was loaded since."""


class WorkerDied(RuntimeError):
    """A worker process ended by itself."""


class Late(RuntimeError):
    """A batch was not ready within the time limit."""
