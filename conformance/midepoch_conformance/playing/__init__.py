"""Playing: it starts hosts, plays cases, and makes certain that a failure is one.

- ``host_process``: one host and its pipes; ``runner``: plays cases in two hosts.
- ``turns``: cases are played together, or one is alone on the machine.
- ``hangs``: the time limit of plays, and the hangs that are known.
- ``plays``: plays a case, and makes sure of each hang.
- ``bench``: plays and judges one case at a time.

Rule: no clock and no other case decides whether a loader fails.
"""
