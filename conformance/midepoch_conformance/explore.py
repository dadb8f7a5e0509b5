"""Cases without end: what the tables have not thought of."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable

from midepoch_conformance import cases
from midepoch_conformance.bench import Engine
from midepoch_conformance.check import (
    Check,
    asked,
    check_header,
    find_failures,
    judge_all,
    locked,
    open_benches,
    settle_all,
    wanted_requirements,
)
from midepoch_conformance.events import CaseResult, Listener, Started
from midepoch_conformance.settings import Settings
from midepoch_conformance.smoke import smoke
from midepoch_conformance.strategies import draw_cases
from midepoch_conformance.summary import summarise

__all__ = ["explore"]

ROUND = 100
"""Cases that are drawn at a time."""


def explore(
    settings: Settings,
    seconds: float | None = None,
    seed: int | None = None,
    listen: Listener = lambda event: None,
    opener: Callable[[], Engine] | None = None,
) -> Check:
    """Judge a loader by drawn cases until ``seconds`` have passed, or until Ctrl-C.

    A round of cases is always finished; the same seed draws the same rounds.

    Raises:
        CheckError: nothing can be judged; the text says why.
    """
    began = time.monotonic()
    seed = random.SystemRandom().getrandbits(32) if seed is None else seed
    only = wanted_requirements(settings.only)
    listen = locked(listen)
    results: list[CaseResult] = []
    with open_benches(settings, opener) as benches:
        smoke(benches[0])
        info = benches[0].info
        header = {**check_header(info, settings, only), "seed": seed}
        seen: set[str] = set()
        try:
            for number in itertools.count(seed):
                drawn = draw_cases(info.offer, ROUND, number, only)
                table = [c for c in drawn if c.id not in seen and asked(c, only)]
                seen |= {case.id for case in table}
                listen(Started(header, len(table)))
                results += judge_all(benches, table, listen, first=len(results))
                if seconds is not None and time.monotonic() - began >= seconds:
                    break
        except KeyboardInterrupt:
            # What was found until now is what is reported.
            pass
        results = settle_all(benches, results, cases.load_table("quick"), only)
        failures = find_failures(benches, results, settings, listen)
    return Check(header, results, summarise(results), failures, time.monotonic() - began)
