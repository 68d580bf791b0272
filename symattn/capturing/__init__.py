"""A real model's attention, captured while it runs, so that a step of it can be explained."""

from symattn.capturing.call import Call, Captured
from symattn.capturing.flow import Missed, PartialCapture
from symattn.capturing.watching import capture

__all__ = ["Call", "Captured", "Missed", "PartialCapture", "capture"]
