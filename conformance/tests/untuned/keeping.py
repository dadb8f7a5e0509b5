"""The simple loader with workers that live on from epoch to epoch; it has no known fault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ground
from ground import base, simple


class Loader(simple.Loader):
    """Keeps its workers where it is asked to; what they had read ahead is dropped."""

    persistent = False
    kept: simple.Pool | None = None

    def pooled(self, tasks: list[Any]) -> Iterator[simple.Answer]:
        if not self.persistent:
            yield from super().pooled(tasks)
            return
        pool = self.workers_of_before() or self.pool()
        self.kept = None
        usable = False
        try:
            ahead = self.workers * self.prefetch
            for i, task in enumerate(tasks[:ahead]):
                pool.send(i % self.workers, task)
            for i in range(len(tasks)):
                usable = False
                answer = pool.receive(i % self.workers)
                usable = True
                yield answer
                if i + ahead < len(tasks):
                    pool.send((i + ahead) % self.workers, tasks[i + ahead])
            usable = True
        finally:
            if usable:
                self.keep(pool)
            else:
                pool.close()

    def workers_of_before(self) -> simple.Pool | None:
        return self.kept

    def keep(self, pool: simple.Pool) -> None:
        """Keep the workers for the next epoch, without what they had read ahead."""
        try:
            for worker, asked in pool.asked.items():
                while asked:
                    pool.receive(worker)
        except RuntimeError:  # a worker died meanwhile
            pool.close()
            return
        self.kept = pool

    def close(self) -> None:
        self.stop()
        if self.kept is not None:
            self.kept.close()
            self.kept = None

    def __del__(self) -> None:
        self.close()


class Adapter(base.Adapter):
    """Offers map-style datasets with workers that live on."""

    def offer(self) -> dict[str, Any]:
        return {
            **super().offer(),
            "name": "keeping",
            "kinds": ("map",),
            "persistent": (False, True),
            **self.changes,
        }

    def declines(self, w: Any, x: Any) -> str | None:
        if x.persistent and not x.workers:
            return "there are no workers to keep"
        return super().declines(w, x)

    def open(self, w: Any, x: Any, root: str) -> base.Session:
        session = super().open(w, x, root)
        session.loader.persistent = x.persistent
        return session


def mutant(loader: type[Loader], **changes: Any) -> type[base.Adapter]:
    """Return an adapter of a broken loader; its ``sound`` is the adapter of the sound one."""
    return ground.mutant(loader, sound=Loader, adapter=Adapter, **changes)
