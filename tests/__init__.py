"""Tests, in the rooms of the source that they test; at the top those of the doors and the house."""

import sys
from pathlib import Path

#: The folder of the project.
ROOT = Path(__file__).parent.parent

#: How many times as long anything may take while its lines are traced, as coverage does.
TRACED = 1 if sys.gettrace() is None else 4
