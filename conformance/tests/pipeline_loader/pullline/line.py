"""The line: asks lanes for batches ahead of time and gives them in their order."""
import collections
import copy

from .lane import NEW, Job


class Line:
    """One opening of an epoch at a position.  It is thrown away after anything unusual."""

    def __init__(self, loader, cursor, deck, hosts):
        self.loader, self.cursor, self.deck, self.hosts = loader, cursor, deck, hosts
        self.epoch, self.given, self.turn = cursor.epoch, cursor.given, cursor.turn
        self.lanes = loader.lane_count(len(hosts))
        entries = cursor.lanes or [NEW] * self.lanes
        self.over = [e["over"] for e in entries]
        self.inbox = [collections.deque() for _ in entries]
        self.waiting = [0] * self.lanes
        self.asked = self.given
        self.ahead = loader.prefetch if loader.workers else 1
        self._open(entries)

    def _host(self, lane):
        return self.hosts[lane % len(self.hosts)]

    def _open(self, entries):
        own = self.loader
        job = Job(self.epoch, own.seed, own.style, None if own.batch_size is None else own.batch_size, own.tail,
                  self.lanes, max(1, own.interval // self.lanes) if own.interval else 0, own.collate_fn,
                  own.setup, not own.has_lanes)
        for host in self.hosts:
            host.submit(("job", job))
        for lane, entry in enumerate(entries):
            if self.over[lane]:
                continue
            if own.style == "map":
                first = entry["made"] * self.lanes + lane
                replays = [(i, self.deck[i]) for i in
                           range(first, first + entry["again"] * self.lanes, self.lanes)] if own.has_lanes else []
            else:
                replays = [(0, None)] * entry["again"]
            data = own.dataset
            if own.has_lanes and own.worker_kind != "process" or own.has_lanes and not own.workers:
                data = copy.deepcopy(data)
            self._host(lane).submit(("open", lane, data, entry, replays))
            self.waiting[lane] += 1
        for lane in range(self.lanes):
            if not self.over[lane]:
                self._wait(lane)

    def _wait(self, lane):
        """The next answer for this lane."""
        host = self._host(lane)
        while not self.inbox[lane]:
            number, kind, payload = host.take(self.loader.timeout)
            self.waiting[number] -= 1
            self.inbox[number].append((kind, payload))
        kind, payload = self.inbox[lane].popleft()
        if kind != "ok":
            raise payload
        return payload

    def _ask(self, lane, index, indices):
        self._host(lane).submit(("make", lane, index, indices))
        self.waiting[lane] += 1

    def pull(self):
        """(lane, answer) of the next batch, or None at the end of the epoch."""
        return self._pull_map() if self.deck is not None else self._pull_stream()

    def _pull_map(self):
        if self.given >= len(self.deck):
            return None
        while self.asked < min(len(self.deck), self.given + self.ahead * len(self.hosts)):
            self._ask(self.asked % self.lanes, self.asked, self.deck[self.asked])
            self.asked += 1
        lane = self.given % self.lanes
        answer = self._wait(lane)
        self.given += 1
        self.turn = self.given % self.lanes if self.loader.has_lanes else 0
        return lane, answer

    def _pull_stream(self):
        while not all(self.over):
            lane = self.turn
            if self.over[lane]:
                self.turn = (lane + 1) % self.lanes
                continue
            for i in range(self.lanes if self.loader.workers else 1):
                other = (lane + i) % self.lanes
                have = self.waiting[other] + len(self.inbox[other])
                for _ in range(have, 0 if self.over[other] else self.ahead):
                    self._ask(other, 0, None)
            answer = self._wait(lane)
            self.turn = (lane + 1) % self.lanes
            self.over[lane] = answer.over
            if answer.what != "end":
                self.given += 1
                return lane, answer
        return None

    def drain(self):
        """Take all answers that are still to come, so that the hosts can be used again."""
        for lane in range(self.lanes):
            while self.waiting[lane]:
                number, _, _ = self._host(lane).take(self.loader.timeout)
                self.waiting[number] -= 1
