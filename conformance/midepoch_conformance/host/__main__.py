"""``python -m midepoch_conformance.host``: serve plays in the loader's own interpreter."""

from midepoch_conformance.host.host import main

if __name__ == "__main__":
    main()
