"""The report: a run as one document, and everything made of it.

- ``document``: a report as data and as JSON; ``file``: its file, written case by case.
- ``lines``: converts a check's results to report lines and back.
- ``overview``: counts outcomes and gives the verdict; ``wording``: parts of sentences that front
  ends share.
- ``terminal``: a check on a terminal; ``page``: HTML; ``markdown``: a comment; ``badge``: SVG
  badges.
- ``timeline``: a drawing of a failing case's batches.
- ``diff``: the differences of two reports.

Rule: nothing here plays a case.
"""
