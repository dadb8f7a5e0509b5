"""carousel: a data loader that resumes where it was, with workers that take turns by themselves."""
from .bench import collate
from .blob import peek
from .dice import Lane, lane, rng
from .errors import BadState, Late, ReplayError, StaleIterator, StateError, WorkerDied, WrongPlan, WrongVersion
from .loader import Loader, Run

__all__ = ["BadState", "Lane", "Late", "Loader", "ReplayError", "Run", "StaleIterator", "StateError", "WorkerDied",
           "WrongPlan", "WrongVersion", "collate", "lane", "peek", "rng"]
