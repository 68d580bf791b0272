"""Tests of `symattn/worksheet/reading`."""
