"""``python -m symattn.cli``."""

from symattn.cli import main

main()
