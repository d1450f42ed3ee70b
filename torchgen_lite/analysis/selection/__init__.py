"""Which of several kernels an input gets, and whether each input gets one and each kernel some.

Note [What is proven of rows]
Conditions are taken apart into `atoms.py`'s atoms, such as `x.size(-1) % 8 == 0`. One that depends on a single fact of
the input, such as that size, is decided exactly: the facts that make a difference are the bounds, both sides of each,
and one period of the divisors between two. What depends on several facts may be true or false at will. So the
assignments cover more than all inputs, and a row that is never reached under any is never reached. Where an assignment
leaves a row alive or reaches none, an input is made of it, and the conditions are computed for that input: whatever is
reported has an example, or is proven, or is said to be undecided.
"""
