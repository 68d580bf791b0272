"""Tests of `symattn/evaluate`."""
