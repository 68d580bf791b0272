"""A function that somebody wrote, verified against the derivation of the attention it should be."""
