"""Tests of `symattn/worksheet/misconceptions`."""
