"""Chooses histories among many that are drawn: those that reach most that is new (pure).

The model of a loader costs nothing to ask, so several candidates are drawn for each history that is
played. Two things that one resume reaches are a pair; a candidate is worth the pairs that no chosen
history has. Half of the candidates vary a history that was the first to reach something.
"""

from __future__ import annotations

import collections
import dataclasses
import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.case import Case, CaseError, has_workers
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.facts.resumes import AXES, Fact, offered_values, resumes
from midepoch_conformance.search.chain import draw_history
from midepoch_conformance.search.draws import Chance, Unplayable
from midepoch_conformance.search.vary import varied

__all__ = [
    "BUDGETS", "Declines", "Draw", "Drawn", "Pair", "Steering", "different", "draw_histories",
    "in_profile", "pairs",
]  # fmt: skip

Pair = tuple[Fact, Fact]

Declines = Callable[[Workload, Execution], "str | None"]
"""Says why an adapter does not offer a cell, or None if it does."""

Draw = Callable[[Chance, Offer, bool], Case]
"""Draws a case, without workers or with them; raises ``Unplayable`` or ``CaseError``."""

CANDIDATES = {False: 3, True: 8}
"""How many candidates are drawn for each history without workers, and with them: those cost more
to play."""

BUDGETS = {"quick": (1, 84, 12), "full": (8, 240, 40)}
"""For each profile: how often the histories are drawn that play every pair together, and how many
without workers and with workers each time; beside these, those that the last pairs need."""

TRIES = 40
"""How often a history with a certain pair is drawn before the pair counts as out of reach."""

FAILED = 30
"""After so many draws in a row without a new case, no more are tried."""

FOUND = 6
"""How many histories with a certain pair are drawn to choose from."""

REQUIRED = 8
"""The worth of a pair of :data:`~.reach.AXES`; other pairs are worth 1."""


@dataclasses.dataclass(frozen=True)
class Drawn:
    """Histories, and the pairs of the axes that none of them has."""

    cases: list[Case]
    """The histories, in the order in which they were chosen."""
    unreached: dict[Pair, str]
    """Why a pair of offered values is played in no history."""


def draw_histories(
    profile: str, offer: Offer, seed: int, declines: Declines | None = None
) -> Drawn:
    """Draw a profile's histories, the same for the same seed.

    They play every pair of offered values together that any history can have.

    Args:
        profile: one of :data:`BUDGETS`.
        offer: what the loader offers.
        seed: the seed.
        declines: the adapter's own exceptions from its offer.

    Example:
        >>> drawn = draw_histories("quick", Offer(shuffles=(True,)), seed=1)
        >>> len(drawn.cases)
        85
        >>> drawn.unreached[(("resumes", 2), ("saved", "start"))]
        'only a run that begins is before its first batch'
    """
    cases: dict[str, Case] = {}
    unreached: dict[Pair, str] = {}
    reached: set[Pair] = set()
    rounds, alone, workers = BUDGETS[profile]
    for number in range(rounds):
        steering = Steering(offer, declines)
        found = steering.choose(alone, Chance(f"{seed}/{number}"), multi=False)
        multi: list[Case] = []
        if max(offer.workers, default=0):
            chance = Chance(f"{seed}/{number} with workers")
            multi = steering.choose(workers, chance, multi=True)
        if found or multi:
            # A loader whose state cannot be taken has no histories.
            more, unreached = steering.complete(Chance(f"{seed}/{number} completed"))
            # A loader may wait for its workers for many seconds: others are played meanwhile.
            found += [case for case in more if has_workers(case)] + multi
            found += [case for case in more if not has_workers(case)]
        reached |= steering.reached
        cases |= {case.id: case for case in found}
    missing = {pair: reason for pair, reason in unreached.items() if pair not in reached}
    return Drawn(list(cases.values()), missing)


def in_profile(
    draw: Draw, budget: tuple[int, int], offer: Offer, seeded: str, declines: Declines | None
) -> list[Case]:
    """Return so many different cases without workers, and with them, the same for one seed."""
    alone, workers = budget
    found = different(draw, alone, offer, Chance(seeded), False, declines)
    if max(offer.workers, default=0):
        chance = Chance(f"{seeded} with workers")
        found += different(draw, workers, offer, chance, True, declines)
    return found


def different(
    draw: Draw,
    count: int,
    offer: Offer,
    chance: Chance,
    multi: bool,
    declines: Declines | None = None,
) -> list[Case]:
    """Return up to ``count`` different cases that the adapter does not decline."""
    found: dict[str, Case] = {}
    failed = 0
    while len(found) < count and failed < FAILED:
        failed += 1
        try:
            case = draw(chance, offer, multi)
        except (CaseError, Unplayable):
            continue
        if _declined(case, declines) is None:
            failed = failed if case.id in found else 0
            found[case.id] = case
    return list(found.values())


def _declined(case: Case, declines: Declines | None) -> str | None:
    if declines is None:
        return None
    cells = ((case.session_workload(i), s.execution) for i, s in enumerate(case.sessions))
    return next((words for cell in cells if (words := declines(*cell)) is not None), None)


