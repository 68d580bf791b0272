"""Tests of `symattn/pages`."""
