"""Starts a helper process in its first epoch and never ends it."""

import subprocess

from base import mutant, simple

EXPECTED = "FAULT-4"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 1}
FIELD = ("old workers",)


class Loader(simple.Loader):
    helper: subprocess.Popen[bytes] | None = None

    def __iter__(self) -> simple.Epoch:
        self.helper = self.helper or subprocess.Popen(["sleep", "1000"])
        return super().__iter__()


Adapter = mutant(Loader)
