"""Desks: they issue the tickets of one epoch to a crew, and say which batch is delivered next."""
from .errors import SamplerFault
from .hand import Reply

END, WAIT = "end", "wait"


class Desk:
    """What both kinds of desk share: one job of a crew, its readiness, and its deaths."""

    def __init__(self, crew, ledger, book, depth, in_order):
        self.crew, self.ledger, self.book = crew, ledger, book
        self.depth, self.in_order = depth, in_order or crew.inline
        self.waiting = set(range(crew.size))  # hands that have not begun the job
        self.load = [0] * crew.size
        self.job_id = 0

    def note(self, w, reply):
        """A reply came; a fault is raised."""
        if reply.job != self.job_id:
            return
        if reply.kind == "fault":
            raise reply.value
        if reply.kind == "ready":
            self.waiting.discard(w)
            return
        self.load[w] -= 1
        self.arrived(reply)

    def alive(self):
        return [w for w in range(self.crew.size) if w not in self.crew.dead]

    def blocked(self):
        """Whether what is waited for can only come from a dead hand."""
        if not self.crew.dead:
            return False
        if self.waiting:
            return not self.waiting - set(self.crew.dead)
        return self.lost()


class FreeDesk(Desk):
    """Map-style without a state: any hand makes any batch."""

    def __init__(self, *args):
        super().__init__(*args)
        self.next, self.owner, self.ready = self.ledger.low, {}, {}
        self.again = []  # tickets of hands that died
        self.window = self.crew.size * self.depth

    def delivered(self, number):
        return number < self.ledger.low or number in self.ledger.ahead

    def issue(self):
        if self.crew.inline and (self.waiting or self.owner or self.ready):
            return
        alive = self.alive()
        while alive:
            w = min(alive, key=self.load.__getitem__)
            if self.load[w] >= self.depth:
                return
            number = self.again[0] if self.again else self.next
            bound = self.ledger.low + (self.window if self.in_order else 4 * self.window)
            if number >= min(len(self.book), bound):
                return
            if self.again:
                self.again.pop(0)
            else:
                self.next += 1
            if self.delivered(number) or isinstance(self.book[number], SamplerFault):
                continue
            self.owner[number] = w
            self.load[w] += 1
            self.crew.send(w, ("ticket", self.job_id, None, number, self.book[number]))
            if self.crew.inline:
                return

    def arrived(self, reply):
        self.owner.pop(reply.number, None)
        self.ready[reply.number] = reply

    def pick(self):
        low = self.ledger.low
        if low >= len(self.book):
            return END
        if self.waiting:
            return WAIT
        entry = self.book[low]
        if isinstance(entry, SamplerFault):
            return Reply("error", self.job_id, None, low, entry.error)
        if low in self.ready:
            return self.ready[low]
        if not self.in_order and self.ready:
            return next(iter(self.ready.values()))
        return WAIT

    def deliver(self, reply):
        self.ready.pop(reply.number, None)
        sizes = self.book.sizes
        self.ledger.enter(reply.number, sizes[reply.number - self.book.offset] if sizes else reply.count)

    def lost(self):
        if not self.in_order:
            return not set(self.owner.values()) - set(self.crew.dead)
        return self.owner.get(self.ledger.low) in self.crew.dead or not self.alive()

    def replaced(self, w):
        self.again = sorted(self.again + [n for n, o in self.owner.items() if o == w])
        self.owner = {n: o for n, o in self.owner.items() if o != w}
        self.load[w] = 0
        self.waiting.add(w)

    def entries(self, w):
        return {}


