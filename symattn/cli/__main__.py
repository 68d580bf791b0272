"""``python -m symattn.cli``."""

from symattn.cli import main

if __name__ == "__main__":
    main()
