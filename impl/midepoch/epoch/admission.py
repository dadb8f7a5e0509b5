"""Whether a loaded state fits the loader that it is loaded into."""

from __future__ import annotations

from collections.abc import Collection

from midepoch.errors import PlanMismatchError, StateFormatError
from midepoch.format.plan import Plan, compare, rankless
from midepoch.format.state import Document
from midepoch.sampling.chain import SamplerChain

__all__ = ["check_plan", "check_takers"]


def check_plan(document: Document, here: Plan, *, adopted: Collection[str]) -> None:
    """Compare the plans; the fields in ``adopted`` are taken over from the state (DOC-12).

    Raises:
        PlanMismatchError: other fields differ; each is named.
    """
    plans = document.plan, here
    if not document.position.batches:
        # Between two epochs nothing of a rank's share is consumed: any rank can go on there.
        plans = rankless(plans[0]), rankless(plans[1])
    differences = compare(*plans, ignore=adopted)
    if differences:
        raise PlanMismatchError(differences)


def check_takers(document: Document, chain: SamplerChain | None, *, stateful: bool) -> None:
    """Refuse users' states for which there is nobody here.

    ``stateful``: the dataset here has a state.

    Raises:
        StateFormatError: a part is for an object that is not here, or that cannot take it.
    """
    if chain is not None and document.sampler is not None:
        chain.check_generators(document.sampler.generators)
        chain.check_slots(document.sampler)
    lanes = document.lanes
    if lanes is None:
        if stateful and document.position.batches:
            raise StateFormatError(
                "the dataset here has a state, but the state holds none", "$.lanes"
            )
        return
    if stateful:
        return
    nobody = "the dataset here has no state_dict and load_state_dict"
    if document.plan.dataset == "map":
        raise StateFormatError(f"holds lanes, but {nobody}", "$.lanes")
    for i, entry in enumerate(lanes.entries):
        if "dataset" in entry.stated:
            raise StateFormatError(f"holds a state, but {nobody}", f"$.lanes.entries[{i}].dataset")
