"""Tests of symattn/verifying."""
