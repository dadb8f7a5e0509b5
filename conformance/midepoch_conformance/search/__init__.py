"""Search: it draws cases without end, and shrinks failing cases.

- ``strategies``: Hypothesis strategies for cases of every family.
- ``steering``: chooses histories that play every pair of values together, and that reach most.
- ``chain``: draws a history; ``draws``: its workload and its executions; ``vary``: varies one.
- ``shrink``: makes a failing case smaller while it fails in the same way; ``shorter``: a history.

Rule: a case drawn here is a case like any other.
"""
