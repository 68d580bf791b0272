"""Hostile input to the checker, by mutation: in the suite for a moment, by hand for an hour."""
