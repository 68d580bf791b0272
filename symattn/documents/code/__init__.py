"""A derivation as a program: traced once, spelled in a language by a table."""
