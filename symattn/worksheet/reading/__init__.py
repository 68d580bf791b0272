"""Reading what people write: TOML, matrices in files, entries by name, claims and numbers."""
