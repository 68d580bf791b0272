"""Tests of `symattn/documents`."""
