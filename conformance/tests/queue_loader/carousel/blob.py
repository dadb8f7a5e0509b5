"""The state: {"carousel": 1, "blob": text}, the text being one packed and checked value.

Layout of the packed bytes: magic, length of the body, body, the SHA-256 of all before, zeros up to a multiple of 64.
The numbers have fixed widths, so that the size of a state does not follow from its position.
"""
import base64
import collections
import hashlib
import pickle
import struct

from .errors import BadState, WrongVersion

VERSION = 1
MAGIC = b"CRSL"
HEAD = struct.Struct("<QQIII")  # epoch, batches, turn, lanes, source length of the rest
LANE = struct.Struct("<QQBBII")  # ordinal, replay, ended, has a snapshot, its length, errors
BLOCK = 64

Point = collections.namedtuple("Point", "epoch batches turn lanes carried sampler length",
                               defaults=(0, None, (), None, None))
LaneMark = collections.namedtuple("LaneMark", "ordinal replay ended errors snap", defaults=(0, 0, False, (), None))


def pack(plan, point):
    rest = pickle.dumps((plan, list(point.carried), point.sampler, point.length), 4)
    lanes = point.lanes
    body = [HEAD.pack(point.epoch, point.batches, point.turn, 0xFFFFFFFF if lanes is None else len(lanes), len(rest)), rest]
    for mark in lanes or ():
        snap = mark.snap
        body.append(LANE.pack(mark.ordinal, mark.replay, mark.ended, snap is not None, len(snap or b""), len(mark.errors)))
        body.append(snap or b"")
        body.append(struct.pack(f"<{len(mark.errors)}Q", *mark.errors))
    body = b"".join(body)
    data = MAGIC + struct.pack("<Q", len(body)) + body
    data += hashlib.sha256(data).digest()
    data += bytes(-len(data) % BLOCK)
    return {"carousel": VERSION, "blob": base64.b64encode(data).decode()}


def peek(state):
    """(epoch, batches) of a state: where a resume goes on."""
    return unpack(state)[1][:2]


def unpack(state):
    """(plan, point) of a state; BadState or WrongVersion if it is none."""
    if type(state) is not dict:
        raise BadState(f"a state of carousel is a dict, and this is {type(state).__name__}: load what state_dict() returned")
    if set(state) != {"carousel", "blob"}:
        raise BadState(f"a state of carousel has the keys 'blob' and 'carousel', and this one has {sorted(map(str, state))}")
    if type(state["carousel"]) is not int or type(state["blob"]) is not str:
        raise BadState("the version of a state is an integer, and its blob is text")
    if state["carousel"] != VERSION:
        raise WrongVersion(f"this is a state of version {state['carousel']}, and carousel reads version {VERSION}")
    try:
        data = base64.b64decode(state["blob"].encode("ascii"), validate=True)
        size = struct.unpack_from("<Q", data, 4)[0]
    except (ValueError, struct.error) as e:
        raise BadState(f"the blob of the state is damaged: {e}") from None
    end = 12 + size
    if data[:4] != MAGIC or len(data) != end + 32 + (-(end + 32) % BLOCK) or any(data[end + 32:]):
        raise BadState("the blob of the state is damaged: a part is missing or was added")
    if hashlib.sha256(data[:end]).digest() != data[end:end + 32]:
        raise BadState("the blob of the state is damaged: its checksum is another one")
    body = data[12:end]
    try:
        epoch, batches, turn, count, length = HEAD.unpack_from(body, 0)
        offset = HEAD.size + length
        plan, carried, sampler, n = pickle.loads(body[HEAD.size:offset])
        lanes = None if count == 0xFFFFFFFF else []
        for _ in range(0 if lanes is None else count):
            ordinal, replay, ended, has, snap, errors = LANE.unpack_from(body, offset)
            offset += LANE.size
            lanes.append(LaneMark(ordinal, replay, bool(ended), struct.unpack_from(f"<{errors}Q", body, offset + snap),
                                  body[offset:offset + snap] if has else None))
            offset += snap + 8 * errors
    except Exception as e:
        raise BadState(f"the blob of the state cannot be read: {type(e).__name__}: {e}") from e
    if lanes is not None:
        lanes = tuple(lanes)
    return plan, Point(epoch, batches, turn, lanes, tuple(carried), sampler, n)
