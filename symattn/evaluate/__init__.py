"""One formula, many arithmetics: values, worked lines, and the check against NumPy."""
