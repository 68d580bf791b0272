"""The version of the package, which reports name."""

from __future__ import annotations

VERSION = "0.1.0"
