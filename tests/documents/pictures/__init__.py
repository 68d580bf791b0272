"""Tests of `symattn/documents/pictures`."""