class LaneDesk(Desk):
    """Streams, and map-style datasets with a state: each lane is made in its order, by one hand."""

    def __init__(self, crew, ledger, book, depth, in_order, kind, lanes):
        super().__init__(crew, ledger, book, depth, in_order)
        self.map, self.lanes = kind == "map", lanes
        self.own = sorted(ledger.stands)
        self.host = {lane: i % crew.size for i, lane in enumerate(self.own)}
        if crew.inline:
            self.deep = 1
        else:
            self.deep = max(1, -(-depth * crew.size // max(1, len(self.own))))
        self.issued = {lane: ledger.stands[lane].made for lane in self.own}
        self.ready = {lane: {} for lane in self.own}
        self.order = []  # lanes of the replies, as they came
        for lane in self.own:
            self.exhausted(lane)

    def ticket(self, lane, ordinal):
        """The entry of a map-style lane's batch, None for a stream or where there is none."""
        i = ordinal * self.lanes + lane
        return self.book[i] if self.map and i < len(self.book) else None

    def exhausted(self, lane):
        """Marks a map-style lane as ended for which the book has no further batch."""
        stand = self.ledger.stands[lane]
        if self.map and not stand.ended and stand.made * self.lanes + lane >= len(self.book):
            stand.end()

    def issue(self):
        if self.crew.inline:
            lane = self.turn()
            if self.waiting or lane is None or any(self.ready.values()):
                return
            if self.issued[lane] == self.ledger.stands[lane].made:
                self.send(lane)
            return
        for _ in range(self.deep):
            for lane in self.own:
                if self.host[lane] not in self.crew.dead and not self.ledger.stands[lane].ended \
                        and self.issued[lane] < self.ledger.stands[lane].made + self.deep:
                    self.send(lane)

    def send(self, lane):
        ordinal = self.issued[lane]
        entry = self.ticket(lane, ordinal)
        if self.map and entry is None:
            return
        self.issued[lane] += 1
        if isinstance(entry, SamplerFault):
            self.ready[lane][ordinal] = Reply("error", self.job_id, lane, ordinal, entry.error)
            self.order.append(lane)
            return
        self.load[self.host[lane]] += 1
        self.crew.send(self.host[lane], ("ticket", self.job_id, lane, ordinal, entry))

    def arrived(self, reply):
        self.ready[reply.lane][reply.number] = reply
        self.order.append(reply.lane)

    def turn(self):
        """The lane that comes next: of those that go on, the one with the fewest batches."""
        going = [(s.made, lane) for lane, s in self.ledger.stands.items() if not s.ended]
        return min(going)[1] if going else None

    def pick(self):
        while True:
            lane = self.turn()
            if lane is None:
                return END
            if self.waiting:
                return WAIT
            reply = self.ready[lane].get(self.ledger.stands[lane].made)
            if reply is None and not self.in_order:
                for other in self.order:
                    reply = self.ready[other].get(self.ledger.stands[other].made)
                    if reply is not None:
                        break
            if reply is None:
                return WAIT
            if reply.kind != "end":
                return reply
            self.ledger.stands[reply.lane].end()
            self.ready[reply.lane].clear()

    def deliver(self, reply):
        del self.ready[reply.lane][reply.number]
        if reply.lane in self.order:
            self.order.remove(reply.lane)
        self.ledger.enter_lane(reply.lane, reply)
        if reply.ended:
            self.ready[reply.lane].clear()
        self.exhausted(reply.lane)

    def lost(self):
        going = [lane for lane in self.own if not self.ledger.stands[lane].ended]
        if not self.in_order:
            return all(self.host[lane] in self.crew.dead for lane in going)
        return self.host[self.turn()] in self.crew.dead

    def replaced(self, w):
        for lane in self.own:
            if self.host[lane] == w:
                self.issued[lane] = self.ledger.stands[lane].made
                self.ready[lane].clear()
        self.load[w] = 0
        self.waiting.add(w)

    def entries(self, w):
        """What a hand has to know of its lanes: where each stands, and what it makes again."""
        found = {}
        for lane in self.own:
            if self.host[lane] == w:
                stand, again = self.ledger.stands[lane].copy(), {}
                if self.map and not stand.ended:
                    begin = stand.made_at if stand.snapshot is not None else 0
                    for ordinal in range(begin, stand.made):
                        entry = self.ticket(lane, ordinal)
                        if not isinstance(entry, SamplerFault):
                            again[ordinal] = entry
                found[lane] = (stand, again)
        return found
