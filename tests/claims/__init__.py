"""Tests of `symattn/claims`."""
