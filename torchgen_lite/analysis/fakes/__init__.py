"""Fakes: what an operator returns when only shapes are known.

`check.py` checks the rules of `fake:` against the schemas; `results.py` says which results need a rule at all.
"""
