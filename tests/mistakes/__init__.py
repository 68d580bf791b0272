"""Tests of `symattn/mistakes`."""
