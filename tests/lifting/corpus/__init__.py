"""Functions as strangers write them, right and wrong, each with the attention that it is meant for.

A module for each library has `RIGHT` and `WRONG`: the names of its functions, and what each is held
against, a variant by name or equations.
"""
