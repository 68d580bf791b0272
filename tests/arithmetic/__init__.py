"""Tests of `symattn/arithmetic`."""
