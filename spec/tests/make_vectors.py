"""Write the published test vectors with the reference implementation.

``python spec/tests/make_vectors.py [KIND...]`` writes all kinds, or those named. What is written
is published: an existing vector may change only with the version of what it pins.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import struct
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

import canonical_values
import invalid_states
import rank_runs
import resume_runs
import resume_users
from vector_files import write

from midepoch.encoding import canonical
from midepoch.encoding.canonical import DIGEST_START, chain_digest
from midepoch.errors import StateEncodingError
from midepoch.format.permutation import Permutation
from midepoch.format.seeds import derive, derive_words

SIZES = (0, 1, 2, 3, 5, 6, 7, 10, 97, 4096, 4097, 10007, 65537, 10**6 + 3)
VAST = (2**32 - 1, 2**32 + 15, 10**12, 2**53 - 1, 2**63 - 1)
KEYS = (0, 1, 0x0123_4567_89AB_CDEF, derive(0, "order", 0), 2**64 - 1)
ROOTS = (0, 1, 7, 2**32, 2**53 + 1, 2**63, 2**64 - 1)
WHOLE = 97
HASHED = 10**6 + 3
EDGE = 6
STRETCHES = 40
"""How many stretches the vector of 2^53 - 1 elements has: a state counts no longer order."""


def text(numbers: Iterable[int]) -> list[str]:
    """Return numbers as decimal strings: JSON readers need not keep integers beyond 2^53."""
    return [str(number) for number in numbers]


def order() -> None:
    """Write the permutations (ORDER-1 to ORDER-4)."""
    for n in SIZES + VAST:
        small = n <= 4096
        write(
            f"order/{n}.json",
            {
                "description": f"the permutation of {n} elements under several keys",
                "requirement": "ORDER-3" if small else "ORDER-4",
                "n": str(n),
                "orders": [_order(n, key) for key in KEYS],
            },
        )
    write(
        "order/mix64.json",
        {
            "description": "the mixing function",
            "requirement": "ORDER-2",
            "values": [
                {"x": str(x), "mix64": str(_mix64(x))}
                for x in (0, 1, 2, 3, 0x9E37_79B9_7F4A_7C15, 2**32 - 1, 2**63, 2**64 - 1)
            ],
        },
    )


def _mix64(x: int) -> int:
    from midepoch.format.permutation import mix64

    return mix64(x)


def _order(n: int, key: int) -> dict[str, Any]:
    permutation = Permutation(n, key)
    if n <= WHOLE:
        return {"key": str(key), "elements": text(permutation.indices(0, n))}
    starts = [0, n // 2 - EDGE // 2, n - EDGE]
    if n == 2**53 - 1:
        starts = [(n - EDGE) * i // (STRETCHES - 1) for i in range(STRETCHES)]
    found: dict[str, Any] = {
        "key": str(key),
        "at": [
            {"position": str(start), "elements": text(permutation.indices(start, start + EDGE))}
            for start in starts
        ],
    }
    if n <= HASHED:
        lines = "".join(f"{element}\n" for element in permutation.iterate())
        found["sha256"] = hashlib.sha256(lines.encode("ascii")).hexdigest()
    return found


def seeds() -> None:
    """Write the derivations (SEED-1 to SEED-4)."""
    places = [
        ("order", (0,)),
        ("order", (1,)),
        ("order", (2**63 - 1,)),
        ("order.round", (7,)),
        ("lane", (0, 0)),
        ("lane", (3, 17)),
        ("worker", (5,)),
        ("worker", (2, 5)),
        ("sampler", (12,)),
        ("batch.map", (0, 0)),
        ("batch.iterable", (1, 2, 3)),
    ]
    _derivations("derive", "SEED-1", "the derivation", places)
    batches = [(0, 0), (0, 1), (1, 0), (12, 345), (0, 2**63 - 1), (2**63 - 1, 0)]
    _derivations(
        "map",
        "SEED-2",
        "batches of map-style datasets: epoch, batch",
        [("batch.map", place) for place in batches],
    )
    streams = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (4, 3, 2), (2**63 - 1, 255, 2**63 - 1)]
    _derivations(
        "iterable",
        "SEED-3",
        "batches of iterables: epoch, lane, ordinal",
        [("batch.iterable", place) for place in streams],
    )
    samples = [(0, 0), (0, 1), (1, 0), (12, 345), (0, 2**63 - 1), (2**63 - 1, 0)]
    _derivations(
        "sample",
        "SEED-8",
        "samples of ranks that share one plan: epoch, place",
        [("sample", place) for place in samples],
    )
    shares = [(0, 0, 2), (0, 2, 2), (1, 0, 1), (12, 345, 6), (2**63 - 1, 0, 2**63 - 1)]
    _derivations(
        "share",
        "SEED-8",
        "what collate_fn draws for a share: epoch, place, samples",
        [("share", place) for place in shares],
    )
    write(
        "seeds/streams.json",
        {
            "description": "the first numbers of the three streams, and of private generators",
            "requirement": "SEED-4",
            "streams": [_draws(root, "batch.map", 0, 0) for root in ROOTS]
            + [_draws(7, "batch.iterable", 2, 1, 5)],
        },
    )


def _derivations(
    name: str, requirement: str, what: str, places: list[tuple[str, tuple[int, ...]]]
) -> None:
    write(
        f"seeds/{name}.json",
        {
            "description": what,
            "requirement": requirement,
            "derivations": [
                _derivation(root, purpose, *numbers)
                for root in ROOTS
                for purpose, numbers in places
            ],
        },
    )


def _derivation(root: int, purpose: str, *numbers: int) -> dict[str, Any]:
    path = "/".join(["midepoch", "1", purpose, str(root), *map(str, numbers)])
    words = struct.unpack(">4Q", hashlib.sha256(path.encode("ascii")).digest())
    if derive(root, purpose, *numbers) != words[0]:
        raise ValueError("derive is not the first word")
    seeds = (words[0] >> 1, words[1], words[2] >> 32, words[3] >> 1)
    if derive_words(root, purpose, *numbers) != seeds:
        raise ValueError("the seeds are not of these words")
    return {
        "root": str(root),
        "purpose": purpose,
        "numbers": text(numbers),
        "words": text(words),
    }


def _draws(root: int, purpose: str, *numbers: int) -> dict[str, Any]:
    w = derive_words(root, purpose, *numbers)
    generator = torch.Generator().manual_seed(w.torch)
    python = random.Random(w.python)
    legacy = np.random.RandomState(w.numpy)
    return {
        **_derivation(root, purpose, *numbers),
        "torch": torch.rand(4, dtype=torch.float64, generator=generator).tolist(),
        "python": [python.random() for _ in range(4)],
        "numpy": legacy.random_sample(4).tolist(),
        "private_torch": torch.rand(
            4, dtype=torch.float64, generator=torch.Generator().manual_seed(w.private)
        ).tolist(),
        "private_numpy": text(np.random.PCG64(w.private).random_raw(4)),
    }


def epochs() -> None:
    """Write the orders of whole epochs (ORDER-6)."""
    for root, length, size, tail in [
        (0, 10, 3, "keep"),
        (0, 10, 3, "drop"),
        (7, 13, 4, "keep"),
        (2**64 - 1, 12, 4, "drop"),
        (1, 1, 4, "keep"),
        (1, 3, 4, "drop"),
        (5, 0, 4, "keep"),
        (12345, 5000, 7, "keep"),
        (2**63, 10**9 + 7, 5, "drop"),
    ]:
        write(
            f"epochs/{root}-{length}-{size}-{tail}.json",
            {
                "description": f"the batches of shuffled epochs of {length} samples by {size}, "
                f"tail {tail}; of long epochs the first three batches",
                "requirement": "ORDER-6",
                "root": str(root),
                "length": str(length),
                "batch_size": size,
                "tail": tail,
                "epochs": [_epoch(root, length, size, tail, e) for e in (0, 1, 2, 1000)],
            },
        )


def _epoch(root: int, length: int, size: int, tail: str, epoch: int) -> dict[str, Any]:
    key = derive(root, "order", epoch)
    count = length // size if tail == "drop" else -(-length // size)
    shown = count if count <= 16 else 3
    permutation = Permutation(length, key)
    return {
        "epoch": epoch,
        "key": str(key),
        "count": str(count),
        "batches": [
            text(permutation.indices(i * size, min((i + 1) * size, length))) for i in range(shown)
        ],
    }


def encodings() -> None:
    """Write the canonical encodings (DOC-5)."""
    for name, (what, values) in canonical_values.VALUES.items():
        write(
            f"canonical/{name}.json",
            {
                "description": what,
                "requirement": "DOC-5",
                "values": [_encoding(value) for value in values],
            },
        )
    limits()
    write(
        "canonical/refused.json",
        {
            "description": "texts that a decoder refuses, one fault each",
            "requirement": "DOC-5",
            "error": "StateFormatError",
            "refused": [
                {
                    "fault": fault,
                    "hex" if isinstance(given, bytes) else "text": given.hex()
                    if isinstance(given, bytes)
                    else given,
                }
                for fault, given in canonical_values.REFUSED.items()
            ],
        },
    )


def limits() -> None:
    """Write the longest integers (DOC-5): described, for they would make long files."""
    cases: list[tuple[str, str, str, int, bool]] = []
    for sign in ("", "-"):
        cases.append((sign, "9", "as many digits as there may be", 100_000, True))
        cases.append((sign, "9", "a digit more", 100_001, False))
    write(
        "canonical/limits.json",
        {
            "description": "the longest integers, by the digits that they repeat",
            "requirement": "DOC-5",
            "error": "StateFormatError",
            "repeated": [
                {
                    "what": what,
                    "before": f'{{"$int":"{sign}',
                    "digit": digit,
                    "times": times,
                    "after": '"}',
                    "decoded": decoded,
                    "sha256": hashlib.sha256(
                        f'{{"$int":"{sign}{digit * times}"}}'.encode("ascii")
                    ).hexdigest(),
                }
                for sign, digit, what, times, decoded in cases
            ],
        },
    )


def _encoding(value: Any) -> dict[str, Any]:
    data = canonical.dumps(value)
    found = {"canonical": data.decode("utf-8"), "sha256": hashlib.sha256(data).hexdigest()}
    literal = canonical_values.literal(value)
    return found if literal is None else {"python": literal, **found}


class Opaque:
    """A value without a canonical encoding."""

    class Within:
        """One whose qualified name has two parts."""


def digests() -> None:
    """Write the digests of what custom samplers gave (state.md, Digest)."""
    chains = {
        "batches of indices": [[4, 2], [0], []],
        "without automatic batching: lone indices, text, a tuple": [3, "a", (1, 2.0), None],
        "a step that raised, between two batches": [[1], _RAISED, [2]],
        "integers of NumPy, which count by their values": [
            [np.int64(4), np.uint8(2)],
            np.int32(-3),
            (np.int64(1), {"a": [np.int16(5)]}),
            [np.float64(4.0), np.bool_(True)],
        ],
        "a value without an encoding, and one that only holds one": [
            Opaque(),
            [0, Opaque()],
            (1, Opaque.Within()),
            Opaque.Within(),
        ],
    }
    write(
        "digests/steps.json",
        {
            "description": "the digest after each step of a custom sampler",
            "requirement": "DOC-11",
            "start": DIGEST_START,
            "chains": [
                {"description": what, "steps": _chain(steps)} for what, steps in chains.items()
            ],
        },
    )


_RAISED = object()


def _chain(steps: list[Any]) -> list[dict[str, Any]]:
    digest = DIGEST_START
    found: list[dict[str, Any]] = []
    for step in steps:
        digest = chain_digest(digest, None if step is _RAISED else step)
        given: dict[str, Any]
        if step is _RAISED:
            given = {"raised": True}
        else:
            try:
                given = {"canonical": canonical.dumps(step).decode("utf-8")}
            except StateEncodingError:
                given = {"opaque": type(step).__qualname__}
        found.append({**given, "digest": digest})
    return found


def invalid() -> None:
    """Write the states that are refused (DOC-9)."""
    for name, vector in invalid_states.vectors().items():
        write(f"invalid/{name}.json", vector)


def resumes() -> None:
    """Write whole resumes (DOC-11)."""
    for name, vector in resume_runs.vectors().items():
        write(f"resumes/{name}.json", vector)


def users() -> None:
    """Write resumes with further users' objects (DOC-11)."""
    for name, vector in resume_users.vectors().items():
        write(f"users/{name}.json", vector)


def mismatches() -> None:
    """Write the states that are refused when their iterator is made (DOC-9)."""
    for name, vector in resume_users.mismatches().items():
        write(f"mismatches/{name}.json", vector)


def ranks() -> None:
    """Write resumes under other numbers of ranks (WORLD-3 to WORLD-10, SEED-8)."""
    for name, vector in rank_runs.vectors().items():
        write(f"ranks/{name}.json", vector)


KINDS: dict[str, Callable[[], None]] = {
    "order": order,
    "seeds": seeds,
    "epochs": epochs,
    "canonical": encodings,
    "digests": digests,
    "invalid": invalid,
    "resumes": resumes,
    "users": users,
    "mismatches": mismatches,
    "ranks": ranks,
}


def main(arguments: list[str] | None = None) -> int:
    """Write the vectors of the kinds named, or of all."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("kind", nargs="*", choices=[[], *KINDS], help="what to write")
    for kind in parser.parse_args(arguments).kind or KINDS:
        KINDS[kind]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
