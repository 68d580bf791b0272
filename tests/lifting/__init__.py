"""Tests of `symattn/lifting`."""
