"""Files that a worksheet names: TOML, matrices of numbers, and what may be read."""
