"""pullline: a data loader made of pull-stages.

A batch is pulled through stages: deck (which indices), line (whose turn), host (which thread or
process), lane (the dataset's own copy).  Each stage has a position that is plain data, and a state is
the tuple of these positions after the last batch that the caller got.
"""
from .errors import (LoaderError, PlanRefused, ReplayMismatch, StaleIterator, StateRefused, WorkerLate,
                     WorkerLost)
from .loader import Loader
from .place import draw, here

__all__ = ["Loader", "draw", "here", "LoaderError", "PlanRefused", "ReplayMismatch", "StaleIterator",
           "StateRefused", "WorkerLate", "WorkerLost"]
