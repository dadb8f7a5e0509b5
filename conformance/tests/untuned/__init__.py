"""Mutants that nobody tuned the suite to, and that the suite was not tuned to find.

Each file is one broken loader, with a bug that somebody who writes or changes a loader would make.
The files were written from the specification, the documentation and the field notes, by somebody
who had read neither the families of cases nor the judges. They measure the suite:
``conformance/tests/detection.py`` plays them through whole profiles and counts those that a profile
calls red. ``before.json`` has the figures that were taken before anything was done about them, and
``after.json`` those since then.

Rules:

- The suite is never tuned to one of these mutants. If one is missed, add what finds its class: a
  dimension that is drawn, a requirement, a judge. If a case is written for one of them, the mutant
  belongs into ``conformance/tests/mutants`` and is counted there.
- A new mutant is written from the specification, before the cases that could find it are read.

A file has these parts:

- its docstring says what is wrong, and how a user notices it;
- ``FAMILY`` is the sort of bug, and ``BREAKS`` the requirements that it may be caught by: any of
  them. Requirements outside ``BREAKS`` count as well, and are reported;
- ``Adapter`` is the broken loader: an edit of the small loader in ``mutants/simple.py``, of the one
  in ``readers.py`` or ``keeping.py`` here, or of the reference loader's own text (``EDITS``, which
  ``edited.py`` applies to a copy of the package);
- ``shows(play)`` demonstrates the bug without the suite's judges. It returns what the loader does
  and what it should do. ``test_untuned.py`` plays it with the broken loader, where the two must
  differ, and with the sound one, where they must be equal.
"""