class Steering:
    """The facts that the chosen histories have reached so far.

    Args:
        offer: what the loader offers.
        declines: the adapter's own exceptions from its offer.
    """

    def __init__(self, offer: Offer, declines: Declines | None = None) -> None:
        self.offer, self.declines = offer, declines
        self.reached: set[Pair] = set()
        self._known: set[str] = set()

    def choose(self, count: int, chance: Chance, multi: bool) -> list[Case]:
        """Return up to ``count`` new histories, those first that reach most that is new."""
        pool = self._candidates(CANDIDATES[multi] * count, chance, multi)
        found = [own for _, own in pool]
        # A candidate is worth less once others are chosen, so an old worth is an upper bound.
        queue = [(-self._worth(own), i) for i, own in enumerate(found)]
        heapq.heapify(queue)
        chosen: list[Case] = []
        while queue and len(chosen) < count:
            _, i = heapq.heappop(queue)
            worth = self._worth(found[i])
            if queue and (-worth, i) > queue[0]:
                heapq.heappush(queue, (-worth, i))
            elif self._take(*pool[i]):
                chosen.append(pool[i][0])
        return chosen

    def complete(self, chance: Chance) -> tuple[list[Case], dict[Pair, str]]:
        """Return histories with the pairs of the axes that are missing, and why others stay so."""
        chosen: list[Case] = []
        unreached: dict[Pair, str] = {}
        for pair in _required(self.offer):
            if pair in self.reached:
                continue
            found = self._with(pair, chance)
            if isinstance(found, Case):
                chosen.append(found)
            else:
                unreached[pair] = found
        # A later history may have a pair that was out of reach before.
        return chosen, {pair: unreached[pair] for pair in unreached if pair not in self.reached}

    def _candidates(self, count: int, chance: Chance, multi: bool) -> list[tuple[Case, set[Pair]]]:
        """Return up to ``count`` different histories, each with its pairs."""
        found: dict[str, tuple[Case, set[Pair]]] = {}
        reached: set[Pair] = set()
        novel: list[Case] = []
        for _ in range(3 * count):
            if len(found) >= count:
                break
            try:
                if novel and chance.often(0.5):
                    case = varied(chance.one(novel), chance, self.offer)
                else:
                    case = draw_history(chance, self.offer, multi)
            except Unplayable:
                continue
            own = pairs(case)
            if not own <= reached:
                reached |= own
                novel.append(case)
            found.setdefault(case.id, (case, own))
        return list(found.values())

    def _worth(self, own: set[Pair]) -> int:
        new = own - self.reached
        return len(new) + (REQUIRED - 1) * sum(a[0] in AXES and b[0] in AXES for a, b in new)

    def _take(self, case: Case, own: set[Pair]) -> bool:
        """Choose a history with its pairs, unless it is known or the adapter declines it."""
        if case.id in self._known or _declined(case, self.declines) is not None:
            return False
        self._known.add(case.id)
        self.reached |= own
        return True

    def _with(self, pair: Pair, chance: Chance) -> Case | str:
        """Return a history with a pair, or why there is none.

        Of the first histories with it that are drawn, the one that reaches most else is taken.
        """
        reasons: collections.Counter[str] = collections.Counter()
        for multi in _where(pair, self.offer):
            found: list[tuple[Case, set[Pair]]] = []
            for _ in range(TRIES):
                try:
                    case = draw_history(chance, self.offer, multi, dict(pair))
                except Unplayable as error:
                    reasons[str(error)] += 1
                    continue
                own = pairs(case)
                if pair in own:
                    found.append((case, own))
                if len(found) == FOUND:
                    break
            for case, own in sorted(found, key=lambda one: -self._worth(one[1])):
                if self._take(case, own):
                    return case
                reasons[_declined(case, self.declines) or "it was drawn before"] += 1
        return reasons.most_common(1)[0][0] if reasons else "no history that was drawn has both"


def pairs(case: Case) -> set[Pair]:
    """Return all pairs of facts that a history plays together, each in order."""
    return {pair for facts in resumes(case) for pair in itertools.combinations(_sorted(facts), 2)}


def _sorted(facts: Iterable[Fact]) -> list[Fact]:
    return sorted(facts, key=lambda fact: (fact[0], str(fact[1])))


def _required(offer: Offer) -> Iterator[Pair]:
    """Yield every pair of values that a loader offers on two axes."""
    facts = [[(axis, value) for value in held] for axis, held in offered_values(offer).items()]
    for one, other in itertools.combinations(facts, 2):
        for pair in itertools.product(one, other):
            first, second = _sorted(pair)
            yield first, second


def _where(pair: Pair, offer: Offer) -> tuple[bool, ...]:
    """Return where to look for a pair: without workers, with them, or first without."""
    if not max(offer.workers, default=0):
        return (False,)
    wished = dict(pair)
    if "workers" in wished:
        return (bool(wished["workers"]),)
    needs = wished.get("prefetch") or wished.get("persistent")
    return (True,) if needs or wished.get("ended") == "worker lost" else (False, True)
