"""The ledger: what was delivered, and nothing else.  A state is a ledger in text."""
import base64
import hashlib
import json
import pickle

from .errors import StateRefused

FORMAT, VERSION = "dockload.ledger", 1
TOP = {"format", "version", "plan", "epoch", "batches", "samples", "ahead", "carried", "sampler", "digest", "lanes",
       "share", "seal"}
LANE = {"lane", "made", "samples", "ended", "made_at", "snapshot", "errors"}


class Stand:
    """Where a lane stands in its epoch: batches delivered, the snapshot, and what to know for making the rest again."""

    def __init__(self, made=0, samples=0, ended=False, made_at=0, snapshot=None, errors=None):
        self.made, self.samples, self.ended = made, samples, ended
        self.made_at, self.snapshot, self.errors = made_at, snapshot, dict(errors or {})

    def copy(self):
        return Stand(**self.__dict__)

    def book(self, reply):
        """A batch of this lane was delivered."""
        self.made += 1
        self.samples += reply.count
        if reply.fetched is not None:
            self.errors[reply.number] = reply.fetched
        if reply.snapshot is not None:
            self.made_at, self.snapshot, self.errors = self.made, reply.snapshot, {}
        if reply.ended:
            self.end()

    def end(self):
        self.ended, self.made_at, self.snapshot, self.errors = True, 0, None, {}


class Ledger:
    """The position in an epoch, with all that its continuation needs."""

    def __init__(self, epoch=0, lanes=None, carried=None):
        self.epoch, self.batches, self.samples = epoch, 0, 0
        self.ahead = set()  # map-style without lanes: delivered above the first one that is not
        self.stands = {lane: Stand() for lane in lanes} if lanes is not None else None
        self.carried, self.start, self.digest = carried, None, None
        self.book = self.length = None  # what the epoch's plan is, once it is written, and the length of its source
        self.opened = False  # an iterator of this process has delivered a batch of this epoch

    @property
    def low(self):
        """The first batch that was not delivered, without lanes."""
        return self.batches - len(self.ahead)

    def enter(self, number, count):
        self.ahead.add(number)
        self.batches += 1
        self.samples += count
        low = self.batches - len(self.ahead)
        while low in self.ahead:
            self.ahead.remove(low)
            low += 1

    def enter_lane(self, lane, reply):
        self.stands[lane].book(reply)
        self.batches += 1
        self.samples += reply.count


def text(blob):
    return None if blob is None else base64.b64encode(blob).decode()


def blob(text):
    return None if text is None else base64.b64decode(text, validate=True)


def seal(state):
    """A checksum of all the rest of a state."""
    rest = {k: v for k, v in state.items() if k != "seal"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def write(ledger, plan, share, start, digest):
    """The state of a ledger."""
    lanes = None if ledger.stands is None else [
        {"lane": lane, "made": s.made, "samples": s.samples, "ended": s.ended, "made_at": s.made_at,
         "snapshot": text(s.snapshot), "errors": [[o, n] for o, n in sorted(s.errors.items())]}
        for lane, s in sorted(ledger.stands.items())]
    state = {"format": FORMAT, "version": VERSION, "plan": dict(plan), "epoch": ledger.epoch,
             "batches": ledger.batches, "samples": ledger.samples, "ahead": sorted(ledger.ahead),
             "carried": None if ledger.carried is None else text(pickle.dumps(list(ledger.carried))),
             "sampler": text(start), "digest": digest, "lanes": lanes, "share": share}
    state["seal"] = seal(state)
    return state


def count(value):
    return type(value) is int and value >= 0


def check(state):
    """Raises StateRefused unless the value is a whole state, as it was written."""
    if type(state) is not dict or state.get("format") != FORMAT:
        raise StateRefused(f"this is no state of dockload, but {str(type(state).__name__)}: give what state_dict() returned")
    if state.get("version") != VERSION:
        raise StateRefused(f"the state has version {state.get('version')!r}, this loader reads {VERSION}")
    if set(state) != TOP:
        raise StateRefused(f"the state lacks {sorted(TOP - set(state))} and has unknown {sorted(map(str, set(state) - TOP))}")
    try:
        sealed = seal(state)
    except (TypeError, ValueError) as e:
        raise StateRefused(f"the state was changed: {e}") from None
    if sealed != state["seal"]:
        raise StateRefused("the state was changed or damaged since it was taken: its seal does not fit")
    for key in ("epoch", "batches", "samples"):
        if not count(state[key]):
            raise StateRefused(f"{key} is {state[key]!r}, which is no count")
    for lane in state["lanes"] or ():
        if type(lane) is not dict or set(lane) != LANE:
            raise StateRefused("an entry of a lane is not whole")


def read(state):
    """The ledger of a checked state."""
    ledger = Ledger(state["epoch"])
    ledger.batches, ledger.samples, ledger.ahead = state["batches"], state["samples"], set(state["ahead"])
    ledger.carried = None if state["carried"] is None else pickle.loads(blob(state["carried"]))
    ledger.length = state["plan"]["length"] if state["batches"] else None
    ledger.start, ledger.digest = blob(state["sampler"]), state["digest"]
    if state["lanes"] is not None:
        ledger.stands = {s["lane"]: Stand(s["made"], s["samples"], s["ended"], s["made_at"], blob(s["snapshot"]),
                                          {o: n for o, n in s["errors"]}) for s in state["lanes"]}
    return ledger


def merge(states):
    """One state of the states of all ranks to which lanes are dealt, given in any order."""
    states = list(states)
    for state in states:
        check(state)
    if not states:
        raise StateRefused("there is no state to merge")
    if len(states) == 1 and states[0]["share"] is None:
        return json.loads(json.dumps(states[0]))
    shares = [s["share"] for s in states]
    if any(s is None or s["world"] != len(states) for s in shares) or \
            sorted(s["rank"] for s in shares) != list(range(len(states))):
        raise StateRefused(f"these are not the states of all ranks: their shares are {shares}")
    if any(s["plan"] != states[0]["plan"] or s["epoch"] != states[0]["epoch"] for s in states):
        raise StateRefused("the states of the ranks are of several plans or epochs")
    most = max(s["batches"] for s in states)
    for s in states:
        if s["batches"] != most and not all(lane["ended"] for lane in s["lanes"]):
            raise StateRefused("the states of the ranks are of different steps")
    whole = json.loads(json.dumps(states[0]))
    whole["lanes"] = sorted((lane for s in states for lane in s["lanes"]), key=lambda lane: lane["lane"])
    whole["batches"] = most
    whole["samples"] = sum(s["samples"] for s in states)
    whole["share"] = None
    whole["seal"] = seal(whole)
    return whole
