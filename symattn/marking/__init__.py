"""Marking: a verdict for every claimed entry, and for every link of a worked line."""
