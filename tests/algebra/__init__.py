"""Tests of `symattn/algebra`."""
