"""Whether a loader offers what a case asks for, and the cases that a function can play (pure)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from midepoch_conformance.case.adapter import EXTRAS, Execution, LoaderInfo, Offer
from midepoch_conformance.case.case import HISTORY, PROGRAM, Case, SessionPlan
from midepoch_conformance.case.data.sources import GENERATORS
from midepoch_conformance.case.data.trees import CODECS, NOT_CANONICAL
from midepoch_conformance.case.history import faulty, remembers, strict
from midepoch_conformance.case.programs import LOOK, leaves_at_an_end
from midepoch_conformance.case.workload import AMBIENT_DRAWS, Workload
from midepoch_conformance.families.family import FAMILIES, ITERABLES, LANED

__all__ = ["cases_for", "on_own_data", "reason_not_offered"]

ENDLESS = "its iteration never ends: there is no epoch to compare"


_DATA = ("kind", "shuffle", "seed")
"""The fields that say which data is delivered; a case with other fields is about its data."""


def reason_not_offered(case: Case, offer: Offer) -> str | None:
    """Return why a loader does not offer a case, or None if it does.

    Example:
        >>> from midepoch_conformance.case.case import Step
        >>> save = SessionPlan(Execution(), (Step("save", state="s"),))
        >>> reason_not_offered(Case("start", Workload(), (save,)), Offer(saves=()))
        'no state can be taken'
    """
    reasons = (
        *(_workload(case.session_workload(i), offer) for i in range(len(case.sessions))),
        _family(case, offer),
        *(_execution(s.execution, offer) for s in case.sessions),
        *(_shared(case.session_workload(i), s.execution) for i, s in enumerate(case.sessions)),
        *(_states(s, offer) for s in case.sessions),
        _codec(case, offer) if offer.saves else None,
        _changes(case, offer),
    )
    return next((reason for reason in reasons if reason is not None), None)


def _workload(w: Workload, offer: Offer) -> str | None:
    if w.kind not in offer.kinds:
        return _why(offer, w.kind, f"{w.kind} workloads are not offered", "kinds")
    missing = [d for d in w.draws if d.removesuffix(" double") not in offer.draws]
    if missing:
        return _why(offer, missing[0], f"samples do not draw from {missing[0]!r} here", "draws")
    if w.tail not in offer.tails:
        return _why(offer, w.tail, f"tail={w.tail!r} is not offered", "tails")
    if w.shuffle not in offer.shuffles:
        return _why(offer, "shuffle", f"shuffle={w.shuffle} is not offered", "shuffles")
    if w.stream == "reshuffled" and "midepoch" not in offer.formats:
        # The format alone says when such a stream draws.
        return _why(offer, "formats", "only implementers of midepoch's own format promise this")
    extra = next((extra for extra in _extras(w) if extra not in offer.extras), None)
    if extra is not None:
        return _why(offer, extra, f"its adapter does not carry {EXTRAS[extra]}", "extras")
    return None


def _extras(w: Workload) -> list[str]:
    """Return the extras that a workload needs of an adapter."""
    its_own = w.form in ("own iterator", "stateful own iterator")
    needed = {
        "streams": w.stream not in ("plain", "sticky", "set"),
        "set streams": w.stream == "set",
        "collating": w.collated,
        "failing collate": w.fails_in == "collate_fn",
        "getitems": w.getitems,
        "sticky streams": w.stream == "sticky",
        "trees": w.tree not in ("", "plain"),
        "iterator state": w.state_at != "dataset" or (its_own and w.kind == "stateful_iterable"),
        "samplers": w.sampler not in ("", "distributed"),
        "set_epoch": w.sets_epoch and w.sampler != "",
        "growing": w.grow != 0,
        "arrays": w.width > 1,
        "payloads": w.payload != "",
        "unbatched": w.batch_size == 0,
        "shared": w.ranks in ("shared", "cut anew"),
        "dealt": w.ranks == "dealt",
        "cut anew": w.ranks == "cut anew",
        "adoption": w.adopts,
        "replay checks": w.checked,
        "failing states": w.unsaved != 0,
        "skipping": w.skips,
        "set up": w.stream == "divided",
        "shuffled streams": w.shuffle and w.kind in ITERABLES,
    }
    return [extra for extra, asked in needed.items() if asked]


def _family(case: Case, offer: Offer) -> str | None:
    family = FAMILIES.get(case.probe)
    needs = () if family is None else family.needs
    if "format" in needs and "midepoch" not in offer.formats:
        return _why(offer, "formats", "it does not implement midepoch's own format")
    if offer.boundary == "infinite":
        return _why(offer, "boundary", ENDLESS)
    if (_untouched(case) or _permuted(case, offer)) and "midepoch" not in offer.formats:
        return _why(offer, "formats", "only implementers of midepoch's own format promise this")
    live = case.probe == "live"
    again = _needs_another_iterator(case) if live else _goes_on_after_a_break(case)
    if offer.boundary == "stream" and again:
        return _why(
            offer, "break", "all epochs are one stream, without a place to break", "boundary"
        )
    if case.probe in (HISTORY, PROGRAM):
        return _program(case, offer) or _history(case, offer)
    if offer.name == "own" and "samples" in needs:
        return "the samples are the loader's own, and the suite does not know them"
    if "fixed plan" in needs and case.workload.kind not in offer.fixed_plan:
        return _why(
            offer, "fixed_plan", "the plan cannot be held fixed while the worker count changes"
        )
    if case.probe == "changed workers" and case.workload.kind in offer.fixed_plan:
        return "the plan can be held fixed: ELASTIC-1 judges a changed worker count"
    return None


def _history(case: Case, offer: Offer) -> str | None:
    steps = [step for plan in case.sessions for step in plan.steps]
    codec = next((s.codec for s in steps if s.codec and s.codec not in offer.codecs), None)
    if codec is not None:
        return _why(offer, codec, f"states are not said to survive {codec}", "codecs")
    if offer.boundary == "stream" and _breaks(case):
        return _why(
            offer, "break", "all epochs are one stream, without a place to break", "boundary"
        )
    if offer.name == "own" and faulty(case):
        return "the samples are the loader's own, and none of them fails"
    if offer.live_load == "next" and _goes_on_after_a_live_load(case):
        return _why(offer, "live_load", "a load applies to the next iterator, as it documents")
    if (strict(case) or case.workload.stream == "begun") and "midepoch" not in offer.formats:
        return _why(offer, "formats", "only implementers of midepoch's own format promise this")
    changed = len({plan.execution.workers for plan in case.sessions}) > 1
    if changed and case.workload.kind not in offer.fixed_plan:
        return _why(
            offer, "fixed_plan", "the plan cannot be held fixed while the worker count changes"
        )
    return None


def _program(case: Case, offer: Offer) -> str | None:
    """Return why a program is not asked of a loader; only the format says all of what follows."""
    if case.probe != PROGRAM or "midepoch" in offer.formats:
        return None
    if LOOK in case.sessions[0].steps:
        return _why(offer, "formats", "only the format says what an untouched iterator means")
    if leaves_at_an_end(case):
        return _why(offer, "formats", "whether an empty epoch follows is the loader's own matter")
    ahead = any(plan.execution.workers for plan in case.sessions)
    if ahead and _breaks(case) and remembers(case.workload):
        return _why(
            offer, "formats", "where a resume finds what workers read ahead is its own matter"
        )
    if case.workload.fail_at is not None:
        return _why(offer, "formats", "whether a failed batch is tried again is its own matter")
    return None


def _goes_on_after_a_live_load(case: Case) -> bool:
    """Return whether a session uses the iterator that was live when a state was loaded."""
    for plan in case.sessions:
        is_open = loaded = False
        for step in plan.steps:
            if loaded and step.do != "break":
                return True
            loaded = step.do == "load" and is_open
            is_open = step.do == "take" or (is_open and step.do not in _CLOSING)
    return False


_CLOSING = ("drain", "break", "open", "close")


def _breaks(case: Case) -> bool:
    return any(step.do == "break" for plan in case.sessions for step in plan.steps)


def _goes_on_after_a_break(case: Case) -> bool:
    """Return whether a session leaves an epoch and asks for the next one, without a load between.

    What is one stream goes on where it was left, and so does the next epoch.
    """
    for plan in case.sessions:
        is_open = left = False
        for step in plan.steps:
            if step.do in ("take", "drain"):
                if left:
                    return True
                is_open = step.do == "take" or step.tolerate
            elif step.do == "break":
                left = is_open
            elif (step.do.startswith("load") and not step.tolerate) or step.do == "open":
                is_open = left = False
    return False


def _untouched(case: Case) -> bool:
    """Return whether a state is taken beside an iterator that nothing was asked of."""
    steps = case.sessions[0].steps
    asked = any(step.do == "take" and step.n == 0 for step in steps)
    return case.probe == "work left and saved" and asked


def _permuted(case: Case, offer: Offer) -> bool:
    """Return whether a sampler draws from the global streams, as the format alone promises.

    Where samples may draw from these streams, an uninterrupted run has such an order as well.
    """
    plain = case.probe in ("work plain", "work whole") and set(AMBIENT_DRAWS) <= set(offer.draws)
    return case.workload.sampler == "permuting" and not plain


def _needs_another_iterator(case: Case) -> bool:
    """Return whether only the next iterator shows a load into a live one."""
    asked = any(s.do == "take" and s.tolerate for plan in case.sessions for s in plan.steps)
    return not asked


def _codec(case: Case, offer: Offer) -> str | None:
    """Return why the dataset's own part of a state does not survive the codecs of a case."""
    w = case.workload
    # The user keeps values without a canonical form out of plain JSON.
    own = [w.tree, *(d for d in w.draws if d in GENERATORS), w.stream]
    carried = [CODECS[name] for name in own if name in CODECS]
    default = (*offer.codecs, "pickle")[0]
    asked = {s.codec or default for p in case.sessions for s in p.steps if s.do in _WRITES}
    for codec in sorted(asked):
        canonical = codec == "json" and "midepoch" in offer.formats and w.tree not in NOT_CANONICAL
        if not canonical and any(codec not in codecs for codecs in carried):
            return f"{codec} has no such values as the dataset puts into its state"
    return None


