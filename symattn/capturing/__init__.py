"""A real model's attention, captured while it runs, so that a step of it can be explained."""

from symattn.capturing.call import Call
from symattn.capturing.watching import capture

__all__ = ["Call", "capture"]
