"""Tests of `symattn/marking`."""
