"""``python -m symattn``: the command line."""

import sys

from symattn.cli import main

if __name__ == "__main__":
    sys.exit(main())
