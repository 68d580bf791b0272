"""Tests of `symattn/derivatives`."""
