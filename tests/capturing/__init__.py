"""Tests of `symattn/capturing`."""
