"""Tests of `symattn/worksheet/reports`."""