_WRITES = ("save", "recode")


def _execution(x: Execution, offer: Offer) -> str | None:
    many = "many workers" in offer.extras and x.workers > max(offer.workers, default=0) > 0
    if x.workers not in offer.workers and not many:
        return _why(offer, "workers", f"{x.workers} workers are not offered")
    # A loader with only one start method is played with that method.
    if x.workers and len(offer.start_methods) > 1 and x.start_method not in offer.start_methods:
        return _why(offer, x.start_method, f"start method {x.start_method} is not offered")
    if x.interval != 1 and x.interval not in (offer.intervals or ()):
        return _why(offer, "intervals", f"a snapshot interval of {x.interval} is not offered")
    if x.persistent not in offer.persistent:
        return _why(offer, "persistent", f"persistent={x.persistent} is not offered")
    if x.workers and x.worker_kind not in offer.worker_kinds:
        return _why(offer, x.worker_kind, f"{x.worker_kind} workers are not offered")
    if x.in_order not in offer.orders:
        words = "in order" if x.in_order else "out of order"
        return _why(offer, "orders", f"delivery {words} is not offered")
    if x.restarts and "restarts" not in offer.extras:
        return _why(offer, "restarts", f"its adapter does not carry {EXTRAS['restarts']}", "extras")
    if x.world != 1 and "world" not in offer.extras:
        return _why(offer, "world", f"its adapter does not carry {EXTRAS['world']}", "extras")
    if x.together and "process group" not in offer.extras:
        words = f"its adapter does not carry {EXTRAS['process group']}"
        return _why(offer, "process group", words, "extras")
    return None


