"""A position in an epoch, and the delivery from there."""

import numpy as np
from tideway_streams import place_words
from tideway_workers import Crew, Pool, Solo


class Track:
    """A lane's place: its snapshot `at` a batch, and the batches delivered `since`."""

    def __init__(self, snap=None, at=0, since=0, errors=(), done=False):
        self.snap, self.at, self.since, self.errors, self.done = snap, at, since, list(errors), done


class Run:
    """A position in an epoch, and the machinery that delivers from there."""

    def __init__(self, shop, seed, lanes, epoch, delivered=0, carried=(), turn=0, tracks=None):
        self.shop, self.seed, self.lanes, self.epoch = shop, seed, lanes, epoch
        self.delivered, self.carried, self.turn = delivered, list(carried), turn
        self.tracks = tracks or [Track() for _ in range(lanes or 0)]
        self.begun, self.engine, self.order = False, None, None

    def twin(self):
        """The same position, not yet opened."""
        tracks = [Track(t.snap, t.at, t.since, t.errors, t.done) for t in self.tracks]
        return Run(
            self.shop,
            self.seed,
            self.lanes,
            self.epoch,
            self.delivered,
            self.carried,
            self.turn,
            tracks,
        )

    # the order of a map-style dataset

    def sequence(self):
        """Return the indices of the epoch in their order."""
        if self.order is None:
            indices = range(len(self.shop.dataset))
            if self.shop.spec["shuffle"]:
                seed = np.random.SeedSequence(place_words("order", self.seed, self.epoch))
                indices = (
                    np.random.Generator(np.random.Philox(seed)).permutation(len(indices)).tolist()
                )
            self.order = self.carried + list(indices)
        return self.order

    def count(self):
        """Return the number of the epoch's batches."""
        size, total = self.shop.spec["batch"] or 1, len(self.sequence())
        return -(-total // size) if self.shop.spec["tail"] == "keep" else total // size

    def batch(self, number):
        """Return the indices of a batch."""
        size = self.shop.spec["batch"] or 1
        return self.sequence()[number * size : (number + 1) * size]

    def left_over(self):
        """The indices that open the next epoch."""
        if self.shop.spec["tail"] != "rollover":
            return []
        return self.sequence()[self.count() * self.shop.spec["batch"] :]

    # delivering

    def open(self):
        """Make the lanes stand at the position, in this process or in workers."""
        shop, spec = self.shop, self.shop.spec
        stride = self.lanes or max(1, shop.workers)
        self.sent, self.taken = [0] * stride, [0] * stride
        every = max(1, shop.every // stride) if shop.every else 0
        tickets = {}
        for lane in range(stride):
            ticket = {
                "seed": self.seed,
                "epoch": self.epoch,
                "lane": lane,
                "lanes": stride,
                "stride": stride,
            }
            ticket.update(every=every, snap=None, at=0, since=0, errors=(), replay=())
            if self.lanes:
                track = self.tracks[lane]
                if track.done:
                    continue
                ticket.update(
                    snap=track.snap, at=track.at, since=track.since, errors=tuple(track.errors)
                )
                if spec["style"] == "map":
                    again = range(track.at, track.at + track.since)
                    ticket["replay"] = [self.batch(n * stride + lane) for n in again]
                first = track.at + track.since
            else:
                first = (self.delivered - lane + stride - 1) // stride
            self.sent[lane] = self.taken[lane] = first
            tickets[lane] = ticket
        self.stride = stride
        if not shop.workers:
            engine = Solo(shop.dataset, spec, tickets)
        else:
            if shop.pool is None:
                shop.pool = Pool(min(shop.workers, stride), shop.dataset, spec, shop.context)
            engine = Crew(shop.pool, tickets)
        self.fill(engine, tickets)
        engine.ready()
        self.engine = engine

    def fill(self, engine, lanes):
        """Ask lanes for as many batches as are to be made ahead."""
        ahead = self.shop.prefetch if self.shop.workers else 1
        streaming = self.shop.spec["style"] == "stream"
        for lane in lanes:
            while self.sent[lane] - self.taken[lane] < ahead:
                ordinal, indices = self.sent[lane], None
                if not streaming:
                    number = ordinal * self.stride + lane
                    if number >= self.count():
                        break
                    indices = self.batch(number)
                engine.ask(lane, ordinal, indices)
                self.sent[lane] += 1

    def leave(self):
        """Give up what was read ahead; the position stays."""
        self.engine = None
        if self.shop.pool is not None and not (self.shop.persistent and not self.shop.pool.dead):
            self.shop.pool.shut()
            self.shop.pool = None

    def whose(self):
        """The lane whose turn it is, or None at the end."""
        if self.shop.spec["style"] == "map":
            return self.delivered % self.stride if self.delivered < self.count() else None
        for step in range(self.stride):
            lane = (self.turn + step) % self.stride
            if not self.tracks[lane].done:
                return lane
        return None

    def step(self):
        """("batch", payload), ("error", exception), or None at the end of the epoch."""
        try:
            if self.engine is None:
                self.open()
            while (lane := self.whose()) is not None:
                self.fill(
                    self.engine,
                    [i for i in range(self.stride) if not (self.tracks and self.tracks[i].done)],
                )
                answer = self.engine.take(lane)
                self.taken[lane] += 1
                if answer[0] != "end":
                    self.note(lane, answer)
                    return answer
                self.tracks[lane].done = True
                self.turn = (lane + 1) % self.stride
            return None
        except BaseException:
            self.leave()
            raise

    def note(self, lane, answer):
        """Count a batch as delivered."""
        kind, _, snap, flag = answer
        if self.tracks:
            track = self.tracks[lane]
            if snap is not None:
                track.snap, track.at, track.since, track.errors = (
                    snap,
                    track.at + track.since + 1,
                    0,
                    [],
                )
            else:
                if kind == "error" and flag:
                    track.errors.append(track.since)
                track.since += 1
            track.done = kind == "batch" and flag
        if self.shop.spec["style"] == "stream":
            self.turn = (lane + 1) % self.stride
        self.delivered += 1
        self.begun = True
