"""Derive, print, evaluate and check attention from Python.

The steps as formulas, their values exact, in proven decimals and as arrays, and NumPy held against
them.
"""

from symattn import Attention

derivation = Attention(mask="causal").derivation(labels={"n": ["the", "cat"], "m": ["the", "cat"]})
print(derivation)

values = derivation.evaluate(Q=[[1, 0], [0, 2]], K=[["1/2", 1], [0, 1]], V=[[10, 0], [0, 10]])
print(values["weights"].exact)
print(values["output"].decimals(3))
print(values["output"].array)

check = values.check()
assert check.agrees
print("NumPy's largest error in the output:", check.steps[-1].error)
