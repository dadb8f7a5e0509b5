"""Work shared among benches, a thread each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from typing import TypeVar

from midepoch_conformance.run.bench import Bench

__all__ = ["share"]

T = TypeVar("T")


def share(benches: list[Bench], work: Callable[[Bench, int], T], numbers: Iterable[int]) -> list[T]:
    """Run ``work`` for all numbers, each on a bench that is free; results in order.

    The first error, or Ctrl-C, ends it when what is under way has ended.
    """
    idle = SimpleQueue[Bench]()
    for bench in benches:
        idle.put(bench)

    def task(number: int) -> T:
        bench = idle.get()
        try:
            return work(bench, number)
        finally:
            idle.put(bench)

    with ThreadPoolExecutor(len(benches)) as pool:
        futures: list[Future[T]] = [pool.submit(task, number) for number in numbers]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in futures]
