"""Tests of `symattn/cli`."""
