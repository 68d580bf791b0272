"""A class: exercises drawn from a seed, with the answers of those who believe something else."""
