"""Search: it draws cases without end, and shrinks failing cases.

- ``strategies``: Hypothesis strategies for cases of every family.
- ``machine``: the stateful machine that draws histories; ``draws``: their workloads and
  executions.
- ``shrink``: makes a failing case smaller while it fails in the same way.

Rule: a case drawn here is a case like any other.
"""
