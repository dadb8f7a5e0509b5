"""What a case is about: the facts of its sessions, and of each resume in it (pure).

``resumes.py`` tells what is true where a case resumes, and ``cases.py`` all that is true of a case.
The tables and the drawn histories are chosen by these facts.
"""
