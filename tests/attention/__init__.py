"""Tests of `symattn/attention`."""
