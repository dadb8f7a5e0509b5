"""dockload: a resumable data loader that plans each epoch ahead and books every batch in a ledger.

*Plan ahead.*  When an epoch of a map-style dataset begins, its whole order is written into a book: one entry of keys
for each batch.  A sampler is therefore drawn to its end at the epoch's first batch, whatever is delivered later.

*Ledger.*  The loader issues tickets (one for each batch) to hands: the caller's own thread, threads or processes.  What
comes back is booked when it is delivered, and only then.  A state is the ledger as text: nothing that was made ahead
shows in it.

*Lanes.*  Streams, and map-style datasets with a state, are dealt to lanes.  Each lane has a fresh copy (by pickle) of the
loader's dataset in each epoch, and is continued from its last snapshot.  Lanes belong to the plan, hands do not.

*Draws.*  Before each sample the global streams are seeded from the sample's place (not in threads), and `source()`
is the sample's own generator.  An epoch that is broken off counts.  A load makes live iterators raise.
"""
from .errors import (ReplayMismatch, StaleIterator, StateRefused, WorkerDied)
from .loader import Loader
from .ledger import merge
from .seeds import lane_info, source

__all__ = ["Loader", "merge", "lane_info", "source", "ReplayMismatch", "StaleIterator", "StateRefused", "WorkerDied"]
