"""Tests of `symattn/classroom`."""
