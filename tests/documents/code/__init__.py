"""Tests of `symattn/documents/code`."""