def _shared(w: Workload, x: Execution) -> str | None:
    """Return why ranks cannot share the batches, or the lanes, of any loader."""
    if w.ranks == "dealt":
        uneven = w.kind not in LANED or not x.in_order or not x.lanes or x.lanes % x.world
        of_map = w.kind == "stateful_map"
        odd = of_map and (w.sampler or not w.batch_size or w.tail == "rollover")
        return f"{x.world} ranks cannot be dealt such lanes" if uneven or odd else None
    odd = w.kind != "map" or w.sampler or not x.in_order or not w.batch_size
    if w.ranks and (odd or w.batch_size % x.world):
        return f"{x.world} ranks cannot share such batches equally"
    return None


def _states(session: SessionPlan, offer: Offer) -> str | None:
    steps = session.steps
    if any(s.do == "save" or s.do.startswith("load") for s in steps) and not offer.saves:
        return _why(offer, "saves", "no state can be taken")
    asked = {"beside": any(s.do == "beside" for s in steps)}
    asked["asked again"] = any(s.do == "drain" and s.n for s in steps)
    for extra in (name for name, is_asked in asked.items() if is_asked):
        if extra not in offer.extras:
            return _why(offer, extra, f"its adapter does not carry {EXTRAS[extra]}", "extras")
    if any(s.do == "name_epoch" for s in steps) and "named epochs" not in offer.extras:
        why = f"its adapter does not carry {EXTRAS['named epochs']}"
        return _why(offer, "named epochs", why, "extras")
    unordered = not session.execution.in_order and "unordered states" not in offer.extras
    if unordered and any(s.do == "save" or s.do.startswith("load") for s in steps):
        return _why(
            offer,
            "unordered states",
            f"its adapter does not carry {EXTRAS['unordered states']}",
            "extras",
        )
    for where, codec in _saves(session):
        # An end that was not seen may still count as inside the epoch: the loader cannot know.
        missing = [w for w in where.split("+") if w not in offer.saves]
        if missing:
            words = {"start": "before the first batch", "end": "at the end of an epoch"}
            place = words.get(missing[0], "inside an epoch")
            return _why(offer, missing[0], f"no state can be taken {place}", "saves")
        if codec and codec not in offer.codecs:
            return _why(offer, codec, f"states are not said to survive {codec}", "codecs")
    return None


