"""The midepoch conformance suite: it judges any resumable loader by its behaviour.

This file and what it imports need the standard library alone: it is also loaded by the
interpreter of the loader under test, which may have none of the suite's dependencies.
"""

from __future__ import annotations
