"""The broken versions of pullline take their tools from here."""
import functools
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))

import broken_versions
from broken_versions import Rows, Walk, on, outcome, take

__all__ = ["Rows", "Walk", "build", "on", "outcome", "take"]

build = functools.partial(broken_versions.build, "pullline", "pl_")
