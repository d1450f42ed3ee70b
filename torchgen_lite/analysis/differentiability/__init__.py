"""What derivative formulas mean for an operator: what is differentiable, and what backward needs saved.

`plan.py` says what autograd does for every operator of a file; `info.py` turns the formulas of one
entry into facts, and `match.py` finds them for in-place and copying variants. `nodes.py` plans what backward computes,
for every language. `check.py`, `kinds.py` and `calls.py` report mistakes.
"""
