"""Tests, in the rooms of the source that they test; at the top those of the doors and the house."""

from pathlib import Path

#: The folder of the project.
ROOT = Path(__file__).parent.parent