def _saves(session: SessionPlan) -> list[tuple[str, str]]:
    """Return for each saved state its place, ``"end+mid"`` for both, and its codec."""
    where, found = "start", []
    for step in session.steps:
        if step.do == "take" and step.n:
            where = "end+mid" if step.n == -1 else "mid"
        elif step.do == "drain":
            # A tolerated drain stops at a fault.
            where = "mid" if step.tolerate else "end"
        elif step.do == "open":
            where = "start"
        elif step.do == "load":
            # The loaded state is inside an epoch, or its save was not offered.
            where = "mid" if where == "start" else where
        elif step.do == "save":
            found.append((where, step.codec))
    return found


def _changes(case: Case, offer: Offer) -> str | None:
    methods = {s.execution.start_method for s in case.sessions if s.execution.workers}
    if len(methods) > 1 and len(offer.start_methods) == 1:
        return f"{offer.start_methods[0]} is its only start method"
    return None


def _why(offer: Offer, key: str, words: str, group: str = "") -> str:
    return offer.reasons.get(key) or offer.reasons.get(group) or words


def cases_for(info: LoaderInfo, table: Iterable[Case]) -> list[Case]:
    """Return the cases of a table as a loader can play them, each once.

    A ``make_loader`` function has one workload, its own. A case of another kind of data asks the
    same of it, as long as its steps and not its data make the case. Of cases that differ only in
    how many samples there are, it plays the first: it has its own number.
    """
    if not info.function:
        return list({case.id: case for case in table}.values())
    found: dict[str, Case] = {}
    for case in map(on_own_data, table):
        found.setdefault(_of_any_size(case).id, case)
    return list(found.values())


def on_own_data(case: Case) -> Case:
    """Return ``case`` on the function's own data; unchanged if it is about the data.

    Example:
        >>> on_own_data(Case("cut", Workload("iterable", shuffle=True, n=7), ())).workload.kind
        'map'
    """
    # The families of unusual data would repeat the plain ones, and know the samples.
    if case.probe.startswith("work ") or any(plan.workload for plan in case.sessions):
        return case
    plain = Workload()
    data = {name: getattr(plain, name) for name in _DATA}
    return dataclasses.replace(case, workload=dataclasses.replace(case.workload, **data))


def _of_any_size(case: Case) -> Case:
    """Return ``case`` on the usual number of samples, in batches of one if it has batches."""
    size = min(case.workload.batch_size, 1)
    workload = dataclasses.replace(case.workload, n=Workload().n, batch_size=size)
    return dataclasses.replace(case, workload=workload)
