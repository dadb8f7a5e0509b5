"""Begins an interrupted epoch again where no state tells what the dataset was at its beginning."""

from typing import Any

from format_base import mutant

from midepoch.epoch.opening import EpochOpener

EXPECTED = "RESUME-7"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 6}
AGAIN = EpochOpener._again


def again(self: EpochOpener, *given: Any) -> Any:
    check, self.position.check_known = self.position.check_known, lambda **named: None  # type: ignore[method-assign]
    try:
        return AGAIN(self, *given)
    finally:
        self.position.check_known = check  # type: ignore[method-assign]


EpochOpener._again = again  # type: ignore[method-assign]

Adapter = mutant()
