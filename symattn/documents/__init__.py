"""A derivation and its values as a document."""
