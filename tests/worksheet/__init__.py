"""Tests of `symattn/worksheet`."""
