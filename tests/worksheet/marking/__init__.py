"""Tests of `symattn/worksheet/marking`."""
