"""Tests of `symattn/nodes`."""
