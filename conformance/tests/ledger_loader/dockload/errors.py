"""The errors of the loader's own."""
import pickle
import traceback


class StateRefused(ValueError):
    """The value is no state of this loader, or one of another plan."""


class ReplayMismatch(RuntimeError):
    """What is made again differs from what was made before."""


class StaleIterator(RuntimeError):
    """A state was loaded, or another iterator made, since this iterator was made."""


class WorkerDied(RuntimeError):
    """A worker process ended without being told to."""


class SamplerFault:
    """An exception of a sampler, in its place in the order."""

    def __init__(self, error):
        self.error = error


def portable(error):
    """The exception, or one that tells of it, such that it can be sent to another process."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    try:
        back = pickle.loads(pickle.dumps(error))
        if type(back) is type(error) and str(back) == str(error):
            error.add_note("In a worker:\n" + text)
            pickle.dumps(error)
            return error
    except Exception:
        pass
    return RuntimeError(f"{type(error).__name__}: {error}\nIn a worker:\n{text}")
