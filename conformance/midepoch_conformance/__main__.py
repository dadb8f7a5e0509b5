"""``python -m midepoch_conformance``, and the command ``midepoch``, are the command line."""

from __future__ import annotations

import signal
import sys

__all__ = ["main"]


def main() -> int:
    """Run the command line and return its exit status."""
    # A signal that ends a job from outside (at a CI's time limit) ends it as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        # Ctrl-C while this is imported is no error either.
        from midepoch_conformance.cli import main as run

        return run()
    except KeyboardInterrupt:
        print("midepoch: stopped; nothing had begun", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
