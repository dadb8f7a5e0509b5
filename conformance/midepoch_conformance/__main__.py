"""``python -m midepoch_conformance`` is the command line."""

import sys

from midepoch_conformance.cli import main

sys.exit(main())
