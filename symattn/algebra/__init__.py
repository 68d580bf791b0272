"""Reasoning about derivations: what is equal to what, and what is not."""
