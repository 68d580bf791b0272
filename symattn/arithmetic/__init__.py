"""The numbers a formula may be evaluated in: exact, proven balls, NumPy floats."""
