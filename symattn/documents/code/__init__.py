"""A derivation as a program: recorded once, spelled in a language by a table."""
