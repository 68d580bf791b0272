"""Tests of `symattn/reports`."""
