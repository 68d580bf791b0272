"""Tests of `symattn/notation`."""
