"""Tests of `symattn/files`."""
