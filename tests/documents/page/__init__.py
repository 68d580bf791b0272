"""Tests of `symattn/documents/page`."""
