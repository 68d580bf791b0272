"""A user's program lifted: what its code computes, as equations, and whether that is an attention.

The function runs once, on arrays that record what is done to them (`recording`). What they have
recorded is held against the numbers that the function itself computes, at other sizes too, before
anything is shown of it (`lift`).
"""
