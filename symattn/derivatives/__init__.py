"""Derivatives of steps, as steps: reverse mode, forward mode, and one after the other."""
